//! Ids of spans for a connection's events, so that other programs can create child spans of them.

use sha2::{Digest, Sha256};

/// Generates ids for the events of one connection. An event has the same id in every process.
#[derive(Clone, Debug)]
pub struct Ids(String);

impl Ids {
    /// `connection` and `begun` are the connection's letters and start time, as in the trace.
    pub fn new(connection: &str, begun: &str) -> Self {
        Self(format!("{begun} {connection}"))
    }

    /// The id of a trace.
    pub fn trace(&self, what: &[&str]) -> [u8; 16] {
        let hash = self.hash("trace", what);
        std::array::from_fn(|at| hash[at])
    }

    /// The id of a span.
    pub fn span(&self, what: &[&str]) -> [u8; 8] {
        let hash = self.hash("span", what);
        std::array::from_fn(|at| hash[at])
    }

    /// The `traceparent` (W3C Trace Context) of a turn without a parent span, by the number of its request.
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
    fn ids_depend_on_the_event_and_the_connection() {
        let ids = Ids::new("abcdefgh", "2026-01-01T00:00:00Z");
        assert_eq!(ids.span(&["turn", "1"]), ids.span(&["turn", "1"]));
        assert_ne!(ids.span(&["turn", "1"]), ids.span(&["turn", "2"]));
        assert_ne!(ids.span(&["turn1", ""]), ids.span(&["turn", "1"]));
    }
}
