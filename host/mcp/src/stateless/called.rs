//! An open request of a caller.

use crate::seat::Caller;
use crate::{Asked, ConnectionId};
use acp_chain_rpc::Id;

/// A request of a caller.
#[derive(Debug)]
pub(super) struct Called {
    pub ask: Asked,
    pub caller: Caller,
    pub id: Option<Id>,
    /// The same id, if this is a `subscriptions/listen` that has another id for the provider.
    pub subscription: Option<Id>,
    /// The state of a request in a version that the provider does not speak.
    pub legacy: Option<Legacy>,
    pub withdrawn: bool,
}

/// A request of a legacy client, which may be repeated.
#[derive(Debug)]
pub(super) struct Legacy {
    pub connection: ConnectionId,
    pub method: String,
    /// The params that the provider got.
    pub params: String,
    /// How often it was repeated.
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
