//! How many turns of a user, and of a group, run at once. This server counts its own. Where replicas have a store, a
//! turn has a slot there, too, so that the turns of all of them count.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::Mutex;
use acp_chain_store::SlotLimit;

use super::fair::TurnPermit;
use super::shared::Slot;
use crate::User;

/// When to come again, if a turn of one's own must end first.
pub const AGAIN: Duration = Duration::from_secs(2);

/// The kinds of limits, as a store has them.
const TURNS: &str = "turns";
const TURNS_OF_GROUP: &str = "turns-of-group";

/// How many turns run at once, of all replicas together if they have a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnLimits {
    /// Those of each user.
    pub of_user: Option<u64>,
    /// Those of the members of a group together, by its name.
    pub of_groups: HashMap<String, u64>,
}

impl TurnLimits {
    /// The limits for which a turn of this user counts, each once.
    pub fn of(&self, user: &User) -> Vec<SlotLimit> {
        let limit = |kind: &str, account: &String, most: u64| SlotLimit {
            kind: kind.to_owned(),
            account: account.clone(),
            most,
        };
        let own = self.of_user.map(|most| limit(TURNS, &user.name, most));
        let of_groups = user.groups.iter().filter_map(|group| {
            let most = self.of_groups.get(group)?;
            Some(limit(TURNS_OF_GROUP, group, *most))
        });
        let mut limits: Vec<_> = own.into_iter().chain(of_groups).collect();
        // A token may name a group twice.
        limits.sort();
        limits.dedup();
        limits
    }
}

/// The turns of this server that count for limits.
#[derive(Debug)]
pub struct TurnShares {
    pub limits: TurnLimits,
    running: Mutex<HashMap<SlotLimit, u64>>,
}

/// A turn that counts until this is dropped.
#[derive(Debug)]
pub struct SharePermit {
    shares: Arc<TurnShares>,
    limits: Vec<SlotLimit>,
}

/// What a turn has until it ends: room at this server, its user's and groups' share of that, and of all replicas.
pub type TurnPermits = (TurnPermit, SharePermit, Option<Slot>);

impl TurnShares {
    pub fn new(limits: TurnLimits) -> Self {
        Self {
            limits,
            running: Mutex::default(),
        }
    }

    /// A turn of this user that begins now, unless a limit is reached.
    pub fn begin(self: &Arc<Self>, user: &User) -> Option<SharePermit> {
        let limits = self.limits.of(user);
        let mut running = self.running.lock();
        if !have_room(&limits, &running) {
            return None;
        }
        for limit in &limits {
            *running.entry(limit.clone()).or_default() += 1;
        }
        Some(SharePermit {
            shares: Arc::clone(self),
            limits,
        })
    }

    /// Whether a turn of this user may begin, as far as this server knows.
    pub fn has_room(&self, user: &User) -> bool {
        have_room(&self.limits.of(user), &self.running.lock())
    }
}

fn have_room(limits: &[SlotLimit], running: &HashMap<SlotLimit, u64>) -> bool {
    let has_room = |limit: &SlotLimit| running.get(limit).is_none_or(|count| *count < limit.most);
    limits.iter().all(has_room)
}

impl Drop for SharePermit {
    fn drop(&mut self) {
        let mut running = self.shares.running.lock();
        for limit in &self.limits {
            let left = running.get_mut(limit).map(|count| {
                *count -= 1;
                *count
            });
            if left == Some(0) {
                running.remove(limit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, groups: &[&str]) -> User {
        User {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        }
    }

    #[test]
    fn turns_count_for_their_user_and_for_each_group_once() {
        let limits = TurnLimits {
            of_user: Some(2),
            of_groups: [("staff".to_owned(), 3)].into(),
        };
        let shares = Arc::new(TurnShares::new(limits));
        let (ann, bob) = (user("ann", &["staff", "staff"]), user("bob", &["staff"]));
        // Groups without a limit do not count.
        let cid = user("cid", &["ops"]);
        let first = shares.begin(&ann).unwrap();
        let _second = shares.begin(&ann).unwrap();
        assert!(!shares.has_room(&ann) && shares.begin(&ann).is_none());
        let third = shares.begin(&bob).unwrap();
        assert!(shares.begin(&bob).is_none());
        let of_cid = [shares.begin(&cid), shares.begin(&cid), shares.begin(&cid)];
        assert_eq!(of_cid.iter().flatten().count(), 2);
        drop(first);
        let _fourth = shares.begin(&bob).unwrap();
        assert!(!shares.has_room(&ann));
        drop(third);
        assert!(shares.has_room(&ann));
    }

    #[test]
    fn without_limits_nothing_is_counted() {
        let shares = Arc::new(TurnShares::new(TurnLimits::default()));
        let ann = user("ann", &["staff"]);
        let _permit = shares.begin(&ann).unwrap();
        assert!(shares.running.lock().is_empty() && shares.limits.of(&ann).is_empty());
    }
}
