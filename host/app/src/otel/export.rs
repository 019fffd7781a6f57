//! `acp-chain export-otel`: reads the trace of the `acp-chain run` that starts it, and exports spans and metrics.
//!
//! It ends when the chain has ended, after a last attempt to reach the collector, which takes a few seconds at most. No
//! process waits for it, and it lowers its own priority.

use std::io;

use acp_chain_otel::{Otel, OtelError, Settings};
use acp_chain_trace::{Reader, Sink};

use acp_chain_system::process::{give_way, memory_of_groups};

use crate::beside;

/// Exports the trace on standard input. Returns whether that succeeded; errors are in the log.
pub fn serve() -> bool {
    // Chains have priority: lines that do not fit meanwhile are counted.
    give_way();
    beside::work("the exporter for OpenTelemetry", export)
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
