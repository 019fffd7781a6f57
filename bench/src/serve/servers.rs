//! The measured servers, as processes.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::subjects::{Tree, acp_chain, command, log, with_ours};

/// The paths of everything needed.
#[derive(Clone, Debug)]
pub struct Places {
    /// The program `acp-chain`.
    pub program: PathBuf,
    /// The components of `cargo xtask guests`.
    pub components: PathBuf,
    /// The tiny agent.
    pub agent: PathBuf,
    /// The server built on the reference crate.
    pub reference: PathBuf,
    /// The HTTP/2 load generator.
    pub h2load: PathBuf,
    /// The folder for files of the run: manifests, caches, logs.
    pub scratch: PathBuf,
}

/// A measured server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// acp-chain without proxies.
    Empty,
    /// acp-chain with `rules` and `redact` in each chain.
    Ours,
    /// A server built on the reference crate.
    Reference,
}

/// How clients reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A request for each message, and two streams of events, over HTTP/1.1: each has a TCP connection.
    Http,
    /// The requests and streams of [`Http`](Self::Http) over HTTP/2, where several clients share a TCP connection.
    Http2,
    /// One connection for everything.
    WebSocket,
}

/// All transports.
pub const TRANSPORTS: [Transport; 3] = [Transport::Http, Transport::Http2, Transport::WebSocket];

/// How many clients share a connection over HTTP/2.
pub const SHARED: usize = 20;

/// The settings of all servers: only the system's resources must limit them.
pub const LIMITS: &str = "[serve.limits]\nconnections = 100000\n";

/// The files that a server reserves: one in this many, and this many more.
const LEFT: usize = 16;
const OWN: usize = 128;

/// A running server. It ends when this is dropped.
pub struct RunningServer {
    process: Child,
    /// Its host and port.
    pub address: String,
    /// The name of its program, which distinguishes its processes from agents.
    name: String,
}

impl Server {
    /// In the order in which they are measured.
    pub const ALL: [Self; 3] = [Self::Empty, Self::Ours, Self::Reference];

    /// How many connections over this transport fit into a process with this many files.
    pub(super) fn fit(self, transport: Transport, files: usize) -> usize {
        let of_agent = match self {
            Self::Empty | Self::Ours => 1,
            // Three pipes, and the descriptor for its end.
            Self::Reference => 4,
        };
        // For all that share a connection.
        let sockets = match transport {
            Transport::Http => 3 * SHARED,
            Transport::Http2 => 1,
            Transport::WebSocket => SHARED,
        };
        let files = (files - files / LEFT).saturating_sub(OWN);
        files * SHARED / (sockets + SHARED * of_agent)
    }

    /// Starts the server, and waits until it listens.
    pub(super) async fn start(self, places: &Places) -> Result<RunningServer> {
        let mut command = match self {
            Self::Empty | Self::Ours => self.acp_chain(places)?,
            Self::Reference => Command::from(command(&places.reference)),
        };
        command.arg(&places.agent);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(log(&places.scratch)?).kill_on_drop(true);
        let mut process = command.spawn().with_context(|| format!("{self}"))?;
        let address = printed_address(&mut process)
            .await
            .with_context(|| format!("{self} does not start"))?;
        let program = Path::new(command.as_std().get_program());
        let name = program.file_name().context("the program has no name")?;
        Ok(RunningServer {
            process,
            address,
            name: name.to_string_lossy().into_owned(),
        })
    }

    fn acp_chain(self, places: &Places) -> Result<Command> {
        let mut command = Command::from(acp_chain(&places.program, &places.scratch));
        let settings = places.scratch.join("config/acp-chain");
        fs::create_dir_all(&settings)?;
        fs::write(settings.join("config.toml"), LIMITS)?;
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        if self == Self::Ours {
            let manifest = places.scratch.join("served.toml");
            let text = with_ours(&["rules", "redact"], &places.components)?;
            fs::write(&manifest, text)?;
            command.arg("--manifest").arg(manifest);
        }
        command.arg("--");
        Ok(command)
    }
}

impl RunningServer {
    /// Its processes, without those of agents.
    pub fn tree(&self) -> Tree {
        let root = self.process.id().unwrap_or_default();
        Tree::of(root).only(&self.name)
    }

    /// Ends the server and its agents.
    pub async fn end(mut self) -> Result<()> {
        let all = Tree::of(self.process.id().unwrap_or_default());
        self.process.kill().await?;
        all.kill();
        Ok(())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "acp-chain, no proxies",
            Self::Ours => "acp-chain, rules and redact",
            Self::Reference => "reference",
        })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::WebSocket => "WebSocket",
        })
    }
}

/// The host and port that a server prints, in its first line.
pub async fn printed_address(process: &mut Child) -> Result<String> {
    let output = process.stdout.take().context("no output")?;
    let line = BufReader::new(output).lines().next_line().await?;
    let address = line
        .as_deref()
        .and_then(|line| line.strip_prefix("listening on http://"))
        .and_then(|line| line.strip_suffix("/acp"))
        .context("no address is printed")?;
    Ok(address.to_owned())
}
