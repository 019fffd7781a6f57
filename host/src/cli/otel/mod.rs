//! OpenTelemetry: a chain's activity, for its operators' collectors, if the environment asks for that.
//!
//! | file | what it is |
//! |---|---|
//! | `feed` | in the chain's process: hands over lines of its trace, without waiting |
//! | `export` | in a process of its own: makes spans and metrics of them, and exports these |
//!
//! A running chain may not connect to anything, and neither may any of its threads. So a process is started before that
//! right is given up, and has none of the chain's data.

mod export;
mod feed;

use std::io::BufRead;
use std::path::Path;

use acp_chain_otel::{Settings, otlp_json};
use acp_chain_trace::{Reader, TraceError};

pub use export::main;
use feed::Feed;

use crate::trace::{Masked, Trace};

/// The trace of a process, which is also exported if the environment asks for that. If it `propagates`, agents are told
/// of the spans of their turns.
pub fn exported(trace: Option<Trace>, propagates: bool, log: Option<&Path>) -> Option<Trace> {
    let settings = Settings::from_env();
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    if !settings.is_asked() {
        if propagates {
            tracing::warn!(
                "agents are told of no spans, since none are exported: set OTEL_EXPORTER_OTLP_ENDPOINT"
            );
        }
        return trace;
    }
    let (has_content, propagates) = (settings.content, settings.traces && propagates);
    match Feed::begin(log, settings) {
        Ok(feed) => {
            let trace = trace.unwrap_or_default();
            let trace = match has_content {
                // Messages leave without their secrets, whatever a trace file has.
                true => trace.to(Masked::new(feed)),
                false => trace.to(feed),
            };
            Some(match propagates {
                true => trace.propagate(),
                false => trace,
            })
        }
        Err(error) => {
            tracing::error!(
                "the exporter for OpenTelemetry cannot be started, so there are no spans and metrics: {error}"
            );
            trace
        }
    }
}

/// The spans of a recorded trace, as OTLP/JSON.
pub fn spans(reader: &mut Reader<impl BufRead>) -> Result<String, TraceError> {
    let mut wrong = None;
    let lines = reader.map_while(|read| match read {
        Ok((_, line)) => Some(line),
        Err(error) => {
            wrong = Some(error);
            None
        }
    });
    let mut text = Vec::new();
    let written = otlp_json(lines, &mut text);
    match wrong {
        Some(error) => Err(error),
        None => {
            written?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        }
    }
}
