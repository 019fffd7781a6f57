//! `acp-chain export-otel`: reads the trace of the `acp-chain run` that starts it, and exports spans and metrics.
//!
//! It ends when the chain has ended, after a last attempt to reach the collector, which takes a few seconds at most.
//! Nobody waits for it, and it gives way to those that people wait for.

use std::io;
use std::process::ExitCode;
use std::thread;

use acp_chain_otel::{Otel, OtelError, Settings};
use acp_chain_trace::{Reader, Sink};

use crate::system::process::{give_way, memory_of_groups};
use crate::system::stop;

pub fn main() -> ExitCode {
    // Chains come first: what does not fit meanwhile is counted.
    give_way();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("the exporter for OpenTelemetry cannot begin: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (done, is_done) = tokio::sync::oneshot::channel();
    // Exporting blocks, and must not be on a runtime.
    thread::spawn(|| {
        let exported = export();
        let exported = exported.inspect_err(|error| tracing::error!("{error}"));
        // If nobody waits any more, the error is in the log.
        let _ = done.send(exported.is_ok());
    });
    let is_fine = runtime.block_on(async {
        tokio::select! {
            done = is_done => done.unwrap_or(false),
            () = outlive() => false,
        }
    });
    match is_fine {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The signal that stops the chain may reach all of its processes, and its last turn has still to be exported: we end
/// with our input.
async fn outlive() {
    loop {
        stop::requested().await;
    }
}

fn export() -> Result<(), OtelError> {
    let mut otel = Otel::new(&Settings::from_env(), memory_of_groups)?;
    for read in Reader::new(io::stdin().lock()) {
        let written = read.map(|(_, line)| otel.write(&[line]));
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!("a line of the trace cannot be exported: {error}"),
            Err(error) => {
                tracing::error!("the trace ends here for OpenTelemetry: {error}");
                break;
            }
        }
    }
    otel.end();
    Ok(())
}
