//! `acp-chain inspect`: a page that shows what a chain does, from a trace or while it runs.
//!
//! | file | what it is |
//! |---|---|
//! | `recorded` | the lines of a file |
//! | `formats` | export formats |

mod formats;
mod recorded;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::{Error, Result};
use acp_chain_inspect::{Log, Server, follow_chains};

use super::run::on_a_runtime;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::stop;

/// The exit code if there is nothing to show.
const UNREADABLE: u8 = 2;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain inspect trace.jsonl
  acp-chain inspect --open
  acp-chain inspect trace.jsonl --port 8080

Exit codes:
  0  you pressed Ctrl-C
  1  the page cannot be served, as when the port is in use
  2  the command line is wrong, or the trace cannot be read")]
pub struct Inspect {
    /// The trace that `acp-chain run --trace FILE` writes; without one, the chains that run now, and those that begin
    /// later
    #[arg(value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Serve the page on this port of 127.0.0.1; without it, the system chooses one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Open the page in your browser
    #[arg(long)]
    open: bool,
}

impl Inspect {
    pub fn main(self) -> ExitCode {
        let log = match &self.trace {
            Some(_) => Log::of_files(),
            None => Log::of_chains(),
        };
        let log = Arc::new(log);
        let begun = match &self.trace {
            Some(trace) => recorded::begin(&log, trace),
            None => follow_chains(&log, warn).map_err(unfound),
        };
        if let Err(error) = begun {
            tell!("acp-chain inspect: {error}");
            return ExitCode::from(UNREADABLE);
        }
        match Server::open(self.port.unwrap_or_default()) {
            Ok(server) => on_a_runtime(self.serve(server, log)),
            Err(error) => {
                tell!("acp-chain inspect: {error}");
                ExitCode::FAILURE
            }
        }
    }

    async fn serve(self, server: Server, log: Arc<Log>) -> Result<u8> {
        let address = server.address();
        say!("{address}");
        tell!(
            "acp-chain inspect: anyone with this address can read what the page shows, secrets included; Ctrl-C ends it"
        );
        let page = if self.open {
            open_in_browser(&address)
                .inspect_err(|error| tell!("acp-chain inspect: {error}"))
                .ok()
        } else {
            None
        };
        let ended = tokio::select! {
            done = server.serve(log, formats::all()) => done.map(|never| match never {}),
            () = stop::requested() => Ok(0),
        };
        drop(page);
        ended.or_else(|error| {
            tell!("acp-chain inspect: the page cannot be served: {error}");
            Ok(1)
        })
    }
}

/// Prints an error of reading, in text from outside.
fn warn(error: &str) {
    tell!("acp-chain inspect: {}", Untrusted::new(error));
}

fn unfound(error: io::Error) -> Error {
    wrong!(
        "the chains that run cannot be found: {error}; `acp-chain inspect FILE` shows the trace of one"
    )
}

/// Opens a page that redirects to the address. The address itself is on no command line, where other users could read
/// it.
fn open_in_browser(address: &str) -> Result<tempfile::TempPath> {
    let mut builder = tempfile::Builder::new();
    let page = builder.prefix("acp-chain-").suffix(".html").tempfile();
    let opened = page.and_then(|mut page| {
        write!(
            page,
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0; url={address}\">"
        )?;
        open::that_detached(page.path())?;
        Ok(page.into_temp_path())
    });
    opened.map_err(|error| {
        wrong!("no browser could be opened: {error}; open the address above yourself")
    })
}
