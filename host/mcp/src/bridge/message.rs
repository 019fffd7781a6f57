//! A message to a client.

use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Id, Message};

/// The cost of a message beside its bytes.
const OVERHEAD: usize = 256;

/// A message to a client, and its id there.
#[derive(Clone, Debug)]
pub struct OutboundMessage {
    pub message: Message,
    /// Replaces the message's own id, if present.
    pub id: Option<Box<str>>,
}

impl OutboundMessage {
    /// The id that the client receives.
    pub fn id(&self) -> Option<Id> {
        match &self.id {
            Some(id) => Id::parse(id),
            None => self.message.id(),
        }
    }

    /// Writes the message as one line.
    pub fn write(&self, out: &mut Outbox) {
        self.message.write(self.id.as_deref(), out);
    }

    /// The charge while the message waits, in bytes.
    pub fn cost(&self) -> usize {
        self.message.cost() + OVERHEAD
    }
}
