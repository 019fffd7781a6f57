//! An end of a connection, as the router sees it.

use std::collections::HashMap;

use crate::exchange::ExchangeId;
use acp_chain_channel::limits::{Account, OPEN_KEPT};
use acp_chain_rpc::transport::{Batches, Outbox};
use acp_chain_rpc::{Error, Id, Message};

/// The id that names no request.
const NULL: &str = "null";

/// The client or the agent; if the chain is itself a proxy, the parent.
#[derive(Debug)]
pub struct Edge {
    pub outbox: Outbox,
    /// The unanswered requests of this end, by their ids; those with the id `null` by keys that no sender can spell.
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

    /// Notes that a request of this end is open from now on.
    #[inline]
    pub fn note_open(&mut self, id: Id, number: ExchangeId) {
        self.batches.opened(&id);
        let key = key_of_null(&id, number).unwrap_or(id);
        self.open.insert(key, number);
    }

    /// The open request with this id; with the id `null`, the only one.
    pub fn find_open(&self, id: &Id) -> Option<ExchangeId> {
        if id.as_str() != NULL {
            return self.open.get(id).copied();
        }
        let own = |(key, number): (&Id, &ExchangeId)| {
            (key_of_null(id, *number).as_ref() == Some(key)).then_some(*number)
        };
        let mut all = self.open.iter().filter_map(own);
        all.next().filter(|_| all.next().is_none())
    }

    /// Notes that a request of this end is no longer open.
    #[inline]
    pub fn note_closed(&mut self, id: &Id, number: ExchangeId) {
        match key_of_null(id, number) {
            Some(key) => self.open.remove(&key),
            None => self.open.remove(id),
        };
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

/// The key of a request with the id `null`. That names no request (JSON-RPC 2.0 §4 and §5), so several may be open.
#[inline]
fn key_of_null(id: &Id, number: ExchangeId) -> Option<Id> {
    if id.as_str() == NULL {
        Id::parse(&format!("{NULL} {number}"))
    } else {
        None
    }
}
