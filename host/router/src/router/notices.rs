//! Notices for the user, which wait until they can be shown.

use std::path::PathBuf;
use std::sync::Arc;

use acp_chain_channel::limits::{Account, Charge, NOTICES};
use acp_chain_rpc::Kind;
use acp_chain_rpc::untrusted::{Untrusted, quote};

/// The longest notice, in bytes.
pub(super) const LONGEST: usize = 16 * 1024;

/// The notices for the user's next turn.
#[derive(Debug)]
pub(super) struct Notices {
    texts: Vec<(String, Charge)>,
    account: Account,
    /// The session prompted last, until it ends.
    session: Option<(Arc<str>, Charge)>,
    /// How many notices did not fit.
    left_out: u64,
    /// How many messages with a notice were sent.
    sent: u64,
    /// The log, which notices name from here on.
    pub log: Option<PathBuf>,
}

impl Notices {
    /// No notices; their account is a part of `kept`.
    pub fn new(kept: &Account) -> Self {
        Self {
            texts: Vec::new(),
            account: kept.part(NOTICES),
            session: None,
            left_out: 0,
            sent: 0,
            log: None,
        }
    }

    pub fn add(&mut self, text: &str) {
        let mut text = quote(text, LONGEST);
        if let Some(log) = &self.log {
            let is_sentence = text.ends_with(['.', '!', '?']);
            let end = if is_sentence { "" } else { "." };
            let log = Untrusted::new(log.display());
            text = format!("{text}{end} More is in {log}.");
        }
        match self.account.charge(size_of::<String>() + text.len()) {
            Some(charge) => self.texts.push((text, charge)),
            None => self.left_out += 1,
        }
    }

    /// Notes that a session is prompted.
    pub fn prompted(&mut self, session: &Arc<str>) {
        let charge = self.account.charge(session.len());
        self.session = charge.map(|charge| (session.clone(), charge));
    }

    /// Notes that a session ends.
    pub fn ended(&mut self, session: &Arc<str>) {
        self.session.take_if(|(last, _)| last == session);
    }

    /// The session prompted last.
    pub fn session(&self) -> Option<Arc<str>> {
        self.session.as_ref().map(|(session, _)| session.clone())
    }

    /// The id of the next message with a notice.
    pub fn next_id(&mut self) -> String {
        self.sent += 1;
        format!("acp-chain-{}", self.sent)
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.left_out == 0
    }

    /// Takes all notices. If some did not fit, the last one says how many.
    pub fn take(&mut self) -> Vec<String> {
        let mut texts: Vec<_> = self.texts.drain(..).map(|(text, _)| text).collect();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            texts.push(format!(
                "more notices came up than are kept until a turn; {left_out} of them are \
                 left out."
            ));
        }
        texts
    }
}

/// A message of this kind, in words before its method.
pub(super) fn in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Request => "the request",
        Kind::Notification => "the notification",
        Kind::Result => "the answer to",
        Kind::Error => "the error for",
    }
}
