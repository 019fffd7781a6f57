//! Who a span belongs to: the trace that a request says it is part of, else one of its own.

use std::str::FromStr;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use sha2::{Digest, Sha256};

use crate::said::Meta;

/// The only version that there is of `traceparent`, and the lengths of its parts.
const PARTS: [usize; 4] = [2, 32, 16, 2];

/// The longest `tracestate` that is passed on, in bytes.
const LONGEST: usize = 512;

/// Makes ids for what happens on one connection. The same happening has the same id, whoever makes it, and whenever.
#[derive(Clone, Debug)]
pub struct Ids(String);

impl Ids {
    /// For a connection with these letters, which began at this time, as the trace writes both.
    pub fn new(connection: &str, begun: &str) -> Self {
        Self(format!("{begun} {connection}"))
    }

    /// Of a trace that begins here.
    pub fn trace(&self, what: &[&str]) -> TraceId {
        let hash = self.hash("trace", what);
        TraceId::from_bytes(std::array::from_fn(|at| hash[at]))
    }

    /// Of a span.
    pub fn span(&self, what: &[&str]) -> SpanId {
        let hash = self.hash("span", what);
        SpanId::from_bytes(std::array::from_fn(|at| hash[at]))
    }

    fn hash(&self, kind: &str, what: &[&str]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [&*self.0, kind].iter().chain(what) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// What a request says of the trace that it is part of, if that makes sense (W3C Trace Context).
pub fn remote(meta: &Meta) -> Option<SpanContext> {
    let parts: Vec<&str> = meta.traceparent.split('-').collect();
    // Later versions may have more.
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
    let state = Some(&*meta.tracestate).filter(|state| state.len() <= LONGEST);
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

/// A span of this trace, below that one.
pub fn child(of: &SpanContext, id: SpanId) -> SpanContext {
    SpanContext::new(
        of.trace_id(),
        id,
        of.trace_flags(),
        false,
        of.trace_state().clone(),
    )
}

/// A span that no other is above.
pub fn root(trace: TraceId, id: SpanId) -> SpanContext {
    SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(traceparent: &str) -> Option<SpanContext> {
        remote(&Meta {
            traceparent: traceparent.into(),
            tracestate: "vendor=1".into(),
        })
    }

    #[test]
    fn a_parent_is_taken_only_if_it_makes_sense() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = parse(good).unwrap();
        assert!(context.is_remote() && context.is_sampled());
        assert_eq!(context.trace_state().header(), "vendor=1");
        assert!(!parse(&good.replace("-01", "-00")).unwrap().is_sampled());
        // Of a later version, what is known is taken.
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

    #[test]
    fn the_same_happening_has_the_same_id_and_no_other_has() {
        let ids = Ids::new("abcdefgh", "2026-01-01T00:00:00Z");
        assert_eq!(ids.span(&["turn", "1"]), ids.span(&["turn", "1"]));
        assert_ne!(ids.span(&["turn", "1"]), ids.span(&["turn", "2"]));
        assert_ne!(ids.span(&["turn1", ""]), ids.span(&["turn", "1"]));
    }
}
