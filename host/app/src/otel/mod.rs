//! OpenTelemetry: exports a chain's activity to the operator's collector, if the environment requests it.
//!
//! | file | what it is |
//! |---|---|
//! | `feed` | in the chain's process: hands over lines of its trace, without waiting |
//! | `export` | in a separate process: makes spans and metrics of the lines, and exports them |
//!
//! A running chain may not connect to anything, and neither may any of its threads. So a process is started before that
//! right is given up; it receives only the lines to export.

mod export;
mod feed;

use std::path::Path;

use acp_chain_otel::Settings;

pub use export::serve;
use feed::Feed;

use acp_chain_conductor::trace::{Masked, Trace};

/// The trace of a process, which is also exported if the environment requests it. If it `propagates`, agents receive
/// the spans of their turns.
pub fn exported(trace: Option<Trace>, propagates: bool, log: Option<&Path>) -> Option<Trace> {
    let settings = Settings::from_env();
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    if !settings.is_enabled() {
        if propagates {
            tracing::warn!(
                "agents receive no spans, since none are exported: set OTEL_EXPORTER_OTLP_ENDPOINT"
            );
        }
        return trace;
    }
    let (has_content, propagates) = (settings.content, settings.traces && propagates);
    match Feed::begin(log, settings) {
        Ok(feed) => {
            let trace = trace.unwrap_or_default();
            let trace = if has_content {
                // Messages are exported without their secrets, even if a trace file has them.
                trace.to(Masked::new(feed))
            } else {
                trace.to(feed)
            };
            Some(if propagates { trace.propagate() } else { trace })
        }
        Err(error) => {
            tracing::error!(
                "the exporter for OpenTelemetry cannot be started, so there are no spans and metrics: {error}"
            );
            trace
        }
    }
}
