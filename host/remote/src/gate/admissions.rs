//! The admitted users, by their credentials, and when these end.
//!
//! Everything open through the same token has one entry. It is removed when nothing is open through it, and when it
//! ends: the token has expired or was revoked, or the key that signed it was removed. One task expires all entries.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use acp_chain_rpc::Mutex;
use jsonwebtoken::jwk::Jwk;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

use super::{AdmittedUser, Digest, User};

/// How often to check for entries that have ended. In between, the clock may be set, or the machine may sleep.
const PAUSE: Duration = Duration::from_secs(30);

/// Verified credentials.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The hash of the token or certificate.
    pub digest: Digest,
    pub user: User,
    /// When the credentials expire; `None` if never.
    pub until: Option<SystemTime>,
    /// What verifies the credentials.
    pub by: ProofSource,
}

/// What verifies credentials. They are valid as long as it exists.
#[derive(Clone, Debug)]
pub enum ProofSource {
    /// A line in the file of tokens.
    Token,
    /// A key of the issuer with this number.
    Key(usize, Arc<Jwk>),
    /// The authority of clients' certificates.
    Authority,
}

/// The admitted users.
#[derive(Debug, Default)]
pub struct Admissions {
    state: Mutex<State>,
    /// Notified when an entry expires before the task's next check.
    sooner: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Digest, Admission>,
    /// When the task checks next, if it runs.
    next: Option<SystemTime>,
}

#[derive(Debug)]
struct Admission {
    proof: Proof,
    user: Arc<User>,
    over: watch::Sender<bool>,
}

impl Admissions {
    /// Admits a user whose credentials have not expired and are still valid.
    pub fn admit(
        self: &Arc<Self>,
        proof: Proof,
        holds: impl Fn(&Proof) -> bool,
    ) -> Option<AdmittedUser> {
        let now = SystemTime::now();
        let mut state = self.state.lock();
        // The keys that verified the proof may have been replaced since; a replacement checks only the entries that
        // exist then.
        if proof.until.is_some_and(|until| until <= now) || !holds(&proof) {
            return None;
        }
        let until = proof.until;
        let entry = state.entries.entry(proof.digest);
        let entry = entry.or_insert_with(|| Admission {
            user: Arc::new(proof.user.clone()),
            over: watch::Sender::new(false),
            proof,
        });
        let admitted = AdmittedUser {
            user: Arc::clone(&entry.user),
            is_over: entry.over.subscribe(),
        };
        match state.next {
            None => {
                if let Ok(runtime) = Handle::try_current() {
                    state.next = Some(now);
                    runtime.spawn(keep_time(Arc::downgrade(self)));
                }
            }
            Some(next) if until.is_some_and(|until| until < next) => self.sooner.notify_one(),
            Some(_) => {}
        }
        Some(admitted)
    }

    /// Ends all entries that are no longer valid.
    pub fn keep(&self, holds: impl Fn(&Proof) -> bool) {
        self.state.lock().keep(holds);
    }
}

impl State {
    fn keep(&mut self, holds: impl Fn(&Proof) -> bool) {
        self.entries.retain(|_, entry| {
            let stays = holds(&entry.proof);
            if !stays {
                entry.over.send_replace(true);
            }
            stays && entry.over.receiver_count() > 0
        });
    }

    /// Ends expired entries, and returns the time until the next one expires; `None` if there is none.
    fn expire(&mut self) -> Option<Duration> {
        let now = SystemTime::now();
        self.keep(|proof| proof.until.is_none_or(|until| until > now));
        if self.entries.is_empty() {
            self.next = None;
            return None;
        }
        let ends = self.entries.values().filter_map(|entry| entry.proof.until);
        let left = ends.filter_map(|end| end.duration_since(now).ok()).min();
        let pause = left.map_or(PAUSE, |left| left.min(PAUSE));
        self.next = Some(now + pause);
        Some(pause)
    }
}

/// Ends entries as they expire, until there are none.
async fn keep_time(admissions: Weak<Admissions>) {
    loop {
        let Some(this) = admissions.upgrade() else {
            return;
        };
        let sooner = Arc::clone(&this.sooner);
        let Some(pause) = this.state.lock().expire() else {
            return;
        };
        drop(this);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = sooner.notified() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(digest: u8, until: Option<Duration>) -> Proof {
        Proof {
            digest: [digest; 32],
            user: User {
                name: format!("user {digest}"),
                groups: Vec::new(),
            },
            until: until.map(|until| SystemTime::now() + until),
            by: ProofSource::Token,
        }
    }

    #[tokio::test]
    async fn an_entry_ends_when_it_expires_and_not_before() {
        let admissions = Arc::new(Admissions::default());
        let admit = |digest, until| admissions.admit(proof(digest, until), |_| true).unwrap();
        let forever = admit(1, None);
        let long = admit(2, Some(Duration::from_hours(1)));
        // By then the task waits for the others.
        tokio::task::yield_now().await;
        let mut short = admit(3, Some(Duration::from_millis(20)));
        short.is_over.wait_for(|over| *over).await.unwrap();
        assert!(!*long.is_over.borrow() && !*forever.is_over.borrow());
        let past = admissions.admit(proof(4, Some(Duration::ZERO)), |_| true);
        assert!(past.is_none());
    }

    #[tokio::test]
    async fn revoked_credentials_end_all_their_admissions() {
        let admissions = Arc::new(Admissions::default());
        let admit = |digest| admissions.admit(proof(digest, None), |_| true).unwrap();
        let (one, again, other) = (admit(1), admit(1), admit(2));
        assert!(Arc::ptr_eq(&one.user, &again.user));
        admissions.keep(|proof| proof.digest != [1; 32]);
        assert!(*one.is_over.borrow() && *again.is_over.borrow());
        assert!(!*other.is_over.borrow());
        assert!(admissions.admit(proof(1, None), |_| false).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_unused_entry_is_removed_and_then_the_task_ends() {
        let admissions = Arc::new(Admissions::default());
        let admitted = admissions.admit(proof(1, None), |_| true).unwrap();
        tokio::time::sleep(PAUSE * 3).await;
        assert_eq!(admissions.state.lock().entries.len(), 1);
        drop(admitted);
        tokio::time::sleep(PAUSE * 3).await;
        let state = admissions.state.lock();
        assert!(state.entries.is_empty() && state.next.is_none());
    }
}
