//! The router: a state machine that receives messages at the ends, carries them through the proxies, and queues them at
//! the other end. It does no input or output.
//!
//! A handler is a function that handles the current message, and pushes further work as steps, which one loop runs. So
//! handlers never call each other in a cycle, and files use only those below them here:
//!
//! ```text
//! drive      the public operations, and the loop that runs steps
//! intake     messages that arrive at the ends
//! way        moves a message from place to place
//! out        sends a message at an end
//! answers    how answers start, and reach the requester
//! work       calls and starts of proxies
//! effects    the effects of a proxy's call
//! verdict    the decision of a proxy's call
//! swaps      newer versions of proxies
//! sleep      idle proxies
//! failure    failing proxies
//! native     native proxies
//! reads      files that proxies read
//! pauses     proxies that are called again after a while
//! values     values that proxies load and store
//! withdraw   cancelled requests
//! projects   projects whose proxies join
//! reports    decisions about tool runs
//! calls      tool calls that a hook of the agent must report
//! signs      prompts that wait for a sign of life of the agent's hooks
//! setup      `initialize`, and requests that begin and end sessions
//! mcp        MCP over ACP
//! waiting    messages that wait at a proxy
//! guards     rejects ambiguous messages at guards
//! dry_run    what proxies do has no effect
//! user       notices for the user
//! turns      turns that are stopped
//! scope      elicitations that name a request
//! trace      records for the trace
//! core       the state, and operations on it
//! exchanges  the open requests
//! sessions   the sessions that have begun, and their routes
//! notices    notices that wait for the user's turn
//! deeds      what proxies would have done in a dry run
//! steps      the stack of steps
//! joined     the proxies of projects
//! lookups    requests that wait for projects
//! proof      the proof that the agent's hooks work
//! unnamed    reports that do not name their calls
//! hooks      tool runs that the agent's hooks report
//! setups     sessions that are being set up
//! busy       the work of proxies, as futures
//! cancel     cancellations
//! sides      which side of the chain sent a call
//! ```

mod answers;
mod busy;
mod calls;
mod cancel;
mod core;
mod deeds;
mod drive;
mod dry_run;
mod effects;
mod exchanges;
mod failure;
mod guards;
mod hooks;
mod intake;
mod joined;
mod lookups;
mod mcp;
mod native;
mod notices;
mod out;
mod pauses;
mod projects;
mod proof;
mod reads;
mod reports;
mod scope;
mod sessions;
mod setup;
mod setups;
mod sides;
mod signs;
mod sleep;
mod steps;
mod swaps;
mod trace;
mod turns;
mod unnamed;
mod user;
mod values;
mod verdict;
mod waiting;
mod way;
mod withdraw;
mod work;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream::StreamExt;
use tokio::time::Instant;

pub use busy::FinishedWork;
pub use drive::RUN;
pub use hooks::{HookOutcome, ReportNumber};
pub use lookups::PATIENCE;
pub use proof::{FirstSign, HookTerms, IfUnlike};

use self::core::Core;
use self::mcp::Mcp;
use self::proof::Proof;
use super::losses::Loss;
use super::reading::FileRead;
use super::stored::ValueRequest;
use crate::native::Dialect;
use crate::native::Supervisor;
use acp_chain_bridge::{Arrival, Bridge};
use acp_chain_channel::Peer;
use acp_chain_channel::limits::FLOOD;
use acp_chain_hops::exchange::{PromptState, Stage};
use acp_chain_hops::hop::{Hop, NativeBacklogs};
use acp_chain_hops::member::Member;
use acp_chain_hops::native_peer::Order;
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_mcp::reach::Reach;
use acp_chain_recorder::{Recorder, State};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Error, Id, Message};

/// Carries messages between a client and an agent through proxies.
pub struct Router {
    core: Core,
    mcp: Mcp,
}

impl Router {
    /// A router with these proxies, the client's neighbour first.
    pub fn new<P: Into<Member>>(proxies: Vec<P>, trace: Option<Recorder>) -> Self {
        let mut core = Core::new(proxies, trace);
        for index in 0..core.hops.len() {
            let state = if core.hops[index].is_asleep() {
                State::Asleep
            } else {
                State::Running
            };
            core.trace_state(index, state, None);
        }
        Self {
            mcp: Mcp::new(&core.kept),
            core,
        }
    }

    /// Makes the chain a proxy, of a parent with this dialect.
    pub fn set_parent(&mut self, dialect: Dialect) {
        self.core.parent = Some(dialect);
    }

    /// Lets the parent, which is this program, send the chain what the agent's hooks report.
    pub fn see_tool_runs(&mut self) {
        self.core.sees_tool_runs = true;
    }

    /// Sets up the bridge for the agent's MCP clients. `shim` is the program that connects to it; the supervisor, if
    /// any, opens its sockets.
    pub fn set_bridge(&mut self, shim: PathBuf, supervisor: Option<Supervisor>, reach: Reach) {
        self.mcp.bridge = Bridge::new(shim, &self.core.kept).supervised(supervisor);
        self.mcp.reach = reach;
    }

