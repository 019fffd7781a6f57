//! Tickets that open a WebSocket at any replica, once.

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
    pub async fn redeem(&self, ticket: String) -> Result<Option<String>, Denial> {
        // Strangers may offer any number of tickets. Those of users must not wait for all of them.
        let _one = self.redeeming.acquire().await;
        let seen = self.state.lock().seen;
        match self.ask(Call::Redeem { ticket, seen }).await? {
            Answer::Sealed(sealed) => Ok(sealed),
            // Of `Rewound`, the next heartbeat takes care.
            _ => Err(Denial::Unavailable(self.again())),
        }
    }
}
