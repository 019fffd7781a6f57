//! Ids of spans for a connection's events, so that others can make their own spans part of them.

use sha2::{Digest, Sha256};

/// Makes ids for the events of one connection. The same event always has the same id, whoever makes it.
#[derive(Clone, Debug)]
pub struct Ids(String);

impl Ids {
    /// For a connection with these letters that began at this time, both as in the trace.
    #[must_use]
    pub fn new(connection: &str, begun: &str) -> Self {
        Self(format!("{begun} {connection}"))
    }

    /// The id of a trace that begins here.
    #[must_use]
    pub fn trace(&self, what: &[&str]) -> [u8; 16] {
        let hash = self.hash("trace", what);
        std::array::from_fn(|at| hash[at])
    }

    /// The id of a span.
    #[must_use]
    pub fn span(&self, what: &[&str]) -> [u8; 8] {
        let hash = self.hash("span", what);
        std::array::from_fn(|at| hash[at])
    }

    /// The span of a turn that begins a trace, by the number of its request, as W3C Trace Context spells it.
    #[must_use]
    pub fn traceparent(&self, request: u64) -> String {
        let number = request.to_string();
        let what = ["request", &number];
        let trace = u128::from_be_bytes(self.trace(&what));
        let span = u64::from_be_bytes(self.span(&what));
        format!("00-{trace:032x}-{span:016x}-01")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_happening_has_the_same_id_and_no_other_has() {
        let ids = Ids::new("abcdefgh", "2026-01-01T00:00:00Z");
        assert_eq!(ids.span(&["turn", "1"]), ids.span(&["turn", "1"]));
        assert_ne!(ids.span(&["turn", "1"]), ids.span(&["turn", "2"]));
        assert_ne!(ids.span(&["turn1", ""]), ids.span(&["turn", "1"]));
    }
}
