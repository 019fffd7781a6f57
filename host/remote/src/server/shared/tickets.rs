//! Tickets that open a WebSocket at any replica, once.

use std::sync::Arc;

use acp_chain_store::{Answer, Call};

use super::{Denial, Shared, milliseconds};
use crate::User;
use crate::gate::{SealedTicket, TICKET_LIFE};

impl Shared {
    /// Keeps what is sealed with a new ticket of a user.
    pub async fn issue(&self, ticket: &SealedTicket, user: &User) -> Result<(), Denial> {
        let issued = self.ask(Call::Issue {
            ticket: ticket.name.clone(),
            user: user.name.clone(),
            sealed: ticket.sealed.clone(),
            life: milliseconds(TICKET_LIFE),
        });
        issued.await.map(drop)
    }

    /// Uses up the ticket of this name, and returns what is sealed with it, if it is valid.
    pub async fn redeem(self: &Arc<Self>, ticket: String) -> Result<Option<String>, Denial> {
        // Strangers may offer any number of tickets. Other calls must not wait for all of them.
        let permit = Arc::clone(&self.redeeming).acquire_owned().await;
        let shared = Arc::clone(self);
        // On its own: a stranger who has left makes no room for another one before the store has answered.
        let redeeming = async move {
            let redeemed = shared.look_up(ticket).await;
            drop(permit);
            redeemed
        };
        let redeemed = tokio::spawn(redeeming).await;
        redeemed.unwrap_or(Err(Denial::Unavailable(self.again())))
    }

    async fn look_up(&self, ticket: String) -> Result<Option<String>, Denial> {
        let seen = self.state.lock().seen;
        match self.ask(Call::Redeem { ticket, seen }).await? {
            Answer::Sealed(sealed) => Ok(sealed),
            // Of `Rewound`, the next heartbeat takes care.
            _ => Err(Denial::Unavailable(self.again())),
        }
    }
}
