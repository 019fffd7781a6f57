//! Slots: what counts for limits at all replicas while it goes on, connections of a user and turns of a user or group.

use std::sync::Arc;
use std::time::Duration;

use acp_chain_store::{Answer, Call, Holder, SlotLimit};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep};

use super::super::connection::Connection;
use super::super::shares::AGAIN;
use super::{Denial, Shared};
use crate::User;

/// The kind of limit, as the store has it.
const CONNECTIONS: &str = "connections";

/// For how long a call without an answer may still be carried out: the process of the store waits for the database.
pub(super) const LATE: Duration = Duration::from_secs(10);

/// A slot, which the store gets back when this is dropped.
#[derive(Debug)]
pub struct Slot {
    holder: Holder,
    number: u64,
    unsent: UnboundedSender<Call>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // It is not taken once the server has ended, and then the slot has.
        let _ = self.unsent.send(Call::Vacate {
            holder: self.holder.clone(),
            slot: self.number,
        });
    }
}

impl Shared {
    /// The slot of a connection of this user, who has at most this many; `None` if they are not counted.
    pub async fn slot_of_connection(
        self: &Arc<Self>,
        user: &User,
        most: usize,
    ) -> Result<Option<Slot>, Denial> {
        let limit = SlotLimit {
            kind: CONNECTIONS.to_owned(),
            account: user.name.clone(),
            most: most as u64,
        };
        let limits = Some(limit).filter(|_| most < usize::MAX);
        let full = Denial::Connections(AGAIN);
        self.occupy(limits.into_iter().collect(), full).await
    }

    /// The slot of a turn of a connection's user; `None` if they are not counted. The store is not asked about users
    /// who are not next here, or have as many turns here alone.
    pub(super) async fn slot_of_turn(
        self: &Arc<Self>,
        connection: &Connection,
    ) -> Result<Option<Slot>, Denial> {
        let (account, user) = (&connection.account, &connection.user);
        let full = Denial::Turns(AGAIN);
        let occupied = if account.shares.has_room(user) {
            let next = account.turns.front(&user.name, Instant::now());
            next.map_err(Denial::Busy)?;
            let limits = account.shares.limits.of(user);
            self.occupy(limits, full).await
        } else {
            Err(full)
        };
        if occupied.is_err() {
            // Others need not wait for a turn that may not begin.
            account.turns.leave(&user.name);
        }
        occupied
    }

    /// A slot that counts for these limits, or `full` if one of them is reached.
    async fn occupy(
        self: &Arc<Self>,
        limits: Vec<SlotLimit>,
        full: Denial,
    ) -> Result<Option<Slot>, Denial> {
        if limits.is_empty() {
            return Ok(None);
        }
        // On its own: if no request waits for it any longer, it is given back as soon as it is there.
        let occupying = Arc::clone(self).take_slot(limits, full);
        let occupied = tokio::spawn(occupying).await;
        match occupied.unwrap_or(Err(Denial::Unavailable(self.again()))) {
            Ok(slot) => Ok(Some(slot)),
            Err(Denial::Unavailable(_)) if self.settings.budgets.are_open => Ok(None),
            Err(denial) => Err(denial),
        }
    }

    async fn take_slot(
        self: Arc<Self>,
        limits: Vec<SlotLimit>,
        full: Denial,
    ) -> Result<Slot, Denial> {
        let unavailable = Denial::Unavailable(self.again());
        let holder = self.holder().ok_or(unavailable)?;
        let number = {
            let mut state = self.state.lock();
            // While the store is known to be away, it is not asked in vain: each such slot would have to be taken back.
            if state.is_reported {
                return Err(unavailable);
            }
            state.slots += 1;
            state.slots
        };
        let asked = self.ask(Call::Occupy {
            holder: holder.clone(),
            slot: number,
            limits,
        });
        let answer = asked.await;
        let slot = || Slot {
            holder,
            number,
            unsent: self.unsent.clone(),
        };
        match answer {
            // If the generation is over meanwhile, the connections with slots have ended.
            Ok(Answer::Done) => {
                let own = Some(slot()).filter(|slot| self.holder().as_ref() == Some(&slot.holder));
                own.ok_or(unavailable)
            }
            Ok(Answer::Full) => Err(full),
            // Of `Gone`, the next heartbeat takes care.
            Ok(_) => Err(unavailable),
            Err(denial) => {
                // The call may have been carried out, or may be yet: until then, nothing can be given back.
                let late = slot();
                tokio::spawn(async move {
                    sleep(LATE).await;
                    drop(late);
                });
                Err(denial)
            }
        }
    }
}
