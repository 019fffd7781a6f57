//! Whose the sessions are that were opened here: to everybody else, they are not there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::User;

/// So many are known. Of those that are too many, the oldest half is forgotten.
const SESSIONS: usize = 100_000;

/// Sessions and their users, as far as this node knows.
#[derive(Debug, Default)]
pub struct Owners(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// With the count of those that were known before.
    sessions: HashMap<Arc<str>, (Arc<User>, u64)>,
    count: u64,
}

impl Owners {
    /// A session is this user's, if it is nobody else's.
    pub fn own(&self, session: &Arc<str>, user: &Arc<User>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.count += 1;
        let count = known.count;
        let owner = || (user.clone(), count);
        known.sessions.entry(session.clone()).or_insert_with(owner);
        if known.sessions.len() > SESSIONS {
            let oldest = count.saturating_sub(SESSIONS as u64 / 2);
            known.sessions.retain(|_, (_, begun)| *begun > oldest);
        }
    }

    /// Whether it is known to be somebody else's.
    pub fn is_foreign(&self, session: &str, user: &User) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = known.sessions.get(session);
        owner.is_some_and(|(owner, _)| **owner != *user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_of_who_opened_it_first_and_not_known_for_ever() {
        let [ann, bob] = ["ann", "bob"].map(|name| {
            Arc::new(User {
                name: name.to_owned(),
                groups: Vec::new(),
            })
        });
        let owners = Owners::default();
        let session = Arc::from("a");
        owners.own(&session, &ann);
        owners.own(&session, &bob);
        assert!(owners.is_foreign("a", &bob) && !owners.is_foreign("a", &ann));
        assert!(!owners.is_foreign("b", &bob));
        for number in 0..SESSIONS {
            owners.own(&number.to_string().into(), &bob);
        }
        assert!(!owners.is_foreign("a", &bob));
        assert!(owners.is_foreign(&(SESSIONS - 1).to_string(), &ann));
    }
}
