//! A mutex for states that are always consistent.

use std::sync::{self, MutexGuard, PoisonError};

/// A mutex whose state is consistent whenever a thread may panic: who comes next goes on with it.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub const fn new(state: T) -> Self {
        Self(sync::Mutex::new(state))
    }

    /// Waits for the state.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, without locking: no other reference exists.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, without its mutex.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