    /// Notifies the user of tools to which the agent does not connect.
    pub fn tell_of_unused_tools(&mut self) {
        self.mcp.tells_unused = true;
    }

    /// Makes this a dry run: proxies are called as always, and nothing that they do has an effect. Called before the
    /// first message, and only where all proxies are components: a program sends its messages itself.
    pub fn set_dry_run(&mut self) {
        self.core.set_dry_run();
    }

    /// Offers the client no way to sign in for which it would run a command: the agent runs on another machine.
    pub fn set_remote(&mut self) {
        self.core.is_remote = true;
    }

    /// Names the log in notices.
    pub fn set_log(&mut self, log: Option<PathBuf>) {
        self.core.notices.log = log;
    }

    /// The bytes that wait to be written to one end.
    pub fn outbox(&mut self, peer: Peer) -> &mut Outbox {
        match peer {
            Peer::Client => &mut self.core.client.outbox,
            Peer::Agent => &mut self.core.agent.outbox,
        }
    }

    /// How many bytes wait for busy proxies and for lookups of projects.
    pub fn waiting(&self) -> usize {
        let proxies: usize = self.core.hops.iter().map(Hop::backlog).sum();
        proxies + self.core.lookups.waiting()
    }

    /// Notifies the user as soon as there is a turn. The notice names the log.
    pub fn tell_user(&mut self, text: &str) {
        self.core.tell_user(text);
    }

    /// Rejects a request that has just arrived from one end, past all proxies.
    pub fn refuse(&mut self, from: Peer, id: &Id, error: &Error) {
        self.core
            .edge(from)
            .answer_at_once(id, &Message::error(error));
    }

    /// Notes the loss of a malformed line of an end. The user is notified of an agent's, as it may have been an answer;
    /// a client gets an error.
    pub fn lose_line(&mut self, from: Peer, why: &str) {
        let at = Place::Edge(from);
        match from {
            Peer::Client => self.core.lose(Loss::Refused, at, &why),
            Peer::Agent => self.core.lose(Loss::Line, at, &why),
        }
    }

    /// Whether there is something to [`Router::pump`].
    pub fn is_ready(&self) -> bool {
        !self.core.to_end.is_empty() || !self.core.ready.is_empty() && !self.core.is_flooded()
    }

    /// Whether no proxy has anything to do.
    pub fn is_idle(&self) -> bool {
        self.core.ready.is_empty() && self.core.busy.is_empty()
    }

    /// The backlogs of the client and the agent, a future that resolves when a busy proxy is done, for
    /// [`Router::finished`], one that resolves when something arrives on the bridge, for
    /// [`Router::receive_from_bridge`], and the backlogs of native proxies. The futures are cancel safe, and pending
    /// while no proxy is busy or nothing arrives.
    pub fn split(
        &mut self,
    ) -> (
        &mut Outbox,
        &mut Outbox,
        impl Future<Output = FinishedWork>,
        impl Future<Output = Arrival>,
        NativeBacklogs<'_>,
    ) {
        let busy = &mut self.core.busy;
        let finished = async {
            match busy.next().await {
                Some(finished) => finished,
                None => std::future::pending().await,
            }
        };
        let arrival = self.mcp.bridge.next();
        (
            &mut self.core.client.outbox,
            &mut self.core.agent.outbox,
            finished,
            arrival,
            NativeBacklogs::new(&mut self.core.hops),
        )
    }

    /// Whether the negotiated version of ACP has batches (RFD v2: overview).
    pub fn has_batches(&self) -> bool {
        self.core.version() >= 2
    }

    /// Begins a batch, whose messages follow: the answers to its requests are sent together.
    pub fn begin_batch(&mut self, from: Peer) {
        self.core.edge(from).batches.begin();
    }

    /// Ends a batch.
    pub fn end_batch(&mut self, from: Peer) {
        let edge = self.core.edge(from);
        edge.batches.end(&mut edge.outbox);
    }

    /// The native proxies.
    pub fn natives(&self) -> Vec<HopIndex> {
        self.core.programs.clone()
    }

