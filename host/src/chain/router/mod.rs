//! The router: a state machine that takes messages in at the ends, carries them through the
//! proxies, and puts them out at the other end. It does no input or output of its own.

mod calls;
mod cancel;
mod core;
mod exchanges;
mod failure;
mod guards;
mod intake;
mod mcp;
mod native;
mod notice;
mod scope;
mod sides;
mod trace;
mod travel;
mod turns;
mod verdict;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use calls::{Finished, RUN};

use self::core::Core;
use self::mcp::Mcp;
use super::hop::{Hop, Member};
use super::route::HopIndex;
use crate::channel::Peer;
use crate::mcp::door::{Door, Transport};
use crate::native::Dialect;
use crate::native::Supervisor;
use crate::rpc::{Error, Id, Outbox};
use crate::trace::Trace;

/// Carries messages between a client and an agent through proxies.
pub struct Router {
    core: Core,
    mcp: Mcp,
}

impl Router {
    /// A router with these proxies, the client's neighbour first.
    #[must_use]
    pub fn new<P: Into<Member>>(proxies: Vec<P>, trace: Option<Trace>) -> Self {
        let core = Core::new(proxies, trace);
        Self {
            mcp: Mcp::new(&core.kept),
            core,
        }
    }

    /// Makes the chain a proxy, of a parent that speaks like this.
    pub fn set_parent(&mut self, dialect: Dialect) {
        self.core.parent = Some(dialect);
    }

    /// Lets the agent in by a door, with this program as the way to it, whose sockets the supervisor
    /// opens if there is one. By this transport, if the agent can choose.
    pub fn set_door(
        &mut self,
        shim: PathBuf,
        supervisor: Option<Supervisor>,
        transport: Transport,
    ) {
        self.mcp.door = Door::new(shim, &self.core.kept).supervised(supervisor);
        self.mcp.servers.bridge = transport;
    }

    /// Names the log in what the user is told.
    pub fn set_log(&mut self, log: Option<PathBuf>) {
        self.core.log = log;
    }

    /// What waits to be written to one end.
    pub fn outbox(&mut self, peer: Peer) -> &mut Outbox {
        match peer {
            Peer::Client => &mut self.core.client.outbox,
            Peer::Agent => &mut self.core.agent.outbox,
        }
    }

    /// How many bytes wait for proxies that are busy.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.core.hops.iter().map(Hop::backlog).sum()
    }

    /// How many of them wait for this proxy.
    #[must_use]
    pub fn waiting_for(&self, index: HopIndex) -> usize {
        self.core.hops.get(index).map_or(0, Hop::backlog)
    }

    /// Tells the user something, and where there is more about it, as soon as there is a turn.
    pub fn tell_user(&mut self, text: &str) {
        self.core.tell_user(text);
    }

    /// Answers one end directly, past all proxies; without an id, with the id null.
    pub fn tell(&mut self, to: Peer, id: Option<&Id>, error: &Error) {
        self.core.tell(to, id, error);
    }

    /// Counts what an end says to no effect, and why; the log gets the first hundred, and ever fewer
    /// of the others.
    pub fn note_discarded(&mut self, from: Peer, why: &str) {
        self.core.note_discarded(from, why);
    }

    /// Whether a request of this end still has no answer.
    #[must_use]
    pub fn is_owed(&self, peer: Peer) -> bool {
        let edge = match peer {
            Peer::Client => &self.core.client,
            Peer::Agent => &self.core.agent,
        };
        !edge.open.is_empty()
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Router")
            .field(
                "hops",
                &self
                    .core
                    .hops
                    .iter()
                    .map(|hop| &hop.name)
                    .collect::<Vec<_>>(),
            )
            .field("exchanges", &self.core.exchanges.len())
            .finish_non_exhaustive()
    }
}
