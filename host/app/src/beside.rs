//! Processes of ours beside a chain, which they outlive by a moment. Each ends with its input: a request to stop may
//! reach all processes of a chain at once, and there is still something to do for its end.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde::Serialize;
use tokio::sync::oneshot;

use acp_chain_rpc::json_lines::line;
use acp_chain_system::stop;
use acp_chain_system::worker::Worker;

use crate::home;

/// The command of such a process: this subcommand, with the user's files that our command line names, and our log.
pub fn command(subcommand: &str, log: Option<&Path>) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    match log {
        Some(log) => command.arg("--log-file").arg(log),
        // Our log goes to standard error; the process logs to the user's file.
        None => command.env_remove("ACP_CHAIN_LOG"),
    };
    // The process must not keep our standard streams open.
    command
        .args(home::named())
        .arg(subcommand)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

/// Starts such a process, with this first line.
pub fn start(subcommand: &str, first: &impl Serialize, log: Option<&Path>) -> io::Result<Worker> {
    Worker::start(command(subcommand, log)?, &line(first)?)
}

/// Does the work of such a process. Returns whether that succeeded; errors are in the log.
pub fn work<E: Display>(name: &str, work: impl FnOnce() -> Result<(), E> + Send + 'static) -> bool {
    let runtime = match crate::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("{name} cannot start: {error}");
            return false;
        }
    };
    let (done, is_done) = oneshot::channel();
    runtime.block_on(async {
        tokio::spawn(ignore_stops());
        // They are ignored before there is work.
        tokio::task::yield_now().await;
        // The work blocks, and must not be on a runtime.
        thread::spawn(move || {
            let worked = work().inspect_err(|error| tracing::error!("{error}"));
            // If the receiver is closed, the error is in the log.
            let _ = done.send(worked.is_ok());
        });
        is_done.await.unwrap_or(false)
    })
}

async fn ignore_stops() {
    loop {
        stop::requested().await;
    }
}