    /// Takes the orders about the programs of native proxies.
    pub fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.core.orders)
    }

    /// Turns on lookups: the client's sessions wait for their projects. If projects are required, a session whose
    /// lookup takes too long is refused; otherwise it begins without them.
    pub fn find_projects(&mut self, are_required: bool) {
        self.core.lookups.are_on = true;
        self.core.lookups.are_required = are_required;
        self.core.sessions.are_apart = true;
    }

    /// Lets proxies store values: their requests are then among [`Router::take_value_request`]. Called before the first
    /// message; otherwise such requests fail.
    pub fn keep_values(&mut self) {
        self.core.keeps_values = true;
        // A value may be that of a session's project.
        self.core.sessions.are_apart = true;
    }

    /// Lets reads of files by proxies wait until the places of the files are known: they are then among
    /// [`Router::take_reads`].
    pub fn check_reads(&mut self) {
        self.core.reads.are_checked = true;
    }

    /// Takes the files to look for. Their places are given to [`Router::located`].
    pub fn take_reads(&mut self) -> Vec<FileRead> {
        std::mem::take(&mut self.core.reads.unchecked)
    }

    /// Takes the next request for a stored value. Its outcome is given to [`Router::receive_value`].
    pub fn take_value_request(&mut self) -> Option<ValueRequest> {
        self.core.values.pop_front()
    }

    /// Notes that the agent has hooks, which must prove that they work. Called before the first message.
    pub fn attach_hooks(&mut self, terms: HookTerms) {
        self.core.proof = Some(Box::new(Proof::new(terms)));
        // What hooks report belongs to one of them.
        self.core.sessions.are_apart = true;
    }

    /// The session of ACP that a report of a hook belongs to, of these names the first that ACP knows; `None` if that
    /// cannot be known.
    pub fn session_of_report(&self, names: &[Arc<str>]) -> Option<Arc<str>> {
        calls::session_of(&self.core, &self.mcp, names)
    }

    /// Notes that a report about the call with this id was refused before it became a request: the hook works, and the
    /// call fails.
    pub fn note_refused_call(&mut self, call: &str) {
        if let Some(proof) = &mut self.core.proof {
            proof.note_refused_call(call);
        }
    }

    /// Notes that a report is refused that has been a request, of the call with this id if it names one: the call does
    /// not run.
    pub fn note_refused_report(&mut self, report: ReportNumber, call: Option<&str>) {
        if let Some(proof) = &mut self.core.proof {
            proof.note_refusal(report, call);
        }
    }

    /// Takes the outcomes of reports of the agent's hooks.
    pub fn take_hook_outcomes(&mut self) -> Vec<(ReportNumber, HookOutcome)> {
        std::mem::take(&mut self.core.hooks.outcomes)
    }

    /// Takes the lookups to start: their numbers and folders. Their timers start now.
    pub fn take_lookups(&mut self) -> Vec<(u64, PathBuf)> {
        self.core.take_lookups()
    }

    /// Whether a session still waits for the lookup with this number, and the proxies with this key have not joined.
    pub fn lacks(&self, number: u64, key: &str) -> bool {
        self.core.lookups.has(number) && self.core.joined.route(key).is_none()
    }

    /// The longest backlog of a native proxy, in bytes.
    pub fn most_for_natives(&self) -> usize {
        self.core.most_for_natives()
    }

    /// The native proxies whose backlog must not grow.
    pub fn flooded_natives(&self) -> Vec<HopIndex> {
        let peers = self.core.peers();
        let flooded = peers.filter(|(_, native)| native.outbox.len() >= FLOOD);
        flooded.map(|(index, _)| index).collect()
    }

    /// How many bytes native proxies have read in total.
    pub fn taken_by_natives(&self) -> u64 {
        self.core
            .peers()
            .map(|(_, native)| native.outbox.taken())
            .sum()
    }

    /// Whether native proxies have unanswered requests.
    pub fn waits_for_natives(&self) -> bool {
        let mut open = self.core.exchanges.iter();
        open.any(|(_, exchange)| matches!(exchange.stage, Stage::Native(_)))
    }

    /// The time to [`Router::advance`] to next.
    pub fn next_timer(&self) -> Option<Instant> {
        self.core.clock.next()
    }

    /// Logs the failures and denied calls of each proxy, and traces their end.
    pub fn log_tallies(&mut self) {
        for hop in &self.core.hops {
            if let Some(tally) = hop.tally() {
                let (name, refused) = (hop.name(), hop.refused());
                tracing::info!("the proxy `{name}`: failed on {refused} messages; {tally}");
            }
        }
        for index in 0..self.core.hops.len() {
            self.core.trace_tally(index);
            if self.core.hops[index].given_up().is_none() {
                self.core.trace_state(index, State::Ended, None);
            }
        }
    }

    /// Whether a request of this end is still unanswered, or a turn of the client runs.
    pub fn is_owed(&self, peer: Peer) -> bool {
        match peer {
            Peer::Client => !self.core.client.open.is_empty() || !self.core.turns.is_empty(),
            Peer::Agent => !self.core.agent.open.is_empty(),
        }
    }

    /// Whether the client waits for an answer to a request that it has not withdrawn, or for the end of a turn that it
    /// has not stopped.
    pub fn is_awaited(&self) -> bool {
        let mut open = self.core.client.open.values();
        open.any(|number| {
            let exchange = self.core.exchanges.get(*number);
            exchange.is_some_and(|exchange| {
                exchange.cancel.is_none() && exchange.turn != PromptState::GivenUp
            })
        }) || self.core.turns.iter().any(|turn| !turn.is_given_up)
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Router")
            .field(
                "hops",
                &self.core.hops.iter().map(Hop::name).collect::<Vec<_>>(),
            )
            .field("exchanges", &self.core.exchanges.len())
            .finish_non_exhaustive()
    }
}
