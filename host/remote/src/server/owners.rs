//! The owners of sessions opened here: for everybody else, these sessions do not exist.
//!
//! Agents name sessions freely, and two may choose the same name: then each owner has its own.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use acp_chain_rpc::Message;

use crate::User;

/// How many are remembered. Past that, the oldest half is dropped.
const SESSIONS: usize = 100_000;

/// Sessions and their users, as far as this node knows.
#[derive(Debug, Default)]
pub struct Owners(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// With the count of sessions when it was last opened.
    sessions: HashMap<Arc<str>, (HashSet<Arc<User>>, u64)>,
    count: u64,
    /// The owner of all, unless there are several.
    only: Option<Arc<User>>,
    are_several: bool,
}

impl Owners {
    /// A session with this name belongs to this user.
    pub fn own(&self, session: &Arc<str>, user: &Arc<User>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.count += 1;
        let known = &mut *known;
        let only = known.only.get_or_insert_with(|| user.clone());
        known.are_several |= only != user;
        let count = known.count;
        let (owners, opened) = known.sessions.entry(session.clone()).or_default();
        owners.insert(user.clone());
        *opened = count;
        if known.sessions.len() > SESSIONS {
            let oldest = count.saturating_sub(SESSIONS as u64 / 2);
            known.sessions.retain(|_, (_, begun)| *begun > oldest);
        }
    }

    /// Whether a message is about a session of others, as any reader may understand it.
    pub fn are_foreign(&self, message: &Message, user: &User) -> bool {
        let is_only = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            !known.are_several && known.only.as_deref().is_none_or(|only| only == user)
        };
        // Nothing is read of messages where there is only one user.
        !is_only
            && message
                .sessions()
                .iter()
                .any(|name| self.is_foreign(name, user))
    }

    /// Whether it is known to belong only to others.
    pub fn is_foreign(&self, session: &str, user: &User) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.sessions.get(session);
        known.is_some_and(|(owners, _)| !owners.contains(user))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_of_who_opened_it_and_not_known_for_ever() {
        let [ann, bob] = ["ann", "bob"].map(|name| {
            Arc::new(User {
                name: name.to_owned(),
                groups: Vec::new(),
            })
        });
        let owners = Owners::default();
        let session = Arc::from("a");
        owners.own(&session, &ann);
        assert!(owners.is_foreign("a", &bob) && !owners.is_foreign("a", &ann));
        owners.own(&session, &bob);
        assert!(!owners.is_foreign("a", &bob) && !owners.is_foreign("a", &ann));
        assert!(!owners.is_foreign("b", &bob));
        for number in 0..SESSIONS {
            owners.own(&number.to_string().into(), &bob);
        }
        assert!(!owners.is_foreign("a", &User::default()));
        assert!(owners.is_foreign(&(SESSIONS - 1).to_string(), &ann));
    }
}
