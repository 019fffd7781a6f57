//! How proxies fail, and what happens then.

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Why a proxy broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One line in the host's words, for the user: the proxy can choose nothing in it.
    pub reason: String,
    /// The proxy's own words about it, if any, without control characters.
    pub words: Option<String>,
    /// All details, on several lines, for the log: the place in its code, its last output.
    details: String,
}

impl Failure {
    /// The log target of lines about failures of proxies and chains, by which they are found.
    pub const TARGET: &str = "acp_chain::failed";

    /// The same failure, with details.
    #[must_use]
    pub fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    /// The same failure, with the proxy's own words.
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

    /// The details for the log, each line marked so that it cannot pass for the host's: the proxy chooses the names of
    /// its functions.
    #[must_use]
    pub fn details(&self) -> String {
        let lines = self.details.lines();
        lines.fold(String::new(), |all, line| {
            all + "\n    | " + &quote(line, MAX_QUOTE)
        })
    }
}

impl std::error::Error for Failure {}

/// The reason, and the proxy's own words.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        match &self.words {
            Some(words) => write!(f, ": {words}"),
            None => Ok(()),
        }
    }
}

/// What happens to a broken proxy, and to the messages that it had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Its messages are refused, and it is restarted; when it fails too often, it is given up and all messages that it
    /// subscribed to are refused.
    #[default]
    Restart,
    /// Its messages are refused, and it is restarted; when it fails too often, it is given up and bypassed.
    RestartThenBypass,
    /// Its messages go on unchanged, and it is bypassed.
    Bypass,
    /// Its messages are refused, and so are all that it subscribed to.
    Refuse,
}

impl FailurePolicy {
    /// Whether a new instance takes the place of a broken one.
    #[must_use]
    pub fn restarts(self) -> bool {
        matches!(self, Self::Restart | Self::RestartThenBypass)
    }

    /// Whether a proxy that was given up is bypassed.
    #[must_use]
    pub fn ends_open(self) -> bool {
        matches!(self, Self::RestartThenBypass | Self::Bypass)
    }
}

/// How often a proxy exceeded its rights, without effect.
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
    /// The difference from the counts already reported, which are updated.
    #[must_use]
    pub fn untold(self, told: &mut Self) -> Self {
        let before = std::mem::replace(told, self);
        Self {
            denied: self.denied - before.denied,
            invalid: self.invalid - before.invalid,
            full: self.full - before.full,
        }
    }
}
