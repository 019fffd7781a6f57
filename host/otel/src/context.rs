//! The trace context of a span: the one in a request's `_meta`, otherwise a new one.

use std::str::FromStr;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use serde_json::value::RawValue;

use crate::bodies::at;

/// The lengths of the parts of `traceparent`, in its only version.
const PARTS: [usize; 4] = [2, 32, 16, 2];

/// The maximum length of a `tracestate`, in bytes. A longer one is dropped.
const LONGEST: usize = 512;

/// The trace context in a request's `_meta`, which is at this place, if valid (RFD meta-propagation).
pub fn remote(params: &RawValue, meta: &str) -> Option<SpanContext> {
    let text = |name: &str| at::<String>(Some(params), &format!("{meta}/{name}"));
    parse(&text("traceparent"), &text("tracestate"))
}

/// A trace context, if valid (W3C Trace Context).
fn parse(parent: &str, state: &str) -> Option<SpanContext> {
    let parts: Vec<&str> = parent.split('-').collect();
    // Later versions may have more parts.
    let lengths = parts.iter().map(|part| part.len());
    let is_whole = parts.len() >= PARTS.len() && lengths.zip(PARTS).all(|(is, be)| is == be);
    let is_known = is_whole && parts[0] != "ff" && (parts[0] != "00" || parts.len() == PARTS.len());
    let is_hex = |part: &&str| {
        let mut bytes = part.bytes();
        bytes.all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    if !is_known || !parts[..PARTS.len()].iter().all(is_hex) {
        return None;
    }
    let state = Some(state).filter(|state| state.len() <= LONGEST);
    let context = SpanContext::new(
        TraceId::from_hex(parts[1]).ok()?,
        SpanId::from_hex(parts[2]).ok()?,
        TraceFlags::new(u8::from_str_radix(parts[3], 16).ok()?) & TraceFlags::SAMPLED,
        true,
        state
            .and_then(|state| TraceState::from_str(state).ok())
            .unwrap_or_default(),
    );
    context.is_valid().then_some(context)
}

/// A span below this one, in its trace.
pub fn child(of: &SpanContext, id: [u8; 8]) -> SpanContext {
    SpanContext::new(
        of.trace_id(),
        SpanId::from_bytes(id),
        of.trace_flags(),
        false,
        of.trace_state().clone(),
    )
}

/// A span without a parent.
pub fn root(trace: [u8; 16], id: [u8; 8]) -> SpanContext {
    let (trace, id) = (TraceId::from_bytes(trace), SpanId::from_bytes(id));
    SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(traceparent: &str) -> Option<SpanContext> {
        super::parse(traceparent, "vendor=1")
    }

    #[test]
    fn a_parent_is_used_only_if_it_is_valid() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = parse(good).unwrap();
        assert!(context.is_remote() && context.is_sampled());
        assert_eq!(context.trace_state().header(), "vendor=1");
        assert!(!parse(&good.replace("-01", "-00")).unwrap().is_sampled());
        // The known parts of a later version are used.
        assert!(parse(&format!("{}-more", good.replacen("00", "01", 1))).is_some());
        for bad in [
            "",
            "00",
            &good.replacen("00", "ff", 1),
            &format!("{good}-more"),
            &good.replace("0af7", "0AF7"),
            &good.replace("0af7", "+af7"),
            &good.replace("b7ad6b7169203331", "0000000000000000"),
            &good.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
