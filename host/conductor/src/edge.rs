//! One of the two ends of a connection, as the router sees it.

use std::collections::HashMap;

use super::batches::Batches;
use super::exchange::ExchangeId;
use acp_chain_channel::limits::{Account, OPEN_KEPT};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Error, Id, Message};

/// The client or the agent; if the chain is itself a proxy, the parent.
#[derive(Debug)]
pub struct Edge {
    /// The bytes that wait to be written to it.
    pub outbox: Outbox,
    /// Its own unanswered requests.
    pub open: HashMap<Id, ExchangeId>,
    /// The account of those.
    pub kept: Account,
    /// Why it no longer answers.
    pub mute: Option<Error>,
    /// Whether it no longer reads.
    pub gone: bool,
    /// Its batches.
    pub batches: Batches,
}

impl Edge {
    /// An end for which nothing is kept yet; its account will be a part of this one.
    pub fn new(kept: &Account) -> Self {
        Self {
            outbox: Outbox::default(),
            open: HashMap::new(),
            kept: kept.part(OPEN_KEPT),
            mute: None,
            gone: false,
            batches: Batches::default(),
        }
    }

    /// Queues a message under an id; drops it if the end is gone.
    pub fn send(&mut self, message: &Message, id: Option<&str>) {
        match id.filter(|_| message.kind().is_response() && !self.batches.is_empty()) {
            _ if self.gone => {}
            Some(id) => self.batches.answer(message, id, &mut self.outbox),
            None => message.write(id, &mut self.outbox),
        }
    }

    /// Queues the answer to a message that has just come from it, and is not open; drops it if the end no longer
    /// reads.
    pub fn answer_at_once(&mut self, id: &Id, answer: &Message) {
        if !self.gone {
            self.batches
                .answer_at_once(answer, id.as_str(), &mut self.outbox);
        }
    }

    /// The same as [`Edge::send`], within the params of a call to this method.
    pub fn send_within(&mut self, outer: &str, message: &Message, id: Option<&str>) {
        if !self.gone {
            message.write_within(outer, id, &mut self.outbox);
        }
    }
}
