//! Failures of proxies, and counts of denied calls.

use std::fmt;

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Why a proxy broke. Displayed are the reason, and the proxy's own error text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", words.as_ref().map_or_else(String::new, |words| format!(": {words}")))]
pub struct Failure {
    /// One line by the host, for the user: no part of it is chosen by the proxy.
    pub reason: String,
    /// The proxy's own error text, if any, without control characters.
    pub words: Option<String>,
    /// Details for the log, on several lines: the place in the proxy's code, its last output.
    details: String,
}

impl Failure {
    /// The log target of lines about failures of proxies and chains, by which `acp-chain doctor` finds them.
    pub const TARGET: &str = "acp_chain::failed";

    /// Sets the details.
    #[must_use]
    pub fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    /// Sets the proxy's own error text.
    #[must_use]
    pub fn with_words(mut self, words: Option<String>) -> Self {
        self.words = words;
        self
    }

    /// A failure without details.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            words: None,
            details: String::new(),
        }
    }

    /// The details for the log. Each line is marked, so that it cannot be taken for one of the host: the proxy chooses
    /// the names of its functions.
    pub fn details(&self) -> String {
        let lines = self.details.lines();
        lines.fold(String::new(), |all, line| {
            all + "\n    | " + &quote(line, MAX_QUOTE)
        })
    }
}

/// Counts of a proxy's calls that the host rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that its grant does not cover.
    pub denied: u64,
    /// Invalid calls: numbers that were not its own, text that was not JSON.
    pub invalid: u64,
    /// Calls past a limit.
    pub full: u64,
}

impl Tally {
    /// The increase since the counts in `reported`, which are updated.
    #[must_use]
    pub fn untold(self, reported: &mut Self) -> Self {
        let before = std::mem::replace(reported, self);
        Self {
            denied: self.denied - before.denied,
            invalid: self.invalid - before.invalid,
            full: self.full - before.full,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            denied,
            invalid,
            full,
        } = self;
        write!(
            f,
            "rejected calls: {denied} denied, {invalid} invalid, {full} past a limit"
        )
    }
}
