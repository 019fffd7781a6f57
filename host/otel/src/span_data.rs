//! Parts of a span.

use std::time::SystemTime;

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use crate::mapping::{self, identifier};

/// Begins a span, as a child of another.
pub fn begin(
    name: String,
    context: SpanContext,
    above: Option<SpanContext>,
    at: SystemTime,
) -> SpanData {
    SpanData {
        span_context: context,
        parent_span_id: above.as_ref().map_or(SpanId::INVALID, SpanContext::span_id),
        parent_span_is_remote: above.is_some_and(|above| above.is_remote()),
        span_kind: SpanKind::Internal,
        name: name.into(),
        start_time: at,
        end_time: at,
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: mapping::scope(),
    }
}

pub fn end(mut span: SpanData, at: SystemTime) -> SpanData {
    span.end_time = at.max(span.start_time);
    span
}

/// Records an error. Only its code is exported, since its text may contain anything.
pub fn fail(span: &mut SpanData, code: &str) {
    span.status = Status::error("");
    let code = KeyValue::new(mapping::ERROR_TYPE, code.to_owned());
    span.attributes.push(code);
}

/// The name of a span: the operation and its target.
pub fn with(what: &str, target: Option<&str>) -> String {
    match target {
        Some(target) => format!("{what} {target}"),
        None => what.to_owned(),
    }
}

/// Attributes whose values are names, without missing or invalid ones.
pub fn names(pairs: &[(&'static str, Option<&str>)]) -> Vec<KeyValue> {
    let named = |(key, value): &(&'static str, Option<&str>)| {
        let value = value.and_then(identifier)?;
        Some(KeyValue::new(*key, value.to_owned()))
    };
    pairs.iter().filter_map(named).collect()
}

/// An attribute whose value is a list of names.
pub fn list<'a>(key: &'static str, values: impl Iterator<Item = &'a str>) -> KeyValue {
    let values = values.filter_map(identifier);
    let values = values.map(|value| StringValue::from(value.to_owned()));
    KeyValue::new(key, Value::Array(Array::String(values.collect())))
}
