//! Notices for the user, until they can be shown.

use std::sync::Arc;

use acp_chain_channel::limits::{Account, Charge, NOTICES};

/// The notices for the user's next turn.
#[derive(Debug)]
pub(super) struct Notices {
    texts: Vec<(String, Charge)>,
    pub account: Account,
    /// The session prompted last, while the client has it.
    pub session: Option<(Arc<str>, Charge)>,
    /// How many did not fit.
    left_out: u64,
}

impl Notices {
    /// None yet; their account will be a part of this one.
    pub fn new(kept: &Account) -> Self {
        Self {
            texts: Vec::new(),
            account: kept.part(NOTICES),
            session: None,
            left_out: 0,
        }
    }

    pub fn add(&mut self, text: String) {
        match self.account.charge(size_of::<String>() + text.len()) {
            Some(charge) => self.texts.push((text, charge)),
            None => self.left_out += 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.left_out == 0
    }

    /// Takes all notices, and how many were left out.
    pub fn take(&mut self) -> Vec<String> {
        let mut texts: Vec<_> = self.texts.drain(..).map(|(text, _)| text).collect();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            texts.push(format!(
                "there was more to tell than is kept until a turn; {left_out} such messages are \
                 left out."
            ));
        }
        texts
    }
}
