//! Open requests: where they came from, where they are, and whether they were cancelled.

use std::sync::Arc;

use super::route::{HopIndex, Route};
use acp_chain_acp::Life;
use acp_chain_channel::limits::Charge;
use acp_chain_channel::{MessageId, Peer};
use acp_chain_mcp::Question;
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::{Id, Message};

/// The number of an open request, and its id on the wire wherever it leaves the chain.
pub type ExchangeId = u64;

/// Who waits for the answer.
#[derive(Debug)]
pub enum Origin {
    /// The client or the agent, under this id of its own.
    Edge(Peer, Id),
    /// A proxy, under this number of its own.
    Hop(HopIndex, MessageId),
    /// A native proxy, under this id of its own.
    Native(HopIndex, Id),
    /// The host, which sends a restarted native proxy the client's first message.
    Introduction,
    /// The seat of an MCP server, under this number of its own.
    Seat(ServerId, Question),
    /// An MCP client of the agent, under this id of its own.
    Link(LinkId, Id),
    /// The host, which connects an MCP client of the agent.
    Connecting(LinkId),
    /// The host, which disconnects an MCP client of the agent.
    Leaving(LinkId),
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Waiting for the project of its session to be found.
    Waiting,
    /// On its way to the far side, or in the hands of a proxy that is about to decide.
    Moving,
    /// Held by a proxy, under this number.
    Held(HopIndex, MessageId),
    /// With the client or the agent at the far side.
    Out,
    /// With a native proxy.
    Native(HopIndex),
    /// With an MCP client of the agent.
    Link(LinkId),
    /// At the seat of an MCP server.
    Seat(ServerId),
    /// Answered; the answer is on its way back.
    Returning,
}

/// One open request.
#[derive(Debug)]
pub struct Exchange {
    pub origin: Origin,
    /// The direction of the request.
    pub toward: Peer,
    pub route: Route,
    pub method: Arc<str>,
    /// What it does, by its method.
    pub life: Life,
    pub session: Option<Arc<str>>,
    /// Where a proxy gave the request another session, by position, and which.
    pub renamed: Vec<(usize, Option<Arc<str>>)>,
    pub stage: Stage,
    /// The proxies that saw the request, each with its number for it.
    pub seen: Vec<(HopIndex, MessageId)>,
    /// The sender's `$/cancel_request`.
    pub cancel: Option<Message>,
    /// Whether it is a prompt or a permission request whose turn was stopped while a proxy held it.
    pub stopped: bool,
    /// How its turn stands, if it is a prompt, wherever it is.
    pub turn: Standing,
    /// The account on which it is kept, unless it is the host's own.
    pub charge: Option<Charge>,
    /// The accounts on which its further sessions are kept.
    pub charges: Vec<Charge>,
    /// Whether it is an MCP request of the stateless dialect (see [`mcp::seat`](acp_chain_mcp::seat)).
    pub stands_alone: bool,
}

/// How the turn of an open prompt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is to come, or runs.
    Open,
    /// The client has stopped it.
    GivenUp,
    /// The agent has ended its session: the answer begins no turn.
    Over,
}

/// A turn of the client that goes on after its prompt is answered.
#[derive(Debug)]
pub struct Turn {
    /// Whether the client has stopped it.
    pub is_given_up: bool,
    /// The account on which it is kept.
    pub _charge: Charge,
}

impl Exchange {
    /// What it costs to keep a request with this id open, in bytes.
    pub fn cost(id: Option<&Id>, request: &Message) -> usize {
        /// The cost of its map entries, and of a short cancellation.
        const ENTRIES: usize = 512;
        // The id is kept here and with its sender's.
        let id = id.map_or(0, |id| 2 * id.as_str().len());
        let session = request.session().map_or(0, |session| session.len());
        size_of::<Self>() + ENTRIES + id + request.method().len() + session
    }

    /// Whether this many more bytes may be kept for it.
    pub fn may_grow(&mut self, bytes: usize) -> bool {
        self.charge.as_mut().is_none_or(|charge| charge.grow(bytes))
    }

    /// The session of the request, as its current holder knows it.
    pub fn far_session(&self) -> Option<&Arc<str>> {
        match self.renamed.last() {
            Some((_, session)) => session.as_ref(),
            None => self.session.as_ref(),
        }
    }

    /// The number by which a proxy knows the request.
    pub fn number_at(&self, hop: HopIndex) -> Option<MessageId> {
        self.seen
            .iter()
            .find(|(seen, _)| *seen == hop)
            .map(|(_, id)| *id)
    }
}
