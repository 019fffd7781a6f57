//! How proxies fail, and what is done about it.

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Why a proxy broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One line in the host's words, for the user: nothing that the proxy could choose is in it.
    pub reason: String,
    /// What the proxy itself said of it, if it did, without control characters.
    pub words: Option<String>,
    /// All that is known, over several lines, for the log: where in its code it was, what it said
    /// last.
    details: String,
}

impl Failure {
    /// The target of each line of the log that says which proxy, or chain, failed and why: by it they are found again.
    pub const TARGET: &str = "acp_chain::failed";

    /// The same failure, with all that is known of it.
    #[must_use]
    pub fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    /// The same failure, with what the proxy said of it.
    #[must_use]
    pub fn with_words(mut self, words: Option<String>) -> Self {
        self.words = words;
        self
    }

    /// A failure of which no more is known.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            words: None,
            details: String::new(),
        }
    }

    /// The details for the log, each line so marked that it cannot pass for a line of the host's:
    /// the names of the proxy's functions are its own choice.
    #[must_use]
    pub fn details(&self) -> String {
        let lines = self.details.lines();
        lines.fold(String::new(), |all, line| {
            all + "\n    | " + &quote(line, MAX_QUOTE)
        })
    }
}

/// The reason, and the proxy's own words.
impl std::error::Error for Failure {}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        match &self.words {
            Some(words) => write!(f, ": {words}"),
            None => Ok(()),
        }
    }
}

/// What becomes of a proxy that broke, and of the messages that it had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Its messages are refused, and it is started again; when it fails too often, it is given up
    /// and everything that it wants to see is refused.
    #[default]
    Restart,
    /// Its messages are refused, and it is started again; when it fails too often, it is given up
    /// and everything passes it by.
    RestartThenBypass,
    /// Its messages go on unchanged, and everything passes it by.
    Bypass,
    /// Its messages are refused, and so is everything that it wants to see.
    Refuse,
}

impl FailurePolicy {
    /// Whether a new instance takes the place of a broken one.
    #[must_use]
    pub fn restarts(self) -> bool {
        matches!(self, Self::Restart | Self::RestartThenBypass)
    }

    /// Whether everything passes a proxy that was given up.
    #[must_use]
    pub fn ends_open(self) -> bool {
        matches!(self, Self::RestartThenBypass | Self::Bypass)
    }
}

/// How often a proxy did what it had no right to. Nothing came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What its grant does not cover.
    pub denied: u64,
    /// Calls that made no sense: numbers that were not its own, text that was not JSON.
    pub invalid: u64,
    /// Calls past a limit.
    pub full: u64,
}

impl Tally {
    /// What of it is new since it was told as this, which from now on is all of it.
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
