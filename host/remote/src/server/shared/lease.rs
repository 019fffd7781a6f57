//! The right of a connection to serve a session: two connections have two agents.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use acp_chain_rpc::Mutex;
use acp_chain_store::{Answer, Call, Fence, Holder, LeaseName, TakeRule};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep};

use super::super::connection::{Connection, Ending};
use super::keep::TELLINGS;
use super::slot::LATE;
use super::{Denial, STRIPES, Shared};

/// How long the client of an idle connection is gone before another one of its user may have the sessions.
const GONE: Duration = Duration::from_secs(5);

/// When to come again for a session whose connection is about to end.
const SOON: Duration = Duration::from_secs(2);

/// A lease of a session, which ends with the last clone of its reference.
#[derive(Debug)]
pub struct Lease {
    pub(super) fence: Fence,
    pub(super) holder: Holder,
    /// The one connection that serves the session.
    pub(super) connection: Weak<Connection>,
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
    /// A prompt that is about to be sent, unless one with its key is, or was.
    pub(super) fn prompt(self: &Arc<Self>, key: &str) -> Option<SentPrompt> {
        let is_new = self.prompts.lock().insert(key.to_owned());
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
        self.lease.prompts.lock().remove(&self.key);
        let _ = self.lease.unsent.send(Call::End {
            fence: self.lease.fence.clone(),
            prompt: self.key.clone(),
        });
    }
}

impl Drop for SentPrompt {
    fn drop(&mut self) {
        if !self.is_sent {
            self.lease.prompts.lock().remove(&self.key);
        }
    }
}

impl Shared {
    /// The lease of a session that the agent of this connection has begun. Its name must not reach the client before.
    pub async fn open(
        self: Arc<Self>,
        session: Arc<str>,
        connection: &Arc<Connection>,
    ) -> Result<Arc<Lease>, Denial> {
        let leased = self.lease(&session, TakeRule::New, connection).await;
        leased.map_err(|denial| match denial {
            // The agent counts its sessions anew in each process, or has just ended there.
            Denial::Held(_) => Denial::Reused,
            denial => denial,
        })
    }

    /// The lease of a session, which this connection may have already.
    pub(super) async fn lease(
        self: &Arc<Self>,
        spelling: &str,
        rule: TakeRule,
        connection: &Arc<Connection>,
    ) -> Result<Arc<Lease>, Denial> {
        let name = self.name(spelling, &connection.user);
        let name = name.ok_or(Denial::Unknown)?;
        // On its own: if nobody waits for it any longer, it is released as soon as it is there.
        let connection = Arc::downgrade(connection);
        let taking = Arc::clone(self).take(name, spelling.to_owned(), rule, connection);
        let taken = tokio::spawn(taking).await;
        taken.unwrap_or(Err(Denial::Unavailable(self.again())))
    }

    /// What a connection gets for a lease that is there: the lease, if it is its own. Another connection keeps it, also
    /// one whose generation is over and whose agent has not ended yet; unless its client is gone, and nothing runs.
    fn shown(
        &self,
        lease: Arc<Lease>,
        holder: &Holder,
        rule: TakeRule,
        connection: &Weak<Connection>,
    ) -> Result<Arc<Lease>, Denial> {
        if lease.holder == *holder && lease.connection.ptr_eq(connection) {
            return Ok(lease);
        }
        // A new session is another one, whatever its name.
        let other = lease.connection.upgrade();
        let other = other.filter(|_| rule != TakeRule::New);
        let other = other.filter(|other| other.is_abandoned(Instant::now(), GONE));
        let Some(other) = other else {
            return Err(Denial::Held(self.again()));
        };
        tracing::info!(
            connection = other.id,
            "the client is gone, and its user loads a session elsewhere: the connection ends"
        );
        other.end(Ending::AtOnce);
        Err(Denial::Held(SOON))
    }

    /// Two takings of one name would end each other's lease.
    fn taking(&self, name: &LeaseName) -> &tokio::sync::Mutex<()> {
        let stripe = usize::from_str_radix(&name.session[..2], 16).unwrap_or_default() % STRIPES;
        &self.taking[stripe]
    }

