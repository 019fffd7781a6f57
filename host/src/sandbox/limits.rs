//! What one proxy may use.

use std::time::Duration;

use crate::channel::Bounds;

/// The limits of one proxy. Passing one hurts only the proxy that did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of the component, in bytes.
    pub memory: usize,
    /// Elements in its tables.
    pub table_elements: usize,
    /// Time for one message. The proxy is stopped when it takes longer; it never holds up
    /// messages that do not concern it.
    pub time: Duration,
    /// Time for `init`, which interpreters need more of.
    pub init_time: Duration,
    /// Requests of its own that are not answered yet.
    pub requests: usize,
    /// Messages that it holds.
    pub held: usize,
    /// Bytes of the messages that it holds.
    pub held_bytes: usize,
    /// Messages that it sends or settles while it handles one.
    pub effects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            table_elements: 100_000,
            time: Duration::from_secs(2),
            init_time: Duration::from_secs(10),
            requests: 1024,
            held: 1024,
            held_bytes: 64 << 20,
            effects: 2048,
        }
    }
}

impl Limits {
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            requests: self.requests,
            held: self.held,
            held_bytes: self.held_bytes,
            effects: self.effects,
        }
    }
}
