//! A request of a caller while it is open.

use crate::seat::{Asked, Caller, ConnectionId};
use acp_chain_rpc::Id;

/// A request of a caller.
#[derive(Debug)]
pub(super) struct Called {
    pub ask: Asked,
    pub caller: Caller,
    pub id: Option<Id>,
    /// The same id, if this is a `subscriptions/listen` that the provider knows by another.
    pub subscription: Option<Id>,
    /// What there is to know of one that is of no version that the provider speaks.
    pub legacy: Option<Legacy>,
    pub withdrawn: bool,
}

/// A request of a legacy client, which may come again.
#[derive(Debug)]
pub(super) struct Legacy {
    pub connection: ConnectionId,
    pub method: String,
    /// What the provider got.
    pub params: String,
    /// How often it came again.
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

    /// Whether it was made on this connection.
    pub fn is_on(&self, connection: ConnectionId) -> bool {
        self.caller == Caller::Connection(connection)
    }

    /// How many bytes it keeps.
    pub fn weight(&self) -> usize {
        self.legacy.as_ref().map_or(0, Legacy::weight)
    }
}

impl Legacy {
    /// How many bytes it keeps.
    pub fn weight(&self) -> usize {
        self.method.len() + self.params.len()
    }
}