    /// Releases a lease whose number is unknown, as the call that may have taken it has no answer. If there are many,
    /// further ones stay until this replica ends, or loads their sessions.
    fn look_for(self: &Arc<Self>, name: LeaseName, holder: Holder) {
        let Ok(permit) = Arc::clone(&self.lost).try_acquire_owned() else {
            return;
        };
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            for _ in 0..TELLINGS {
                // The call may be carried out yet: until then, there is nothing to release.
                sleep(LATE).await;
                // With its generation, it has ended.
                let has_it = |shared: &Arc<Self>| shared.holder().as_ref() == Some(&holder);
                let Some(shared) = weak.upgrade().filter(has_it) else {
                    break;
                };
                let found = shared.number(&name, &holder).await;
                if let Some(number) = found {
                    shared.release(name, number).await;
                    break;
                }
            }
            drop(permit);
        });
    }

    /// The number of the lease that the store has; 0 if there is none, and `None` without an answer.
    async fn number(&self, name: &LeaseName, holder: &Holder) -> Option<u64> {
        let asked = self.ask(Call::LeaseOf {
            name: name.clone(),
            holder: holder.clone(),
        });
        match asked.await {
            Ok(Answer::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Releases the lease with this number, unless a connection has it. By the number: whenever that is carried out, a
    /// later lease of this replica stays.
    async fn release(&self, name: LeaseName, number: u64) {
        // It may be on its way to its connection.
        let taking = self.taking(&name).lock().await;
        let held = self.state.lock().leases.get(&name).and_then(Weak::upgrade);
        drop(taking);
        let is_held = held.is_some_and(|lease| lease.fence.number == number);
        if number > 0 && !is_held {
            let fence = Fence { name, number };
            let _ = self.unsent.send(Call::Release { fence });
        }
    }

    async fn take(
        self: Arc<Self>,
        name: LeaseName,
        spelling: String,
        rule: TakeRule,
        connection: Weak<Connection>,
    ) -> Result<Arc<Lease>, Denial> {
        let _taking = self.taking(&name).lock().await;
        let holder = self.holder().ok_or(Denial::Unavailable(self.again()))?;
        let (held, seen) = {
            let state = self.state.lock();
            (state.leases.get(&name).and_then(Weak::upgrade), state.seen)
        };
        if let Some(lease) = held {
            return self.shown(lease, &holder, rule, &connection);
        }
        let most = self.settings.sessions_per_user;
        let taken = self.ask(Call::Take {
            name: name.clone(),
            spelling: spelling.clone(),
            holder: holder.clone(),
            rule,
            most: most.filter(|_| !name.user.is_empty()),
            seen,
        });
        let answer = match taken.await {
            Ok(answer) => answer,
            Err(denial) => {
                if matches!(denial, Denial::Unavailable(_)) {
                    self.look_for(name, holder);
                }
                return Err(denial);
            }
        };
        let (number, lost) = match answer {
            Answer::Leased { number, lost } => (number, lost),
            Answer::Held { again } => return Err(Denial::Held(Duration::from_millis(again))),
            Answer::Foreign | Answer::Unknown => return Err(Denial::Unknown),
            Answer::Full => return Err(Denial::Full),
            Answer::Resting { again } => {
                return Err(Denial::Unavailable(Duration::from_millis(again)));
            }
            // Of `Gone` and `Rewound`, the next heartbeat takes care.
            _ => return Err(Denial::Unavailable(self.again())),
        };
        if lost > 0 {
            tracing::warn!(
                user = name.user,
                "{lost} prompts of a session were lost with the replica that had it; they are not sent again"
            );
        }
        let lease = Arc::new(Lease {
            fence: Fence {
                name: name.clone(),
                number,
            },
            holder,
            connection,
            prompts: Mutex::default(),
            unsent: self.unsent.clone(),
        });
        let mut state = self.state.lock();
        state.seen = state.seen.max(number);
        if state.generation != Some(lease.holder.generation) {
            // It is over meanwhile, and the connections with leases have ended.
            return Err(Denial::Unavailable(self.again()));
        }
        state.remember(&name, &spelling);
        state.leases.insert(name, Arc::downgrade(&lease));
        Ok(lease)
    }
}
