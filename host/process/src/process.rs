//! A child process, from its start to its end.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::stderr::Tail;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::tree::{self, Tree};
use acp_chain_system::{CommandLine, Startable, StartedProgram};

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
    /// The program exists, but cannot be run.
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
    /// The error for a program, from the system's error. `part` is `agent` or `proxy`.
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

    /// The exit code by which shells report this error: 127 or 126.
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
    /// Resolves when standard error is closed.
    silent: Option<oneshot::Receiver<()>>,
}

/// The standard input of a process.
pub type Input = Box<dyn AsyncWrite + Send + Unpin>;

/// The standard output of a process.
pub type Output = Box<dyn AsyncRead + Send + Unpin>;

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub struct ProcessEnd {
    /// The exit code or signal.
    pub status: ExitStatus,
    /// Whether the process ended before the host ended it.
    pub ended_first: bool,
}

impl ProcessEnd {
    /// Whether the process chose its status itself, so that the status tells whether it failed.
    #[must_use]
    pub fn has_own_status(&self) -> bool {
        self.ended_first || (Tree::CAN_BE_ASKED && self.status.code().is_some())
    }
}

impl Process {
    /// The name of its program, without the folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process id. The process leads the group of everything that it starts.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.tree.id()
    }

    /// Starts a process; returns it with its standard input and output. `proxy` is the id of a proxy; `None` for the
    /// agent.
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
        let StartedProgram {
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

    /// The end of its standard error, also after the process has ended.
    #[must_use]
    pub fn stderr(&self) -> Tail {
        self.stderr.clone()
    }

    /// Waits for the end of the process. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.tree.wait().await
    }

    /// Ends the process, whose standard input must be closed already. With patience, the process first gets a grace
    /// period to exit. Then it gets a signal to terminate, and another grace period; on systems without such signals,
    /// closing its input has to do. Finally the whole process tree is killed.
    pub async fn end(&mut self, patience: bool) -> io::Result<ProcessEnd> {
        let at_once = !patience && Tree::CAN_BE_ASKED;
        let grace = if at_once { Duration::ZERO } else { GRACE };
        let early = tokio::time::timeout(grace, self.wait()).await;
        let ended_first = early.is_ok();
        let status = match early {
            Ok(status) => status?,
            Err(_) => {
                self.tree.end();
                self.wait().await?
            }
        };
        Ok(ProcessEnd {
            status,
            ended_first,
        })
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
