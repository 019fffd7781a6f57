//! Open requests: where they came from, where they are, and whether they were cancelled.

use std::sync::Arc;

use crate::route::{HopIndex, Route};
use acp_chain_acp::{HOOK, Life};
use acp_chain_channel::limits::Charge;
use acp_chain_channel::{MessageId, Peer};
use acp_chain_mcp::OutgoingId;
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::{Id, Message};

/// The number of an open request, which is also its id on the wire where it leaves the chain.
pub type ExchangeId = u64;

/// The requester, which waits for the answer.
#[derive(Debug)]
pub enum Origin {
    /// The client or the agent, with its own id for the request.
    Edge(Peer, Id),
    /// A proxy, with its own number for the request.
    Hop(HopIndex, MessageId),
    /// A native proxy, with its own id for the request.
    Native(HopIndex, Id),
    /// The host, which sends a restarted native proxy the client's first message.
    Introduction,
    /// A hook of the agent, with this number.
    Hook(u64),
    /// The seat of an MCP server, with its own number for the request.
    Seat(ServerId, OutgoingId),
    /// An MCP client of the agent, with its own id for the request.
    Link(LinkId, Id),
    /// The host, which sends `mcp/connect` to this server for an MCP client of the agent.
    Connecting(LinkId, ServerId),
    /// The host, which sends `mcp/disconnect` for an MCP client of the agent.
    Leaving(LinkId),
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Waiting for the project of its session to be found.
    Waiting,
    /// Waiting at the agent's end for a sign of life of the agent's hooks.
    Unproven,
    /// On its way to the far side, at a proxy that has been called with it, or at the host for a stored value.
    Moving,
    /// Held by a proxy, which has this number for it.
    Held(HopIndex, MessageId),
    /// Sent to the client or the agent at the far side.
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
    pub life: Life,
    pub session: Option<Arc<str>>,
    /// Empty unless a proxy has changed the request's session. Then the original session with the requester's position,
    /// and each new session with its proxy's position.
    pub renamed: Vec<(usize, Option<Arc<str>>)>,
    pub stage: Stage,
    /// The proxies that have seen the request, each with its own number for it.
    pub seen: Vec<(HopIndex, MessageId)>,
    /// The sender's `$/cancel_request`.
    pub cancel: Option<Message>,
    /// Whether the request is a prompt or a permission request whose turn was stopped while a proxy held it, or a
    /// prompt whose turn the agent was told to stop.
    pub stopped: bool,
    /// The state of the turn, if the request is a prompt.
    pub turn: PromptState,
    /// The charge for the request, unless it is the host's own.
    pub charge: Option<Charge>,
    /// The charges for the new sessions in `renamed`.
    pub charges: Vec<Charge>,
    /// Whether this is an MCP request of the stateless dialect (see [`mcp::seat`](acp_chain_mcp::seat)).
    pub stands_alone: bool,
}

/// The state of an open prompt's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptState {
    /// The turn has not begun yet, or runs.
    Open,
    /// The client has stopped the turn.
    GivenUp,
    /// The agent has ended the session: the answer begins no turn.
    Over,
}

/// A turn that goes on after its prompt is answered.
#[derive(Debug)]
pub struct Turn {
    /// Whether the client has stopped the turn; of a turn as the agent has it, whether the agent was told to stop it.
    pub is_given_up: bool,
    pub charge: Charge,
}

impl Exchange {
    /// The cost of keeping a request with this id open, in bytes.
    #[inline]
    pub fn cost(id: Option<&Id>, request: &Message) -> usize {
        /// The cost of the map entries, and of a short cancellation.
        const ENTRIES: usize = 512;
        // The id is kept twice: here, and among the sender's open requests.
        let id = id.map_or(0, |id| 2 * id.as_str().len());
        let session = request.session().map_or(0, |session| session.len());
        size_of::<Self>() + ENTRIES + id + request.method().len() + session
    }

    /// Charges this many more bytes for the request. Returns whether there is room for them.
    #[inline]
    pub fn may_grow(&mut self, bytes: usize) -> bool {
        self.charge.as_mut().is_none_or(|charge| charge.grow(bytes))
    }

    /// Whether the request is about a tool run that the agent's hooks report.
    #[inline]
    pub fn is_of_hook(&self) -> bool {
        self.method.starts_with(HOOK)
    }

    /// The session of the request, after the changes by proxies so far.
    #[inline]
    pub fn far_session(&self) -> Option<&Arc<str>> {
        match self.renamed.last() {
            Some((_, session)) => session.as_ref(),
            None => self.session.as_ref(),
        }
    }

    /// Whether it is a prompt in this session, which is named as the agent does.
    #[inline]
    pub fn is_prompt_in(&self, session: &Arc<str>) -> bool {
        self.life == Life::Prompts && self.far_session() == Some(session)
    }

    /// A proxy's own number for the request, if the proxy has seen it.
    #[inline]
    pub fn number_at(&self, hop: HopIndex) -> Option<MessageId> {
        self.seen
            .iter()
            .find(|(seen, _)| *seen == hop)
            .map(|(_, id)| *id)
    }
}
