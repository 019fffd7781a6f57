//! Open requests of callers.

use crate::seat::Caller;
use crate::{Asked, ConnectionId};
use acp_chain_rpc::Id;

#[derive(Debug)]
pub(super) struct Called {
    pub ask: Asked,
    pub caller: Caller,
    pub id: Option<Id>,
    /// Equal to `id` if this is a `subscriptions/listen` with another id at the provider.
    pub subscription: Option<Id>,
    /// The state of a request of a legacy client.
    pub legacy: Option<Legacy>,
    pub withdrawn: bool,
}

/// A request of a legacy client, which the seat may retry.
#[derive(Debug)]
pub(super) struct Legacy {
    pub connection: ConnectionId,
    pub method: String,
    /// The params for the provider.
    pub params: String,
    /// The number of retries.
    pub rounds: usize,
}

impl Called {
    pub fn new(ask: Asked, caller: Caller, id: Option<Id>) -> Self {
        Self {
            ask,
            caller,
            id,
            subscription: None,
            legacy: None,
            withdrawn: false,
        }
    }

    /// Whether the request was sent on this connection.
    pub fn is_on(&self, connection: ConnectionId) -> bool {
        self.caller == Caller::Connection(connection)
    }

    /// The size in bytes.
    pub fn weight(&self) -> usize {
        self.legacy.as_ref().map_or(0, Legacy::weight)
    }
}

impl Legacy {
    /// The size in bytes.
    pub fn weight(&self) -> usize {
        self.method.len() + self.params.len()
    }
}
