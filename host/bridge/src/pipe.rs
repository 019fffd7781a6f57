//! Clients over stdio (MCP messages as lines), each on a connection from `acp-chain mcp-shim`.
//!
//! The client's first line is the secret of the server. After the answer, `welcome`, both sides send only MCP until
//! either closes the connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Notify;

use super::connections::FULL;
use super::inbound::Inbound;
use super::link::{LinkKind, Rejection};
use super::outbound::{OutboundEnd, OutboundMessage};
use super::registry::{Attachment, Registry};
use super::stream::Role;
use acp_chain_channel::limits;
use acp_chain_http::Visitor;
use acp_chain_mcp::LinkId;
use acp_chain_mcp::param_headers::ParamHeaders;
use acp_chain_rpc::Message;
use acp_chain_rpc::transport::{LineReader, Outbox};

/// The variable that names the socket.
pub const SOCKET: &str = "ACP_CHAIN_MCP_SOCKET";

/// The variable that holds the secret.
pub const SECRET: &str = "ACP_CHAIN_MCP_SECRET";

/// The line that accepts a client. Any other line says why the client is rejected.
const WELCOME: &str = "welcome";

/// The maximum length of the first line of either side, in bytes.
const HELLO: usize = 256;

/// How long either side waits for the first line.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many bytes are written at once.
const BURST: usize = 64 * 1024;

/// The client's side: sends the secret, and waits to be accepted.
pub async fn enter<S>(stream: &mut S, secret: &str) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(format!("{secret}\n").as_bytes()).await?;
    let mut answer = Vec::new();
    let answered = async {
        // Do not read past the line.
        while answer.last() != Some(&b'\n') && answer.len() < HELLO {
            answer.push(stream.read_u8().await?);
        }
        io::Result::Ok(())
    };
    let refused = |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned());
    match tokio::time::timeout(PATIENCE * 2, answered).await {
        Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        Ok(Err(_)) => return Err(refused("it closed the connection")),
        Ok(Ok(())) => {}
    }
    match String::from_utf8_lossy(&answer).trim_end() {
        WELCOME => Ok(()),
        why => Err(refused(why)),
    }
}

/// The bridge's side of one connection. Returns when the client's link is closed.
pub(super) async fn serve<S>(registry: Arc<Registry>, stream: S, visitor: Arc<Visitor>)
where
    S: AsyncRead + AsyncWrite + Send,
{
    let (input, mut output) = tokio::io::split(stream);
    let mut input = BufReader::new(input);
    let admission = async {
        // Another host, which cleans up, connects only to check whether this one still runs.
        if input.fill_buf().await.is_ok_and(<[u8]>::is_empty) {
            Err(None)
        } else {
            admit(&registry, &mut input).await.map_err(Some)
        }
    };
    let (link, mut place, cut) = match tokio::time::timeout(PATIENCE, admission).await {
        Ok(Ok(admitted)) => admitted,
        Ok(Err(None)) => return,
        Ok(Err(Some(why))) => {
            registry.rejected(why);
            // The client may have disconnected, or not read.
            let line = format!("{why}\n");
            let written = output.write_all(line.as_bytes());
            let _ = tokio::time::timeout(PATIENCE, written).await;
            return;
        }
        Err(_) => return registry.rejected("it sent no secret in time"),
    };
    visitor.pass();
    tracing::debug!(link, "an MCP client is connected");
    tokio::select! {
        () = listen(&registry, link, input) => {}
        result = speak(&mut place.outbound, output) => if let Err(error) = result {
            tracing::debug!(link, "an MCP client disconnected: {error}");
        },
        () = cut.notified() => {}
    }
}

/// Reads the secret, and opens a link. Returns the attachment to it, and the handle that closes the connection.
async fn admit(
    registry: &Arc<Registry>,
    input: &mut (impl AsyncBufReadExt + Unpin),
) -> Result<(LinkId, Attachment, Arc<Notify>), &'static str> {
    let mut hello = Vec::new();
    let read = input.take(HELLO as u64).read_until(b'\n', &mut hello).await;
    if read.is_err() || hello.pop_if(|last| *last == b'\n').is_none() {
        return Err("its first line, the secret, is incomplete or too long");
    }
    let secret = std::str::from_utf8(&hello).unwrap_or_default();
    let server = registry
        .opened_by(secret)
        .ok_or("its secret opens no MCP server; the server may be closed")?;
    let rejected = |why| match why {
        Rejection::Full => "there are too many MCP clients",
        _ => "the MCP server is closed",
    };
    let link = registry.admit(server, LinkKind::Pipe).map_err(rejected)?;
    let cut = Arc::new(Notify::new());
    let place = registry.open(link, Role::Listening, &cut);
    let place = place.map_err(rejected)?;
    Ok((link, place, cut))
}

/// Receives the client's messages.
async fn listen(registry: &Registry, link: LinkId, input: impl AsyncRead + Unpin) {
    let mut lines = LineReader::new(input, limits::MCP_MESSAGE);
    let mut load = registry.load();
    // When no more can be read, the rest is an incomplete line.
    while matches!(lines.fill().await, Ok(true)) {
        if !load.holds(lines.room()) {
            return registry.rejected(FULL);
        }
        while let Some(frame) = lines.next_frame() {
            let Some(text) = frame.into_line() else {
                // The lost message may be an answer, for which the server would wait forever.
                return registry.rejected("it sent a line that is too long or incomplete");
            };
            let inbound = match Inbound::read(text) {
                Ok(Inbound::Batch(_)) if !registry.takes_batches(link) => {
                    Err(Inbound::no_batches())
                }
                inbound => inbound,
            };
            match inbound {
                Ok(inbound) => {
                    for message in inbound.into_messages() {
                        let received = registry.receive(link, message, ParamHeaders::default());
                        if !received.await {
                            // Earlier messages to the client are still being sent.
                            return std::future::pending().await;
                        }
                    }
                }
                Err(error) => {
                    let message = Message::error(&error);
                    registry.send(link, OutboundMessage { message, id: None });
                }
            }
        }
        load.holds(lines.room());
    }
}

/// Sends `welcome`, then the messages to the client.
async fn speak(outbound: &mut OutboundEnd, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut out = Outbox::default();
    out.push_str(WELCOME);
    out.push_str("\n");
    // Kept until they are written, with their charges.
    let mut messages = Vec::new();
    loop {
        output.write_all_buf(&mut out).await?;
        output.flush().await?;
        messages.clear();
        let Some(outgoing) = outbound.next().await else {
            return output.shutdown().await;
        };
        outgoing.write(&mut out);
        messages.push(outgoing);
        while out.len() < BURST
            && let Some(outgoing) = outbound.try_next()
        {
            outgoing.write(&mut out);
            messages.push(outgoing);
        }
    }
}
