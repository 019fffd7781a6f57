//! A native proxy as the router sees it: an end in both directions, in the midst of the chain.
//!
//! A message that comes to it is written to it, and its way ends there. What it says sets out
//! from its place: plain messages to the client's side, what it wraps to the agent's.

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

/// How long a native proxy may take to answer its first message, while it waits for nobody else.
pub const START_UP: Duration = Duration::from_secs(30);

/// A native proxy that is ready for a chain.
#[derive(Debug)]
pub struct Native {
    /// Its id in the manifest.
    pub name: String,
    /// How it spells what only proxies speak; without it, what it answers tells.
    pub dialect: Option<Dialect>,
    /// What becomes of it when it breaks.
    pub on_failure: FailurePolicy,
    /// The program.
    pub program: Option<Program>,
}

/// A program that runs, and how to run it again.
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

/// What the router wants done to the program of a native proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It is ended, and nothing more of it is read.
    End(HopIndex),
    /// Another one is started.
    Launch(HopIndex),
    /// It may go, and its place is another's from now on.
    LetGo(HopIndex),
}

/// The program of a native proxy, as the router speaks with it.
#[derive(Debug)]
pub struct NativePeer {
    /// What waits to be written to it.
    pub outbox: Outbox,
    /// Its own requests that have no answer yet.
    pub open: HashMap<Id, ExchangeId>,
    /// What is kept of those, and of those that it left behind when it broke.
    pub kept: Account,
    pub dialect: Dialect,
    /// The number of its process, if it has one.
    pub process: Option<u32>,
    /// Whether the dialect was given, or shown by what it said or answered.
    pub is_settled: bool,
    /// Its first message, while it is not answered.
    pub introduction: Option<Introduction>,
    /// How many of its lines came to nothing.
    pub discarded: u64,
}

/// The first message of a native proxy, while it is not answered.
#[derive(Debug)]
pub struct Introduction {
    pub number: ExchangeId,
    /// When it should have been answered.
    pub due: Instant,
    /// The client's own message, as long as the proxy may still be passed by.
    pub routed: Option<Routed>,
    /// Whether the proxy was started again, and the client knows nothing of this.
    pub is_repeated: bool,
}

impl NativePeer {
    /// One for which nothing is kept yet; what will be, is a part of this account.
    pub fn new(dialect: Option<Dialect>, kept: &Account) -> Self {
        Self {
            outbox: Outbox::default(),
            open: HashMap::new(),
            kept: kept.part(OPEN_KEPT),
            dialect: dialect.unwrap_or(Dialect::Proxy),
            process: None,
            is_settled: dialect.is_some(),
            introduction: None,
            discarded: 0,
        }
    }

    /// Queues a request, under an id, or a notification that goes this way.
    pub fn send(&mut self, toward: Peer, message: &Message, id: Option<&str>) {
        match toward {
            Peer::Agent => message.write(id, &mut self.outbox),
            Peer::Client => {
                message.write_within(self.dialect.successor(), id, &mut self.outbox);
            }
        }
    }

    /// Queues the request by which it begins its work: this, as the client said it, in its dialect.
    pub fn introduce(&mut self, number: ExchangeId, initialize: Option<&Message>) {
        let params = initialize.map_or("null", Message::body);
        let message = Message::request(self.dialect.initialize(), params);
        message.write(Some(&number.to_string()), &mut self.outbox);
    }
}
