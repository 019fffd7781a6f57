//! A database within this process, for tests and simulations.

use std::sync::Arc;

use acp_chain_rpc::worker::Client;

use super::{Keeper, WAITING};
use crate::database::Database;
use crate::error::StateError;
use crate::service;

impl Keeper {
    /// Has no values yet, and loses them when the last clone of this is dropped. Must be called within a runtime of
    /// tokio.
    ///
    /// # Errors
    /// If the engine of the database reports one.
    pub fn in_memory() -> Result<Self, StateError> {
        let mut database = Database::in_memory()?;
        let answer = move |call| service::answer(&mut database, call);
        Ok(Self(Arc::new(Client::of(WAITING, answer))))
    }
}
