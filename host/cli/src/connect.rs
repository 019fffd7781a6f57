//! `acp-chain connect`: stands in for a remote agent. It copies messages between its standard streams and the remote
//! agent, byte for byte.
//!
//! It is a separate process, since a running chain may connect to nothing. Where the system supports it, one process
//! serves all chains of a server, which passes it the streams of each.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::Result;
use crate::path::path;
use acp_chain_remote::client::{self, Target, Token};
use tokio::runtime::Builder;

use crate::run::block_on;
use acp_chain_channel::limits::LINE;
use acp_chain_manifest::Remote;
use acp_chain_rpc::transport::{Frame, Outbox, Transport};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_rpc::{Error, Id, Message, code, one_line};
use acp_chain_system::{CONNECT_TOKEN as TOKEN, files, handover};

/// The maximum length of the first line of a token file, in bytes.
const TOKEN_LEN: u64 = 64 << 10;

#[derive(Debug, clap::Args)]
pub struct Connect {
    /// Where the agent is: http, https, ws or wss
    #[arg(id = "connect", value_name = "URL")]
    url: String,
    #[command(flatten)]
    way: RemoteArgs,
    /// Serve all streams that are passed over the socket at standard input
    #[arg(long)]
    shared: bool,
}

/// How a remote agent is reached, besides its URL.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RemoteArgs {
    /// Also trust the certificates in this file (PEM) for the agent of `--connect`
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "connect")]
    connect_ca: Option<PathBuf>,
    /// The file with the token for the agent of `--connect`, in its first line; no other user may read the file. By
    /// default, the token is in `ACP_CHAIN_CONNECT_TOKEN`, if set
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "connect")]
    connect_token_file: Option<PathBuf>,
}

impl RemoteArgs {
    /// The agent at this URL.
    pub fn to(&self, url: &str) -> Remote {
        Remote {
            url: url.to_owned(),
            ca: self.connect_ca.clone(),
            token_file: self.connect_token_file.clone(),
        }
    }

    fn token(&self) -> Result<Option<Token>> {
        let (from, token) = match &self.connect_token_file {
            Some(file) => {
                let shown = Untrusted::new(file.display()).to_string();
                let token = read_token(file);
                let unusable = |error| format!("the token in {shown} cannot be used: {error}");
                (shown.clone(), token.map_err(unusable)?)
            }
            None => match std::env::var(TOKEN) {
                Ok(token) if !token.is_empty() => (TOKEN.to_owned(), token),
                Ok(_) | Err(std::env::VarError::NotPresent) => return Ok(None),
                Err(error) => return Err(wrong!("{TOKEN}: {error}")),
            },
        };
        let token = token.trim().parse();
        token.map(Some).map_err(|error| wrong!("{from}: {error}"))
    }
}

fn wrong(error: impl std::fmt::Display) -> String {
    format!("--connect: {error}")
}

/// The first line of a file that only the user may read.
fn read_token(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    files::check_secret(&file, path).map_err(|error| io::Error::other(error.to_string()))?;
    let mut text = String::new();
    file.take(TOKEN_LEN).read_to_string(&mut text)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

impl Connect {
    pub fn main(self) -> Result<()> {
        if self.shared {
            self.serve_all()
        } else {
            block_on(self.serve())
        }
    }

    fn target(self) -> Result<Target> {
        Ok(Target {
            address: self.url.parse().map_err(wrong)?,
            token: self.way.token()?,
            ca: self.way.connect_ca,
        })
    }

    /// Serves all streams passed to it, until the sender closes the socket.
    fn serve_all(self) -> Result<()> {
        let target = Arc::new(self.target()?);
        let runtime = Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| wrong!("the runtime does not start: {error}"))?;
        let within = runtime.enter();
        let end = loop {
            let (input, output) = match handover::take() {
                Ok(Some(streams)) => streams,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error.into()),
            };
            let target = target.clone();
            runtime.spawn(async move {
                let client = Transport::lines(input, output, LINE);
                if let Err(error) = join(client, &target).await {
                    tracing::error!("{error}");
                }
            });
        };
        drop(within);
        // Looking up an address would delay the end.
        runtime.shutdown_background();
        end
    }

    async fn serve(self) -> Result<()> {
        let target = self.target()?;
        let (input, output) = acp_chain_app::streams()?;
        let client = Transport::lines(input, output, LINE);
        join(client, &target).await
    }
}

/// Connects to the agent, and copies messages both ways until either end disconnects. Fails if the agent caused that; if
/// the agent has sent nothing, the client's first request is answered with the error.
async fn join(client: Transport, target: &Target) -> Result<()> {
    let agent = client::connect(target, LINE)?;
    let (mut from_client, mut to_agent) = (client.incoming, agent.outgoing);
    let (mut from_agent, mut to_client) = (agent.incoming, client.outgoing);
    let first = OnceLock::new();
    let mut has_received = false;
    let sent = async {
        let mut outbox = Outbox::default();
        while let Ok(true) = from_client.read().await {
            while let Some(frame) = from_client.next_frame() {
                first.get_or_init(|| id(&frame));
                push(frame, &mut outbox)?;
                to_agent.write_all(&mut outbox).await?;
            }
        }
        // The other direction ends, too.
        to_agent.close();
        std::future::pending().await
    };
    let received = async {
        let mut outbox = Outbox::default();
        while from_agent.read().await? {
            while let Some(frame) = from_agent.next_frame() {
                has_received = true;
                push(frame, &mut outbox)?;
                // A client that disconnects closes our input, too.
                let _ = to_client.write_all(&mut outbox).await;
            }
        }
        Ok(())
    };
    let done = tokio::select! {
        failed = sent => failed,
        ended = received => ended,
    };
    if let (Err(error), false, Some(Some(id))) = (&done, has_received, first.get()) {
        let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: {error}"));
        let mut outbox = Outbox::default();
        Message::error(&error).write(Some(id.as_str()), &mut outbox);
        let _ = to_client.write_all(&mut outbox).await;
    }
    done
}

/// The id of a request.
fn id(frame: &Frame) -> Option<Id> {
    match frame {
        Frame::Line(line) => Message::parse(line.clone()).ok()?.id(),
        Frame::Message(message) => message.id(),
        Frame::TooLong { .. } | Frame::Torn(_) => None,
    }
}

/// Appends a message to others.
fn push(frame: Frame, outbox: &mut Outbox) -> Result<()> {
    match frame {
        Frame::Line(line) => {
            outbox.push(&one_line(line));
            outbox.push_str("\n");
        }
        Frame::Message(message) => message.write(None, outbox),
        // The peer disconnected in the middle of a message.
        Frame::Torn(_) => {}
        Frame::TooLong { len, limit, .. } => {
            return Err(wrong!(
                "a message has {len} bytes; at most {limit} are allowed"
            ));
        }
    }
    Ok(())
}
