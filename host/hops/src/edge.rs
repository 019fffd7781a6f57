//! An end of a connection, as the router sees it.

use std::collections::HashMap;

use crate::exchange::ExchangeId;
use acp_chain_channel::limits::{Account, OPEN_KEPT};
use acp_chain_rpc::transport::{Batches, Outbox};
use acp_chain_rpc::{Error, Id, Message};

/// The client or the agent; if the chain is itself a proxy, the parent.
#[derive(Debug)]
pub struct Edge {
    pub outbox: Outbox,
    /// The unanswered requests of this end.
    pub open: HashMap<Id, ExchangeId>,
    /// The account of `open`.
    pub kept: Account,
    /// The error for requests to this end, once it no longer answers.
    pub mute: Option<Error>,
    /// Whether the end no longer reads.
    pub is_closed: bool,
    pub batches: Batches,
}

impl Edge {
    /// An end without open requests; its account is a part of `kept`.
    pub fn new(kept: &Account) -> Self {
        Self {
            outbox: Outbox::default(),
            open: HashMap::new(),
            kept: kept.part(OPEN_KEPT),
            mute: None,
            is_closed: false,
            batches: Batches::default(),
        }
    }

    /// Queues a message under an id; drops it if the end no longer reads.
    #[inline]
    pub fn send(&mut self, message: &Message, id: Option<&str>) {
        match id.filter(|_| message.kind().is_response() && !self.batches.is_empty()) {
            _ if self.is_closed => {}
            Some(id) => self.batches.answer(message, id, &mut self.outbox),
            None => message.write(id, &mut self.outbox),
        }
    }

    /// Queues the answer to a message that has just arrived from this end and was not opened; drops it if the end no
    /// longer reads.
    #[inline]
    pub fn answer_at_once(&mut self, id: &Id, answer: &Message) {
        if !self.is_closed {
            self.batches
                .answer_at_once(answer, id.as_str(), &mut self.outbox);
        }
    }

    /// Queues a message like [`Edge::send`], wrapped in the params of a call to the method `outer`.
    pub fn send_within(&mut self, outer: &str, message: &Message, id: Option<&str>) {
        if !self.is_closed {
            message.write_within(outer, id, &mut self.outbox);
        }
    }
}
