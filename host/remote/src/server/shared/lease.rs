//! The right to serve a session. All connections of this server with the session share it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use acp_chain_store::{Answer, Call, Fence, Holder, LeaseName, TakeRule};
use tokio::sync::mpsc::UnboundedSender;

use super::{Denial, STRIPES, Shared};
use crate::User;

/// A lease of a session, which ends with the last clone of its reference.
#[derive(Debug)]
pub struct Lease {
    pub(super) fence: Fence,
    pub(super) holder: Holder,
    /// The keys of prompts that are about to be sent, or were sent and not answered.
    prompts: Mutex<HashSet<String>>,
    unsent: UnboundedSender<Call>,
}

/// A prompt with a key. Until it is sent, its key is free again when this is dropped.
#[derive(Debug)]
pub struct SentPrompt {
    lease: Arc<Lease>,
    key: String,
    is_sent: bool,
}

impl Lease {
    fn prompts(&self) -> MutexGuard<'_, HashSet<String>> {
        self.prompts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prompt that is about to be sent, unless one with its key is, or was.
    pub(super) fn prompt(self: &Arc<Self>, key: &str) -> Option<SentPrompt> {
        let is_new = self.prompts().insert(key.to_owned());
        is_new.then(|| SentPrompt {
            lease: Arc::clone(self),
            key: key.to_owned(),
            is_sent: false,
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let fence = self.fence.clone();
        // Nobody takes it once the server has ended, and then all leases have.
        let _ = self.unsent.send(Call::Release { fence });
    }
}

impl SentPrompt {
    /// Notes that the prompt was sent.
    pub fn mark_sent(&mut self) {
        self.is_sent = true;
    }

    /// Tells the store that the prompt was answered. If that gets lost, the prompt counts as lost, and is not repeated
    /// either.
    pub fn end(self) {
        self.lease.prompts().remove(&self.key);
        let _ = self.lease.unsent.send(Call::End {
            fence: self.lease.fence.clone(),
            prompt: self.key.clone(),
        });
    }
}

impl Drop for SentPrompt {
    fn drop(&mut self) {
        if !self.is_sent {
            self.lease.prompts().remove(&self.key);
        }
    }
}

impl Shared {
    /// The lease of a session that an agent of this user has begun. Its name must not reach the client before.
    pub async fn open(
        self: Arc<Self>,
        session: Arc<str>,
        user: Arc<User>,
    ) -> Result<Arc<Lease>, Denial> {
        let name = self.name(&session, &user).ok_or(Denial::Unknown)?;
        self.lease(&name, &session, TakeRule::New).await
    }

    /// The lease of a session, which this server may have already.
    pub(super) async fn lease(
        self: &Arc<Self>,
        name: &LeaseName,
        spelling: &str,
        rule: TakeRule,
    ) -> Result<Arc<Lease>, Denial> {
        // On its own: if nobody waits for it any longer, it is released as soon as it is there.
        let taking = Arc::clone(self).take(name.clone(), spelling.to_owned(), rule);
        let taken = tokio::spawn(taking).await;
        taken.unwrap_or(Err(Denial::Unavailable(self.again())))
    }

    async fn take(
        self: Arc<Self>,
        name: LeaseName,
        spelling: String,
        rule: TakeRule,
    ) -> Result<Arc<Lease>, Denial> {
        // Two takings of one name would end each other's lease.
        let stripe = usize::from_str_radix(&name.session[..2], 16).unwrap_or_default() % STRIPES;
        let _taking = self.taking[stripe].lock().await;
        let holder = self.holder().ok_or(Denial::Unavailable(self.again()))?;
        let held = self.state().leases.get(&name).and_then(Weak::upgrade);
        if let Some(lease) = held.filter(|lease| lease.holder == holder) {
            return Ok(lease);
        }
        let most = self.settings.sessions_per_user;
        let taken = self.ask(Call::Take {
            name: name.clone(),
            spelling: spelling.clone(),
            holder: holder.clone(),
            rule,
            most: most.filter(|_| !name.user.is_empty()),
        });
        let (number, lost) = match taken.await? {
            Answer::Leased { number, lost } => (number, lost),
            Answer::Held { again } => return Err(Denial::Held(Duration::from_millis(again))),
            Answer::Foreign | Answer::Unknown => return Err(Denial::Unknown),
            Answer::Full => return Err(Denial::Full),
            // Of `Gone`, the next heartbeat takes care.
            _ => return Err(Denial::Unavailable(self.again())),
        };
        if lost > 0 {
            tracing::warn!(
                user = name.user,
                "{lost} prompts of a session were lost with the replica that had it; they are not sent again"
            );
        }
        self.remember(&name, &spelling);
        let lease = Arc::new(Lease {
            fence: Fence {
                name: name.clone(),
                number,
            },
            holder,
            prompts: Mutex::default(),
            unsent: self.unsent.clone(),
        });
        let mut state = self.state();
        state.seen = state.seen.max(number);
        state.leases.insert(name, Arc::downgrade(&lease));
        Ok(lease)
    }
}
