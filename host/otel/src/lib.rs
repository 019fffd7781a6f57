//! Spans and metrics for OpenTelemetry, from the lines of a chain's trace.
//!
//! | file | what it is |
//! |---|---|
//! | `mapping` | all names: the semantic conventions, and the parts of a message that may be exported |
//! | `bodies` | the parts of message bodies that are read |
//! | `context` | the trace of a span |
//! | `content` | contents of messages, if requested |
//! | `spans` | turns lines into spans |
//! | `requests` | requests with spans |
//! | `span_data` | parts of a span |
//! | `metrics` | turns lines into measurements |
//! | `memory` | the memory of proxies |
//! | `settings` | settings from the environment |
//! | `collector` | the destination of spans and metrics, and losses |
//! | `export` | exports a running chain |
//!
//! Invariants: unless requested, no text written by a user, an agent or a tool is in a span or a metric, only names,
//! ids, numbers, and protocol constants. The same lines give the same ids. Memory is bounded, whatever the lines
//! contain.

#![forbid(unsafe_code)]

mod bodies;
mod collector;
mod content;
mod context;
mod export;
mod mapping;
mod memory;
mod metrics;
mod requests;
mod settings;
mod span_data;
mod spans;

use std::io::{self, Write};

use acp_chain_trace::Line;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;

pub use bodies::needed;
pub use export::{Otel, OtelError};
pub use memory::MemoryProbe;
pub use settings::{CAPTURE, HOPS, Settings};

/// Writes the spans of a trace as OTLP/JSON: one `ExportTraceServiceRequest`.
///
/// # Errors
///
/// If writing fails.
pub fn otlp_json(lines: &mut dyn Iterator<Item = Line>, to: &mut dyn Write) -> io::Result<()> {
    let mut spans = spans::Spans::default();
    for line in lines {
        spans.take(&line);
    }
    spans.end();
    let resource = Resource::builder_empty()
        .with_attributes(mapping::resource())
        .build();
    let resource = ResourceAttributesWithSchema::from(&resource);
    let request = ExportTraceServiceRequest {
        resource_spans: group_spans_by_resource_and_scope(spans.done(), &resource),
    };
    serde_json::to_writer(&mut *to, &request)?;
    to.write_all(b"\n")
}
