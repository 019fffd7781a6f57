//! MCP over ACP in a chain: the servers of its sessions, their providers, and their callers.
//!
//! A caller's message is routed like any other, up to the [seat](acp_chain_mcp::seat) of the server, which is behind
//! its provider. There its route ends, and the seat sends its own messages to the provider. Messages of the provider to
//! its callers go in the other direction.

mod callers;
mod closing;
mod declare;
mod links;
mod outputs;
mod providers;
mod seats;
mod servers;
mod to_links;

pub(super) use servers::Provider;

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use self::servers::{Connection, Server, Servers};
use super::core::Core;
use super::steps::Task;
use super::turns::AgentTurns;
use crate::losses::Loss;
use acp_chain_acp::{MCP_MESSAGE, TurnState, Turns};
use acp_chain_bridge::Bridge;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Account;
use acp_chain_hops::exchange::Turn;
use acp_chain_hops::route::Place;
use acp_chain_mcp::capabilities::Capabilities;
use acp_chain_mcp::component::channel::FromComponent;
use acp_chain_mcp::protocol::code;
use acp_chain_mcp::reach::Reach;
use acp_chain_mcp::seat::{Input, Output};
use acp_chain_mcp::{ServerId, wire};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Message, code as rpc_code};

/// The cost of keeping a turn, besides the name of its session.
const TURN: usize = 128;

pub(super) struct Mcp {
    /// The MCP servers of the sessions.
    pub servers: Servers,
    /// How an agent without MCP over ACP reaches the servers.
    pub bridge: Bridge,
    /// How the agent reaches the servers, where there is a choice.
    pub reach: Reach,
    /// The capabilities of the agent.
    pub agent: Capabilities,
    /// The turns that go on after the agent has answered their prompts, by the agent's name of the session.
    pub turns: AgentTurns,
    /// Whether the user is notified of proxies with tools to which the agent does not connect.
    pub tells_unused: bool,
    /// The outputs of seats that are not carried out yet, in order.
    wanted: VecDeque<(ServerId, Output)>,
    /// Whether a step to carry out the outputs is pending.
    is_due: bool,
}

impl Mcp {
    /// No servers, and a closed bridge; its accounts are parts of `kept`.
    pub fn new(kept: &Account) -> Self {
        Self {
            servers: Servers::new(kept),
            bridge: Bridge::new(PathBuf::new(), kept),
            reach: Reach::default(),
            agent: Capabilities::default(),
            turns: Turns::new(),
            tells_unused: false,
            wanted: VecDeque::new(),
            is_due: false,
        }
    }

    /// Whether the agent keeps one connection to a server for all of its sessions.
    fn shares(&self) -> bool {
        self.reach.shared.unwrap_or(self.agent.shares)
    }

    /// Notes a state update: in version 2, the agent reports in which sessions a turn runs (RFD v2/prompt,
    /// `state_update`).
    #[inline]
    pub fn note_state(&mut self, core: &mut Core, message: &Message) {
        if message.update() == Some("state_update") {
            self.note_turn(core, message);
        }
    }

    #[cold]
    fn note_turn(&mut self, core: &mut Core, message: &Message) {
        let Some(session) = message.session() else {
            return;
        };
        if message.is_idle() {
            self.turns.end(session);
            self.tell_unused(core, session);
        } else {
            let turn = || {
                let charge = core.agent.kept.charge(session.len() + TURN)?;
                Some(Turn {
                    is_given_up: false,
                    charge,
                })
            };
            self.turns.work(session.clone(), turn);
        }
    }

    /// Whether answers to prompts must be noted here.
    #[inline]
    pub fn tracks_turns(&self) -> bool {
        self.tells_unused || self.turns.acknowledges()
    }

    /// Notes that the agent answers a prompt of a session, whose turn it was told to stop if `is_given_up`.
    pub fn note_answered(
        &mut self,
        core: &mut Core,
        session: Arc<str>,
        ends: bool,
        is_given_up: bool,
    ) {
        if ends || !self.turns.acknowledges() {
            return self.tell_unused(core, &session);
        }
        let Some(charge) = core.agent.kept.charge(session.len() + TURN) else {
            return;
        };
        let turn = Turn {
            is_given_up,
            charge,
        };
        if let TurnState::Joins(_) = self.turns.answer(session.clone(), turn, false)
            && let Some(running) = self.turns.get_mut(&session)
        {
            // What the agent was told to stop is stopped only as long as no other prompt has joined it.
            running.is_given_up &= is_given_up;
        }
    }

