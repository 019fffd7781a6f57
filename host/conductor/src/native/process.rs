//! A child process that speaks ACP on its standard input and output.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::stderr::Tail;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::supervisor::Started;
use acp_chain_system::tree::{self, Tree};
use acp_chain_system::{CommandLine, Startable};

/// How long a process has to react to the end of its input.
const GRACE: Duration = Duration::from_secs(1);

/// How long to wait for the last standard error of a process that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error(
        "the {part} command `{}` was not found; give a full path, or add its folder to PATH",
        Untrusted::new(command)
    )]
    NotFound {
        /// `agent` or `proxy`.
        part: &'static str,
        /// The program.
        command: String,
    },
    /// It exists, but cannot be run.
    #[error(
        "the {part} command `{}` cannot be run: {error}",
        Untrusted::new(command)
    )]
    NotRunnable {
        /// `agent` or `proxy`.
        part: &'static str,
        /// The program.
        command: String,
        /// The system's error.
        error: io::Error,
    },
}

impl SpawnError {
    /// From the system's error about a program, which is the agent or a proxy.
    #[must_use]
    pub fn new(part: &'static str, program: &CommandLine, error: io::Error) -> Self {
        let command = program.program.to_string_lossy().into_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { part, command },
            _ => Self::NotRunnable {
                part,
                command,
                error,
            },
        }
    }

    /// The exit code that shells give for it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 127,
            Self::NotRunnable { .. } => 126,
        }
    }
}

/// A running process, and everything that it started.
#[derive(Debug)]
pub struct Process {
    name: String,
    tree: Tree,
    stderr: Tail,
    /// Resolves when it prints no more.
    silent: Option<oneshot::Receiver<()>>,
}

/// The standard input of a process.
pub type Input = Box<dyn AsyncWrite + Send + Unpin>;

/// Its output.
pub type Output = Box<dyn AsyncRead + Send + Unpin>;

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its exit code or signal.
    pub status: ExitStatus,
    /// Whether it ended before we ended it.
    pub by_itself: bool,
}

impl Ended {
    /// Whether it set its status itself. If we ended it, it did not fail.
    #[must_use]
    pub fn meant_it(&self) -> bool {
        self.by_itself || (Tree::CAN_BE_ASKED && self.status.code().is_some())
    }
}

impl Process {
    /// The name of its program, without the folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id. It leads the group of everything that it starts.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// Starts a process; returns it with its standard input and output. A proxy is named by its id, the agent has no
    /// name.
    pub fn start(
        program: &Startable,
        proxy: Option<&str>,
    ) -> Result<(Self, Input, Output), SpawnError> {
        let part = proxy.map_or("agent", |_| "proxy");
        let who = proxy.map_or("the agent".to_owned(), |id| format!("the proxy `{id}`:"));
        let command = program.command();
        let tail = Tail::default();
        let (over, silent) = oneshot::channel::<()>();
        let printed = {
            let (tail, name) = (tail.clone(), proxy.unwrap_or(part).to_owned());
            Box::new(move |bytes: &[u8]| {
                // Dropped with this closure.
                let _ = &over;
                tail.take(&name, bytes);
            })
        };
        let started = program.start(printed);
        let started = started.map_err(|error| SpawnError::new(part, command, error))?;
        let Started {
            tree,
            stdin,
            stdout,
        } = started;
        let name = Path::new(&command.program).file_name();
        let name = name.unwrap_or(&command.program).to_string_lossy();
        let name = name.into_owned();
        let command = command.program.display();
        tracing::info!("{who} `{command}` runs as process {}", tree.id());
        let process = Self {
            name,
            tree,
            silent: Some(silent),
            stderr: tail,
        };
        Ok((process, stdin, stdout))
    }

    /// Waits for the end of the process. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.tree.wait().await
    }

    /// Ends the process, whose standard input is closed. With patience, it first gets a while to exit by itself. Then
    /// it is asked to, and gets another while; where the system cannot ask, the end of its input has to do. Finally
    /// everything that it started is killed.
    pub async fn end(&mut self, patience: bool) -> io::Result<Ended> {
        let at_once = !patience && Tree::CAN_BE_ASKED;
        let grace = if at_once { Duration::ZERO } else { GRACE };
        let early = tokio::time::timeout(grace, self.wait()).await;
        let by_itself = early.is_ok();
        let status = match early {
            Ok(status) => status?,
            Err(_) => {
                self.tree.end();
                self.wait().await?
            }
        };
        Ok(Ended { status, by_itself })
    }

    /// The last output of the process on its standard error, once it has ended.
    pub async fn last_words(&mut self) -> String {
        if let Some(silent) = self.silent.take() {
            let _ = tokio::time::timeout(LAST_WORDS, silent).await;
        }
        self.stderr.text()
    }
}

/// An exit status in words.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), tree::signal(status)) {
        (Some(code), _) => format!("exited with code {code}"),
        (_, Some(signal)) => format!("was ended by signal {signal}"),
        _ => "ended".to_owned(),
    }
}

/// An exit status as the code that shells give for it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| tree::signal(status).map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
