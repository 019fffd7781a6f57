//! A chain that is itself a proxy (RFD proxy-chains): its parent, another conductor, stands for both
//! ends.
//!
//! What the parent says plainly comes from the client's side, and what it carries in
//! `proxy/successor` from the agent's; what it is told goes likewise. Answers and cancellations are
//! plain either way. All ids are the parent's own, of which no two are open at once, so one edge
//! serves both ends.

use super::Router;
use super::cancel::CANCEL;
use super::intake::{is_host_method, opened};
use crate::chain::start::INITIALIZE;
use crate::channel::Peer;
use crate::native::{Dialect, is_successor};
use crate::rpc::{Error, Kind, Message, code};

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

/// Which end a message of the parent's comes from, and what of it.
pub(super) fn sorted(message: Message) -> Result<(Peer, Message), Error> {
    let method = message.method();
    if is_successor(method) {
        return Ok((Peer::Agent, opened(&message)?));
    }
    if Dialect::of_initialize(method).is_some() && message.kind() == Kind::Request {
        // To the parts of the chain it is what a client begins with.
        return Ok((Peer::Client, message.with_method(INITIALIZE)));
    }
    match is_host_method(method) || &**method == INITIALIZE {
        true => {
            let reason = format!("{method} is not for a proxy");
            Err(Error::new(code::INVALID_REQUEST, reason))
        }
        false => Ok((Peer::Client, message)),
    }
}
