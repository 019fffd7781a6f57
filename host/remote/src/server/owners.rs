//! The owners of sessions opened here: for other users, these sessions do not exist.
//!
//! An owner is a name: a user keeps the sessions with a token of other groups. Agents name sessions freely, and two may
//! choose the same name: then each owner has its own. An agent may also read another spelling of a name as the same
//! session, so a spelling that a user does not own is foreign if another user owns one [like it](plain).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use acp_chain_rpc::{Message, Mutex, aside};

use super::spelling::plain;
use crate::User;

/// How many sessions are remembered. Beyond that, the user with the most loses the older half.
const SESSIONS: usize = 100_000;

/// Sessions and the names of their users, as far as this node has seen them.
#[derive(Debug, Default)]
pub struct Owners(Mutex<Index>);

#[derive(Debug, Default)]
struct Index {
    /// By their plain names.
    sessions: HashMap<String, Spellings>,
    /// The sessions of each user, by the number under which they were opened last.
    of_users: HashMap<String, BTreeMap<u64, Arc<str>>>,
    /// How many sessions are remembered, of all users.
    remembered: usize,
    last: u64,
    /// The owner of all sessions, unless there are several.
    only: Option<String>,
    are_several: bool,
}

/// The owners of each spelling of a session's name, with the number under which they opened it last.
type Spellings = HashMap<Arc<str>, HashMap<String, u64>>;

impl Owners {
    /// Records that this user has opened a session.
    pub fn own(&self, session: &Arc<str>, user: &User) {
        let plain = plain(session);
        let mut index = self.0.lock();
        let index = &mut *index;
        index.last += 1;
        let only = index.only.get_or_insert_with(|| user.name.clone());
        index.are_several |= *only != user.name;
        let theirs = index.of_users.entry(user.name.clone()).or_default();
        let spellings = index.sessions.entry(plain).or_default();
        let owners = spellings.entry(session.clone()).or_default();
        match owners.insert(user.name.clone(), index.last) {
            Some(before) => drop(theirs.remove(&before)),
            None => index.remembered += 1,
        }
        theirs.insert(index.last, session.clone());
        if index.remembered > SESSIONS {
            index.forget();
        }
    }

    /// Whether a message is about a session of other users, however an agent may read it.
    pub fn are_foreign(&self, message: &Message, user: &User) -> bool {
        let is_only = {
            let index = self.0.lock();
            !index.are_several && index.only.as_deref().is_none_or(|only| only == user.name)
        };
        // With only one user, messages are not read.
        !is_only
            && (message.is_ambiguous()
                || aside(message.len(), || message.sessions())
                    .iter()
                    .any(|name| self.is_foreign(name, user)))
    }

    /// Whether a session is known to belong only to other users.
    pub fn is_foreign(&self, session: &str, user: &User) -> bool {
        // Computed before the lock is taken, as a name may be long.
        let plain = plain(session);
        let index = self.0.lock();
        let Some(spellings) = index.sessions.get(&plain) else {
            return false;
        };
        let owners = spellings.get(session);
        let mut all = spellings.values().flat_map(HashMap::keys);
        !owners.is_some_and(|owners| owners.contains_key(&user.name))
            && all.any(|owner| *owner != user.name)
    }
}

impl Index {
    fn forget(&mut self) {
        let most = self.of_users.iter_mut().max_by_key(|(_, all)| all.len());
        let Some((user, all)) = most else { return };
        for _ in 0..all.len().div_ceil(2) {
            let Some((_, oldest)) = all.pop_first() else {
                return;
            };
            self.remembered -= 1;
            let plain = plain(&oldest);
            if let Some(spellings) = self.sessions.get_mut(&plain)
                && let Some(owners) = spellings.get_mut(&oldest)
            {
                owners.remove(user);
                if owners.is_empty() {
                    spellings.remove(&oldest);
                }
                if spellings.is_empty() {
                    self.sessions.remove(&plain);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ann_and_bob() -> [Arc<User>; 2] {
        ["ann", "bob"].map(|name| {
            Arc::new(User {
                name: name.to_owned(),
                groups: Vec::new(),
            })
        })
    }

    #[test]
    fn another_spelling_is_foreign_and_ones_own_name_never_is() {
        let [ann, bob] = ann_and_bob();
        let owners = Owners::default();
        owners.own(&"a-b".into(), &ann);
        for spelling in ["A-B", "ab", "{a-b}", "urn:a-b", "a%2Db", "./a-b"] {
            assert!(owners.is_foreign(spelling, &bob), "{spelling}");
            assert!(!owners.is_foreign(spelling, &ann), "{spelling}");
        }
        owners.own(&"ab".into(), &bob);
        assert!(!owners.is_foreign("ab", &bob) && !owners.is_foreign("a-b", &ann));
        assert!(owners.is_foreign("ab", &ann) && owners.is_foreign("a-b", &bob));
        assert!(owners.is_foreign("AB", &ann) && owners.is_foreign("AB", &bob));
    }

    #[test]
    fn parameters_that_an_agent_may_find_elsewhere_are_foreign() {
        let [ann, bob] = ann_and_bob();
        let owners = Owners::default();
        let load = |more: &str| {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"session/load","params":{{"sessionId":"b"}}{more}}}"#
            );
            Message::parse(line.into()).unwrap()
        };
        let hidden = load(r#","Params":{"sessionId":"a"}"#);
        owners.own(&"b".into(), &bob);
        // There is no other user, whose session it could be.
        assert!(!owners.are_foreign(&hidden, &bob));
        owners.own(&"a".into(), &ann);
        assert!(owners.are_foreign(&hidden, &bob));
        assert!(!owners.are_foreign(&load(""), &bob));
    }

    #[test]
    fn a_session_belongs_to_its_openers_and_the_user_with_the_most_loses_the_oldest() {
        let [ann, bob] = ann_and_bob();
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
        // Bob's entry is removed, and Ann's is not.
        assert!(owners.is_foreign("a", &bob) && !owners.is_foreign("a", &ann));
        assert!(!owners.is_foreign("0", &ann));
        assert!(owners.is_foreign(&(SESSIONS - 1).to_string(), &ann));
    }
}
