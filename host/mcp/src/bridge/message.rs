//! A message to a client.

use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Id, Message};

/// The cost of a message beside its bytes.
const OVERHEAD: usize = 256;

/// A message to a client, and the id that it has there.
#[derive(Clone, Debug)]
pub struct OutboundMessage {
    /// The message.
    pub message: Message,
    /// In place of the message's own id.
    pub id: Option<Box<str>>,
}

impl OutboundMessage {
    /// The id with which it arrives.
    pub fn id(&self) -> Option<Id> {
        match &self.id {
            Some(id) => Id::parse(id),
            None => self.message.id(),
        }
    }

    /// Writes it as one line.
    pub fn write(&self, out: &mut Outbox) {
        self.message.write(self.id.as_deref(), out);
    }

    /// What it costs while it waits, in bytes.
    pub fn cost(&self) -> usize {
        self.message.cost() + OVERHEAD
    }
}
