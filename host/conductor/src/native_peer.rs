//! A native proxy as the router sees it: an end for both directions, in the middle of the chain.
//!
//! A message for it is written to it, and ends its way there. Its own messages start at its place: plain ones go
//! toward the client, wrapped ones toward the agent.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::ChildIo;
use super::exchange::ExchangeId;
use super::route::HopIndex;
use super::routed::Routed;
use crate::native::Dialect;
use acp_chain_channel::limits::{Account, OPEN_KEPT};
use acp_chain_channel::{Failure, FailurePolicy, Peer};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Id, Message};

/// How long a native proxy may take to answer its first message, unless it waits for somebody else.
pub const START_UP: Duration = Duration::from_secs(30);

/// A native proxy that is ready for a chain.
#[derive(Debug)]
pub struct Native {
    /// Its id in the manifest.
    pub name: String,
    /// Its dialect of the proxy protocol; if there is none here, its answers show it.
    pub dialect: Option<Dialect>,
    /// What happens when it breaks.
    pub on_failure: FailurePolicy,
    /// The program.
    pub program: Option<Program>,
}

/// A running program, and how to run it again.
pub struct Program {
    /// Its streams.
    pub io: ChildIo,
    /// Starts another in its place.
    pub launch: Launch,
}

/// Starts a program.
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
    /// End it, and read nothing more from it.
    End(HopIndex),
    /// Start another one.
    Launch(HopIndex),
    /// End it gently; its place belongs to another from now on.
    Remove(HopIndex),
}

/// The program of a native proxy, as the router sees it.
#[derive(Debug)]
pub struct NativePeer {
    /// The bytes that wait to be written to it.
    pub outbox: Outbox,
    /// Its own unanswered requests.
    pub open: HashMap<Id, ExchangeId>,
    /// The account of those, and of those that it left behind when it broke.
    pub kept: Account,
    pub dialect: Dialect,
    /// Its process id, if it has a process.
    pub process: Option<u32>,
    /// Whether the dialect was given, or shown by its messages.
    pub is_settled: bool,
    /// Its first message, until it is answered.
    pub introduction: Option<Introduction>,
    pub beginning: Beginning,
}

/// How the connection began at a place, for programs that start there later.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// The client's first message, as it arrived there.
    pub initialize: Option<Message>,
    /// The answer of the side behind.
    pub answer: Option<Message>,
}

/// The first message of a native proxy, until it is answered.
#[derive(Debug)]
pub struct Introduction {
    pub number: ExchangeId,
    /// When the answer is due.
    pub due: Instant,
    /// The client's own message, as long as the proxy may still be bypassed.
    pub routed: Option<Routed>,
    /// Whether the proxy was restarted, which the client does not know.
    pub is_repeated: bool,
}

impl NativePeer {
    /// A peer for which nothing is kept yet; its account will be a part of this one.
    pub fn new(dialect: Option<Dialect>, kept: &Account) -> Self {
        Self {
            outbox: Outbox::default(),
            open: HashMap::new(),
            kept: kept.part(OPEN_KEPT),
            dialect: dialect.unwrap_or(Dialect::Proxy),
            process: None,
            is_settled: dialect.is_some(),
            introduction: None,
            beginning: Beginning::default(),
        }
    }

    /// Queues a request with an id, or a notification, that goes this way.
    pub fn send(&mut self, toward: Peer, message: &Message, id: Option<&str>) {
        match toward {
            Peer::Agent => message.write(id, &mut self.outbox),
            Peer::Client => {
                message.write_within(self.dialect.successor(), id, &mut self.outbox);
            }
        }
    }

    /// Queues the request that starts its work: the client's `initialize`, in its dialect.
    pub fn introduce(&mut self, number: ExchangeId) {
        let params = self.beginning.initialize.as_ref();
        let params = params.map_or("null", Message::body);
        let message = Message::request(self.dialect.initialize(), params);
        message.write(Some(&number.to_string()), &mut self.outbox);
    }
}
