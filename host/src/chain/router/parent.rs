//! A chain that is itself a proxy (RFD proxy-chains): its parent, another conductor, stands for both
//! ends.
//!
//! What the parent says plainly comes from the client's side, and what it carries in
//! `proxy/successor` from the agent's; what it is told goes likewise. Answers and cancellations are
//! plain either way. All ids are the parent's own, of which no two are open at once, so one edge
//! serves both ends.

use super::Router;
use super::cancel::CANCEL;
use crate::channel::Peer;
use crate::native::Dialect;
use crate::rpc::Message;

impl Router {
    /// Makes the chain a proxy, of a parent that speaks like this.
    pub fn set_parent(&mut self, dialect: Dialect) {
        self.parent = Some(dialect);
    }

    /// Queues a message for an end, as a call under this id if it wants an answer.
    pub(super) fn send(&mut self, to: Peer, message: &Message, id: Option<&str>) {
        let is_plain =
            to == Peer::Client || message.kind().is_response() || &**message.method() == CANCEL;
        match self.parent {
            Some(dialect) if !is_plain => {
                self.client.send_within(dialect.successor(), message, id);
            }
            _ => self.edge(to).send(message, id),
        }
    }
}
