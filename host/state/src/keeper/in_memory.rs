//! A database within this process, for tests and simulations.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;

use super::{Keeper, Open, WAITING, hand_over};
use crate::database::Database;
use crate::error::StateError;
use crate::protocol::{Request, parse};
use crate::service;

impl Keeper {
    /// Has no values yet, and loses them when the last clone of this is dropped. Must be called within a runtime of
    /// tokio.
    ///
    /// # Errors
    /// If the engine of the database reports one.
    pub fn in_memory() -> Result<Self, StateError> {
        let mut database = Database::in_memory()?;
        let (lines, mut unsent) = mpsc::channel::<Vec<u8>>(WAITING);
        let open = Arc::<Mutex<Open>>::default();
        let waiting = Arc::clone(&open);
        tokio::spawn(async move {
            while let Some(line) = unsent.recv().await {
                if let Ok(Some(Request { id, call })) = parse(&line) {
                    hand_over(&waiting, id, service::answer(&mut database, call));
                }
            }
        });
        Ok(Self { lines, open })
    }
}
