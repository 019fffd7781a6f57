//! A native proxy as the router sees it: an end for both directions, in the middle of the chain.
//!
//! A message for the proxy is written to its program, and its route ends there. The proxy's own messages start at its
//! place: plain ones go toward the client, wrapped ones toward the agent.

use std::collections::HashMap;
use std::time::Duration;

use crate::exchange::ExchangeId;
use crate::route::HopIndex;
use crate::routed::Routed;
use acp_chain_acp::Dialect;
use acp_chain_channel::limits::{Account, OPEN_KEPT};
use acp_chain_channel::{Failure, FailurePolicy, Peer};
use acp_chain_process::ChildIo;
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Id, Message};

/// How long a native proxy may take to answer its first message, unless it waits for an answer itself.
pub const START_UP: Duration = Duration::from_secs(30);

/// A native proxy that is ready for a chain.
#[derive(Debug)]
pub struct Native {
    /// Its id in the manifest.
    pub name: String,
    /// Its dialect of the proxy protocol; `None`: the dialect is detected by its answers.
    pub dialect: Option<Dialect>,
    /// What happens when it breaks.
    pub on_failure: FailurePolicy,
    /// Whether it is a chain of this program, whose proxies decide about the tool runs that the agent's hooks report.
    pub sees_tool_runs: bool,
    /// The program.
    pub program: Option<Program>,
}

/// A running program, and how to run it again.
pub struct Program {
    /// Its streams.
    pub io: ChildIo,
    /// Restarts the program.
    pub launch: Launch,
}

/// Starts another process of the same program.
pub type Launch = Box<dyn FnMut() -> Result<ChildIo, Failure> + Send>;

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("io", &self.io)
            .finish_non_exhaustive()
    }
}

/// An order of the router about the program of a native proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// End the program, and read nothing more from it.
    End(HopIndex),
    /// Restart the program.
    Launch(HopIndex),
    /// End the program gently: its proxy leaves, and the place may get another proxy.
    Remove(HopIndex),
}

/// The program of a native proxy, as the router sees it.
#[derive(Debug)]
pub struct NativePeer {
    /// The bytes that wait to be written to the program.
    pub outbox: Outbox,
    /// The proxy's own unanswered requests.
    pub open: HashMap<Id, ExchangeId>,
    /// The account of `open`, and of requests that were open when the proxy broke.
    pub kept: Account,
    pub dialect: Dialect,
    /// Whether it is a chain of this program, see [`Native::sees_tool_runs`].
    pub sees_tool_runs: bool,
    /// The process id, if there is a process.
    pub process: Option<u32>,
    /// Whether the dialect is known: from the manifest, or detected by the proxy's messages.
    pub is_settled: bool,
    /// The first message to the proxy, until it is answered.
    pub introduction: Option<Introduction>,
    pub beginning: Beginning,
}

/// How the connection began at a place, for programs that start there later.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// The client's first message, as it arrived at this place.
    pub initialize: Option<Message>,
    /// The answer to it from the agent's side.
    pub answer: Option<Message>,
}

/// The first message to a native proxy, until it is answered.
#[derive(Debug)]
pub struct Introduction {
    pub number: ExchangeId,
    /// The client's own message, as long as the proxy may still be bypassed.
    pub routed: Option<Routed>,
    /// Whether this is a repetition for a restarted proxy, which concerns no request of the client.
    pub is_repeated: bool,
}

impl NativePeer {
    /// A peer without messages and requests; its account is a part of `kept`.
    pub fn new(dialect: Option<Dialect>, sees_tool_runs: bool, kept: &Account) -> Self {
        Self {
            outbox: Outbox::default(),
            open: HashMap::new(),
            kept: kept.part(OPEN_KEPT),
            dialect: dialect.unwrap_or(Dialect::Proxy),
            sees_tool_runs,
            process: None,
            is_settled: dialect.is_some(),
            introduction: None,
            beginning: Beginning::default(),
        }
    }

    /// Queues a request with an id, or a notification, in this direction.
    #[inline]
    pub fn send(&mut self, toward: Peer, message: &Message, id: Option<&str>) {
        match toward {
            Peer::Agent => message.write(id, &mut self.outbox),
            Peer::Client => {
                message.write_within(self.dialect.successor(), id, &mut self.outbox);
            }
        }
    }

    /// Queues the first message: the client's `initialize`, in the proxy's dialect.
    pub fn introduce(&mut self, number: ExchangeId) {
        let params = self.beginning.initialize.as_ref();
        let params = params.map_or("null", Message::body);
        let message = Message::request(self.dialect.initialize(), params);
        message.write(Some(&number.to_string()), &mut self.outbox);
    }
}