    /// Handles the end of a turn: notifies the user, once, of proxies to whose tools the agent has not connected.
    fn tell_unused(&mut self, core: &mut Core, session: &str) {
        if !self.tells_unused {
            return;
        }
        let all = self.servers.all.values();
        let unused = all.filter(|server| !server.is_settled && server.is_of(session));
        let unused: BTreeSet<_> = unused.filter_map(Server::proxy).collect();
        for index in unused {
            let name = quote(core.hops[index].name(), MAX_QUOTE);
            let text = format!(
                "the agent has not connected to the tools of the proxy `{name}`, so they have no effect. Some agents \
                 start no MCP servers in a folder that they do not trust (Gemini: `/permissions trust`, or \
                 `~/.gemini/trustedFolders.json`), or none that an editor declares"
            );
            core.tell_once(&format!("unused {name}"), &text);
        }
    }

    /// The router of MCP messages, for one handler.
    pub fn router<'a>(&'a mut self, core: &'a mut Core) -> McpRouter<'a> {
        McpRouter { mcp: self, core }
    }
}

/// Routes MCP messages between callers and providers: the handlers that need the state of MCP and of the chain, and
/// push steps.
pub(super) struct McpRouter<'a> {
    mcp: &'a mut Mcp,
    core: &'a mut Core,
}

impl McpRouter<'_> {
    /// Reports a dropped message of an MCP client of the agent.
    fn lose_of_client(&mut self, why: &dyn Display) {
        let agent = Place::Edge(Peer::Agent);
        self.core.lose(Loss::Unconnected, agent, why);
    }

    /// Continues with a task.
    pub fn go_on(&mut self, task: Task) {
        match task {
            Task::Wanted => self.carry_out_next(),
            Task::CatchUp(ask) => self.catch_up_with_cancel(ask),
            Task::Withdrawn(server, ask) => self.end_withdrawn(server, ask),
            Task::Disconnect(connection) => self.disconnect(connection, None, None),
            Task::DisconnectAll(server) => {
                let own = |connection: &Connection| connection.server == server;
                self.mcp.servers.disconnect(own, &mut self.core.steps);
            }
            Task::Disconnected {
                server,
                connection,
                ask,
                said,
            } => {
                let input = Input::Disconnect {
                    ask,
                    connection,
                    meta: said.as_ref().and_then(|said| wire::meta(said.body())),
                };
                self.give(server, input);
            }
            Task::Close(server) => self.close_server(server),
            Task::Over(server) => self.give(server, Input::Over),
            Task::Remove(server) => {
                self.mcp.servers.all.remove(&server);
                self.mcp.bridge.close(server);
            }
            Task::SendConnected(link, message) => self.send_connected(link, &message),
            Task::LinkLost(link) => self.withdraw_all_of_link(link),
            Task::Leave(link, connection) => self.leave(link, connection),
            Task::ProviderRestarted(index) => self.tell_restarted(index),
            Task::Changed(server, change) => {
                self.give(server, Input::Component(FromComponent::Changed(&change)));
            }
            Task::ProviderLost(server) => self.tell_provider_lost(server),
            Task::ForgetConnections(server) => self.mcp.forget_connections(server),
            Task::GiveAsks(server, call, asks) => {
                let asks = FromComponent::Asks { call, asks };
                self.give(server, Input::Component(asks));
            }
        }
    }
}

/// The request of a caller to connect.
const CONNECT: &str = "mcp/connect";
/// The message of a caller that disconnects.
const DISCONNECT: &str = "mcp/disconnect";

/// Whether a method belongs to MCP over ACP.
pub(in crate::router) fn is_mcp(method: &str) -> bool {
    matches!(method, MCP_MESSAGE | CONNECT | DISCONNECT)
}

/// The error for a message whose parameters are not accepted.
fn invalid(text: impl Into<String>) -> Error {
    Error::new(rpc_code::INVALID_PARAMS, text)
}

/// The error for an id that no server has.
fn unavailable(server: &str) -> Error {
    let server = quote(server, MAX_QUOTE);
    let text = format!(
        "acp-chain: there is no MCP server `{server}`; it may have been closed with its session"
    );
    Error::new(code::UNAVAILABLE, text)
}
