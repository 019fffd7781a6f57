//! Heartbeats: while the store has them, leases stay; a moment before they are over, their connections end.

use std::sync::Weak;
use std::time::Duration;

use acp_chain_store::{Answer, Call, PROMPTS_KNOWN, Revocation, StoreError};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use super::super::connection::Ending;
use super::super::registry::Registry;
use super::calls::Calls;
use super::{MARGIN, Shared, SharedError, milliseconds};

/// How many heartbeats fit into a lease.
const BEATS: u32 = 5;

/// The longest time between two heartbeats: they also tell of revocations.
const LONGEST: Duration = Duration::from_secs(5);

/// What the log says about leases that are over for want of heartbeats.
const LATE: &str = "the store of the replicas was not reached in time";

/// How often something is tidied, in heartbeats.
const TIDY: u32 = 100;

/// How often the store is told something, in vain.
pub(super) const TELLINGS: u32 = 60;

impl Shared {
    /// Registers this replica, unless one of its name is alive.
    pub(super) async fn register(&self) -> Result<(), SharedError> {
        let lease = self.settings.lease;
        let sent = Instant::now();
        let seen = self.state.lock().seen;
        let answer = self.calls.ask(Call::Register {
            replica: self.replica.clone(),
            lease: milliseconds(lease),
            seen,
        });
        match answer.await? {
            Answer::Registered { generation } => {
                let mut state = self.state.lock();
                state.generation = Some(generation);
                state.seen = state.seen.max(generation);
                drop(state);
                self.go_on_until(sent + lease.saturating_sub(MARGIN));
                Ok(())
            }
            Answer::NameTaken { again } => Err(SharedError::NameTaken {
                name: self.replica.clone(),
                again: Duration::from_millis(again),
            }),
            _ => Err(SharedError::Odd),
        }
    }

    /// Keeps the leases, and tells the store what it is to know, until this is dropped.
    pub async fn keep(&self, registry: &Registry) {
        let taken = self.sending.lock().take();
        let Some(mut unsent) = taken else {
            return std::future::pending().await;
        };
        let mut beats = interval((self.settings.lease / BEATS).min(LONGEST));
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut count: u32 = 0;
        loop {
            let (is_registered, until) = {
                let state = self.state.lock();
                (state.generation.is_some(), state.until)
            };
            tokio::select! {
                () = sleep_until(until), if is_registered => self.lose(registry, LATE),
                _ = beats.tick() => {
                    self.beat(registry).await;
                    count = count.wrapping_add(1);
                    if count.is_multiple_of(TIDY) {
                        self.tidy();
                    }
                }
                Some(call) = unsent.recv() => {
                    tokio::spawn(tell(self.calls.clone(), call, self.again()));
                }
            }
        }
    }

    /// One heartbeat.
    async fn beat(&self, registry: &Registry) {
        let (generation, until, seen) = {
            let state = self.state.lock();
            (state.generation, state.until, state.seen)
        };
        let Some(generation) = generation else {
            return self.begin_again().await;
        };
        let lease = self.settings.lease;
        let sent = Instant::now();
        let asked = self.calls.ask(Call::Beat {
            holder: self.holder_in(generation),
            lease: milliseconds(lease),
            seen,
        });
        let answer = tokio::select! {
            // First: past it, an answer may be of before.
            biased;
            () = sleep_until(until) => {
                self.calls.count_failure();
                self.lose(registry, LATE);
                return;
            }
            answer = asked => answer,
        };
        match answer {
            Ok(Answer::Beaten { last, revocation }) => {
                self.go_on_until(sent + lease.saturating_sub(MARGIN));
                let known = {
                    let mut state = self.state.lock();
                    state.seen = state.seen.max(last);
                    if std::mem::take(&mut state.is_reported) {
                        tracing::info!("the store of the replicas is reached again");
                    }
                    *state.revocation.get_or_insert(revocation)
                };
                if revocation > known {
                    let carried_out = self.carry_out_revocations(known, registry);
                    // The next heartbeat goes on with the rest.
                    let _ = timeout(lease / BEATS, carried_out).await;
                }
            }
            Ok(Answer::Rewound) => {
                self.lose(registry, "the store of the replicas has lost what was last written, as after a restored backup");
                self.begin_again().await;
            }
            Ok(_) => {
                self.lose(registry, "the leases of this replica are over");
                self.begin_again().await;
            }
            Err(error) => self.report(&error),
        }
    }

    /// Registers again, after a generation has ended; unless this replica has left.
    async fn begin_again(&self) {
        if self.state.lock().has_left {
            return;
        }
        match self.register().await {
            Ok(()) => {
                self.state.lock().is_reported = false;
                tracing::info!("this replica is registered again");
            }
            Err(SharedError::Store(error)) => self.report(&error),
            Err(error) => tracing::error!("this replica cannot be registered: {error}"),
        }
    }

    /// Ends the generation here: the connections with leases or slots end.
    fn lose(&self, registry: &Registry, why: &str) {
        let mut state = self.state.lock();
        // What its connections still have, they have until their agents have ended.
        state.generation = None;
        // The store may have lost who owns them.
        state.own.clear();
        // A lease may be on its way to its connection.
        let leases: Vec<_> = state.leases.values().filter_map(Weak::upgrade).collect();
        drop(state);
        for lease in leases {
            if let Some(connection) = lease.connection.upgrade() {
                connection.end(Ending::AtOnce);
            }
        }
        self.figures.lost.add(1);
        // The others go on.
        self.settings.watch.tell(None);
        let ended = registry.end_leased();
        tracing::error!("{why}: {ended} connections end");
    }

    fn report(&self, error: &StoreError) {
        if !std::mem::replace(&mut self.state.lock().is_reported, true) {
            tracing::error!("the store of the replicas cannot be used: {error}");
        }
    }

    async fn carry_out_revocations(&self, since: u64, registry: &Registry) {
        let Ok(Answer::Revocations(revocations)) = self.calls.ask(Call::Revoked { since }).await
        else {
            // The next heartbeat asks again.
            return;
        };
        for Revocation { number, kind, name } in revocations {
            match &*kind {
                "user" => registry.end_user(&name),
                "session" => registry.end_session(&name),
                _ => tracing::warn!("a revocation of an unknown kind is passed over"),
            }
            self.state.lock().revocation = Some(number);
        }
    }

    /// Forgets what is over, here and in the store.
    fn tidy(&self) {
        let mut state = self.state.lock();
        state.leases.retain(|_, lease| lease.strong_count() > 0);
        let now = Instant::now();
        state.parts.retain(|_, part| part.is_of_use(now));
        drop(state);
        let _ = self.unsent.send(Call::Tidy {
            prompts: milliseconds(PROMPTS_KNOWN),
        });
    }
}

/// Tells the store something, again for a while if it cannot be reached: a lease that is not released stays until this
/// replica ends.
async fn tell(calls: Calls, call: Call, pause: Duration) {
    for _ in 0..TELLINGS {
        match calls.ask(call.clone()).await {
            Err(StoreError::Unavailable(_) | StoreError::Slow | StoreError::Busy) => {
                sleep(pause).await;
            }
            Ok(_) | Err(StoreError::Limit(_) | StoreError::Gone) => return,
        }
    }
}
