//! Why something does not work, in words for the user.

use std::fmt::{Display, Write};
use std::io;
use std::path::{Path, PathBuf};

use acp_chain_channel::Failure;
use acp_chain_conductor::StartError;
use acp_chain_conductor::native::SpawnError;
use acp_chain_extension::RevokedError;
use acp_chain_manifest::ManifestError;
use acp_chain_package::MetadataError;
use acp_chain_project::{End, ProjectError, TrustError};
use acp_chain_remote::client::RemoteError;
use acp_chain_rpc::code;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::EngineError;
use acp_chain_system::UserFiles;

use crate::shell::trust;

/// Why a part of the program does not work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Revoked(#[from] RevokedError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Records(#[from] TrustError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("{}", with_output(.0))]
    Agent(#[from] acp_chain_agents::Error),
    #[error("--connect: {0}")]
    Remote(String),
    #[error(transparent)]
    Unreachable(#[from] RemoteError),
    #[error(
        "the variable {0} is not set; `acp-chain mcp-shim` is for agents, for which a running `acp-chain run` sets it"
    )]
    NotOfAgent(&'static str),
    #[error("{0} cannot be reached: {1}; its `acp-chain run` may have ended")]
    NoHost(String, io::Error),
    #[error("the host at {0} rejects the connection: {1}")]
    Rejected(String, io::Error),
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// The length of a message, and the limit, in bytes.
    #[error("a message has {0} bytes; at most {1} are allowed")]
    TooLong(u64, usize),
    /// About a proxy, which it names with its manifest.
    #[error("{0}")]
    Proxy(String),
    #[error(transparent)]
    Io(io::Error),
    #[error("{}: {}", Untrusted::new(.0.display()), .1)]
    File(PathBuf, io::Error),
    #[error(
        "the trace file {} cannot be opened: {}; name one in a folder of yours",
        Untrusted::new(.0.display()), .1
    )]
    Trace(PathBuf, io::Error),
    #[error("receipts cannot be written: {0}")]
    Receipts(io::Error),
    #[error("standard input or output cannot be used: {0}")]
    Streams(io::Error),
    #[error("the current folder cannot be used: {0}")]
    Here(io::Error),
    #[error("no thread can be started: {0}")]
    Thread(io::Error),
    #[error("the runtime does not start: {0}")]
    Runtime(io::Error),
    /// A command for other processes of ours was started by somebody else.
    #[error("`{0}` is for acp-chain itself to start{1}")]
    Misused(&'static str, &'static str),
    #[error(
        "--data {0}: there is no such folder, so nothing runs; `acp-chain setup` writes where it is now"
    )]
    NoData(String),
    /// Other users could change a file.
    #[error("{what} is not safe at {path}: {why}, or {step}")]
    Exposed {
        what: &'static str,
        path: String,
        why: String,
        step: String,
    },
    /// Our user may not write files of the user.
    #[error("{what} cannot be written to {path}: {why}; {next}. Nothing was changed")]
    Unwritable {
        what: &'static str,
        path: String,
        why: String,
        next: String,
    },
    #[error("this program cannot be read: {0}")]
    Program(io::Error),
    #[error(
        "there is no home folder to keep extensions in; {}, and {}",
        UserFiles::Data.step(UserFiles::YOURS), UserFiles::Settings.step(UserFiles::YOURS)
    )]
    NoExtensions,
    #[error("{0}: there is no such file")]
    NoManifest(String),
    #[error(
        "{0}: it is a link, perhaps to the lock of another manifest; nothing was changed. Put a file in its place"
    )]
    LinkedLock(String),
    #[error("there is no folder for agents; {}", UserFiles::Data.step(UserFiles::YOURS))]
    NoAgents,
    #[error(
        "there is no home folder to remember trusted projects in; {}",
        UserFiles::Data.step(UserFiles::YOURS)
    )]
    NoTrust,
    #[error(
        "there is no home folder for what proxies store; {}",
        UserFiles::Data.step(UserFiles::YOURS)
    )]
    NoState,
    #[error("the process that has the stored values cannot be started: {0}")]
    NoValues(io::Error),
    #[error("the process that has the store of the replicas cannot be started: {0}")]
    NoStore(io::Error),
    #[error("there is no project at {}: {}", Untrusted::new(.0.display()), .1)]
    NoProject(PathBuf, End),
    #[error("you have not agreed to it; {} asks you", trust(.0))]
    NotAgreed(PathBuf),
    #[error(
        "its files are no longer those that you agreed to, so its proxies cannot start: {} shows what is different, \
         and sessions that begin after your yes have the new ones",
        trust(.0)
    )]
    OtherFiles(PathBuf),
    #[error(
        "its proxies ask for more than you agreed to, though its files are the same; {} shows what it is",
        trust(.0)
    )]
    MorePowers(PathBuf),
    #[error(
        "{names} locked, and not installed here; `acp-chain install --manifest {manifest}` fetches what is locked, \
         and runs nothing"
    )]
    NotInstalled { names: String, manifest: String },
    #[error("{}", Untrusted::new(.0))]
    Metadata(MetadataError),
    #[error(
        "{0}: several proxies have the component of the project for their `path`, which is {1}; leave one"
    )]
    SeveralProxies(String, String),
    #[error(
        "{0}: no proxy has the component of the project for its `path`, which is {1}; write it there in the entry of \
         the proxy"
    )]
    NoProxy(String, String),
    #[error("nothing can be watched: {0}")]
    Watcher(notify::Error),
    #[error("no build can be started: {0}")]
    Builds(io::Error),
    #[error("no build can be started")]
    NoBuilds,
    #[error("the chain has ended")]
    ChainEnded,
    #[error("the new one does not start: {0}")]
    NotStarted(Failure),
}

impl Error {
    pub(crate) fn of_file(path: &Path, error: io::Error) -> Self {
        Self::File(path.to_owned(), error)
    }
}

/// An error about an agent, with a program's output line by line.
fn with_output(error: &acp_chain_agents::Error) -> String {
    let mut text = Untrusted::new(error).to_string();
    for line in error.output().lines() {
        let _ = write!(text, "\n  | {}", Untrusted::new(line.trim_end()));
    }
    text
}

/// Why a chain does not run: the error for the client, and the exit code of the process.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct ChainError {
    pub error: StartError,
    pub exit_code: u8,
}

impl ChainError {
    /// Something that the chain needs does not work.
    pub fn new(error: impl Display) -> Self {
        Self::with(1, code::INTERNAL_ERROR, &error)
    }

    /// The command line is wrong.
    pub fn misuse(error: impl Display) -> Self {
        Self::with(2, code::INTERNAL_ERROR, &error)
    }

    /// The chain has another role than the client wants.
    pub fn unfit(error: impl Display) -> Self {
        Self::with(2, code::INVALID_REQUEST, &error)
    }

    /// A program of the chain does not start.
    pub fn program(error: &SpawnError) -> Self {
        Self::with(error.exit_code(), code::INTERNAL_ERROR, error)
    }

    fn with(exit_code: u8, code: i64, error: &dyn Display) -> Self {
        let message = error.to_string();
        Self {
            error: StartError { message, code },
            exit_code,
        }
    }
}

impl<E: Into<Error>> From<E> for ChainError {
    fn from(error: E) -> Self {
        let error: Error = error.into();
        Self::new(error)
    }
}
