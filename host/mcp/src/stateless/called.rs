//! A request of a legacy client while it is open.

use crate::seat::{Asked, ConnectionId};
use acp_chain_rpc::Id;

/// A request of a legacy client.
#[derive(Debug)]
pub(super) struct Called {
    pub ask: Asked,
    pub connection: ConnectionId,
    pub id: Option<Id>,
    pub method: String,
    /// What the provider got.
    pub params: String,
    /// How often it came again.
    pub rounds: usize,
    pub withdrawn: bool,
}

impl Called {
    /// How many bytes it keeps.
    pub fn weight(&self) -> usize {
        self.method.len() + self.params.len()
    }

    pub fn new(ask: Asked, connection: ConnectionId, id: Option<Id>, method: &str) -> Self {
        Self {
            ask,
            connection,
            id,
            method: method.to_owned(),
            params: String::new(),
            rounds: 0,
            withdrawn: false,
        }
    }
}
