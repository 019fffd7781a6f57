//! Running chains, watched by other programs of the user; and replayed recordings.

mod denied;
mod replayed;
mod watched;

use std::path::Path;

use acp_chain_tests::host;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// `acp-chain run`, with its sockets in this folder.
fn run(sockets: &Path, manifest: &Path, agent: &[&str]) -> Command {
    let mut command = host::run(Some(manifest), agent);
    command.env("XDG_RUNTIME_DIR", sockets);
    command
}

/// Another command, which finds those sockets.
fn looks(sockets: &Path, subcommand: &str) -> Command {
    let mut command = host::acp_chain(subcommand);
    command.env("XDG_RUNTIME_DIR", sockets);
    command
}
