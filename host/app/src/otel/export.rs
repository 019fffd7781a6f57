//! `acp-chain export-otel`: reads the trace of the `acp-chain run` that starts it, and exports spans and metrics.
//!
//! It ends when the chain has ended, after a last attempt to reach the collector, which takes a few seconds at most. No
//! process waits for it, and it lowers its own priority.

use std::io;
use std::thread;

use acp_chain_otel::{Otel, OtelError, Settings};
use acp_chain_trace::{Reader, Sink};

use acp_chain_system::process::{give_way, memory_of_groups};
use acp_chain_system::stop;

/// Exports the trace on standard input. Returns whether that succeeded; errors are in the log.
pub fn serve() -> bool {
    // Chains have priority: lines that do not fit meanwhile are counted.
    give_way();
    let runtime = match crate::runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("the exporter for OpenTelemetry cannot start: {error}");
            return false;
        }
    };
    let (done, is_done) = tokio::sync::oneshot::channel();
    // Exporting blocks, and must not be on a runtime.
    thread::spawn(|| {
        let exported = export();
        let exported = exported.inspect_err(|error| tracing::error!("{error}"));
        // If the receiver is closed, the error is in the log.
        let _ = done.send(exported.is_ok());
    });
    runtime.block_on(async {
        tokio::select! {
            done = is_done => done.unwrap_or(false),
            () = ignore_stops() => false,
        }
    })
}

/// Ignores requests to stop: the signal may reach all processes of the chain, and its last turn has still to be
/// exported. The process ends with its input.
async fn ignore_stops() {
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
