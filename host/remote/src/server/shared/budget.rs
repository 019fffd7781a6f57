//! What users and groups may use in an hour, at all replicas: prompts, and bytes of messages.
//!
//! Bytes are drawn from the store in parts, and a message is counted here. So a replica that ends without a word takes
//! the rest of its parts with it: at most one for each of its users.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Duration;

use acp_chain_store::{Answer, Call};
use tokio::time::Instant;

use super::{Denial, Shared};
use crate::User;

/// The period of all budgets, in milliseconds.
const HOUR: u64 = 60 * 60 * 1000;

/// The largest part of bytes that is drawn at once, unless a message is longer.
const PART: u64 = 1 << 20;

/// How many parts a budget of bytes has at least.
const PARTS: u64 = 16;

/// The kinds of budgets, as the store has them.
const PROMPTS: &str = "prompts";
const PROMPTS_OF_GROUP: &str = "prompts-of-group";
const BYTES: &str = "bytes";

/// The budgets of an hour.
#[derive(Clone, Debug, Default)]
pub struct Budgets {
    /// How many prompts a user may send.
    pub prompts_of_user: Option<u64>,
    /// How many prompts the members of a group may send together, by its name.
    pub prompts_of_groups: HashMap<String, u64>,
    /// How many bytes a user may send.
    pub bytes_of_user: Option<NonZeroU64>,
    /// Whether messages and connections pass while the store cannot be asked what was used.
    pub are_open: bool,
}

impl Budgets {
    /// How much a user or a group may use of a budget, by its kind as the store has it; `None` if there is no such limit.
    #[must_use]
    pub fn limit(&self, kind: &str, account: &str) -> Option<u64> {
        match kind {
            PROMPTS => self.prompts_of_user,
            PROMPTS_OF_GROUP => self.prompts_of_groups.get(account).copied(),
            BYTES => self.bytes_of_user.map(Into::into),
            _ => None,
        }
    }
}

/// Bytes that were drawn for a user, and are not used yet.
#[derive(Debug)]
pub(super) struct Part {
    left: u64,
    /// The end of their hour.
    until: Instant,
}

impl Part {
    /// Whether the bytes may still be used.
    pub(super) fn is_of_use(&self, now: Instant) -> bool {
        self.left > 0 && self.until > now
    }
}

impl Shared {
    /// Draws a prompt from the budgets of a user and of the user's groups, and appends the calls that give it back. One
    /// whose answer is lost, or awaited no longer, stays drawn: it may not have been carried out, and to give it back
    /// then would be one prompt too many.
    pub(super) async fn draw_prompt(
        &self,
        user: &User,
        drawn: &mut Vec<Call>,
    ) -> Result<(), Denial> {
        let budgets = &self.settings.budgets;
        let own = budgets.prompts_of_user;
        let own = own.map(|limit| (&user.name, PROMPTS, limit));
        let of_groups = user.groups.iter().filter_map(|group| {
            let limit = budgets.prompts_of_groups.get(group)?;
            Some((group, PROMPTS_OF_GROUP, *limit))
        });
        for (account, kind, limit) in own.into_iter().chain(of_groups) {
            match self.draw(account, kind, limit, 1).await {
                Ok((1.., _)) => drawn.push(give_back(account, kind, 1)),
                Ok((0, again)) => return Err(Denial::Spent(again)),
                Err(_) if budgets.are_open => {}
                Err(denial) => return Err(denial),
            }
        }
        Ok(())
    }

    /// Counts the bytes of a message.
    pub(super) async fn draw_bytes(&self, user: &User, bytes: usize) -> Result<(), Denial> {
        let budgets = &self.settings.budgets;
        let Some(limit) = budgets.bytes_of_user else {
            return Ok(());
        };
        let bytes = bytes as u64;
        if self.has_drawn(user, bytes) {
            return Ok(());
        }
        let part = (limit.get() / PARTS).clamp(1, PART).max(bytes);
        match self.draw(&user.name, BYTES, limit.get(), part).await {
            Ok((granted, again)) => {
                self.keep_part(user, granted, again);
                let has_drawn = self.has_drawn(user, bytes);
                has_drawn.then_some(()).ok_or(Denial::SentMuch(again))
            }
            Err(_) if budgets.are_open => Ok(()),
            Err(denial) => Err(denial),
        }
    }

    /// Uses bytes that were drawn before, if there are as many.
    fn has_drawn(&self, user: &User, bytes: u64) -> bool {
        let mut state = self.state.lock();
        let part = state.parts.get_mut(&user.name);
        let part = part.filter(|part| part.is_of_use(Instant::now()) && part.left >= bytes);
        let drawn = part.map(|part| part.left -= bytes);
        drawn.is_some()
    }

    fn keep_part(&self, user: &User, granted: u64, lasts: Duration) {
        let now = Instant::now();
        let mut state = self.state.lock();
        let rest = state.parts.remove(&user.name);
        let rest = rest.filter(|rest| rest.is_of_use(now));
        let part = Part {
            left: granted + rest.map_or(0, |rest| rest.left),
            until: now + lasts,
        };
        state.parts.insert(user.name.clone(), part);
    }

    /// What returns all bytes that were drawn and not used.
    pub(super) fn returned_parts(&self) -> Vec<Call> {
        let now = Instant::now();
        let mut parts = std::mem::take(&mut self.state.lock().parts);
        parts.retain(|_, part| part.is_of_use(now));
        let returned = parts.iter();
        let returned = returned.map(|(account, part)| give_back(account, BYTES, part.left));
        returned.collect()
    }

    /// Draws from a budget: how much was granted, and how long its hour goes on.
    async fn draw(
        &self,
        account: &str,
        kind: &str,
        limit: u64,
        amount: u64,
    ) -> Result<(u64, Duration), Denial> {
        let drawn = self.ask(Call::Draw {
            account: account.to_owned(),
            kind: kind.to_owned(),
            period: HOUR,
            limit,
            amount,
        });
        match drawn.await? {
            Answer::Drawn { granted, again } => Ok((granted, Duration::from_millis(again))),
            _ => Err(Denial::Unavailable(self.again())),
        }
    }
}

fn give_back(account: &str, kind: &str, amount: u64) -> Call {
    Call::GiveBack {
        account: account.to_owned(),
        kind: kind.to_owned(),
        period: HOUR,
        amount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_has_the_limit_of_its_kind() {
        let budgets = Budgets {
            prompts_of_user: Some(100),
            prompts_of_groups: HashMap::from([("staff".to_owned(), 5000)]),
            bytes_of_user: NonZeroU64::new(7),
            are_open: false,
        };
        for (kind, account, limit) in [
            (PROMPTS, "ann", Some(100)),
            (PROMPTS_OF_GROUP, "staff", Some(5000)),
            (PROMPTS_OF_GROUP, "ann", None),
            (BYTES, "ann", Some(7)),
            ("other", "ann", None),
        ] {
            assert_eq!(budgets.limit(kind, account), limit, "{kind}");
        }
    }
}
