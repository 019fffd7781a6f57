//! The proxy's own requests whose answers are still to come.
//!
//! Every id stays here until its answer arrives, even after its waiter is dropped: this distinguishes answers to own
//! requests from responses that pass by.

use std::cell::RefCell;
use std::collections::HashMap;
use std::task::Waker;

use crate::{Error, Json, MessageId};

enum Slot {
    Waiting(Option<Waker>),
    Answered(Result<Json, Error>),
    Abandoned,
}

thread_local! {
    static PENDING: RefCell<HashMap<MessageId, Slot>> = RefCell::default();
}

pub(crate) fn expect(id: MessageId) {
    PENDING.with_borrow_mut(|pending| pending.insert(id, Slot::Waiting(None)));
}

/// The outcome, if it has arrived; otherwise the waker is called when it does.
pub(crate) fn take(id: MessageId, waker: &Waker) -> Option<Result<Json, Error>> {
    PENDING.with_borrow_mut(|pending| match pending.remove(&id) {
        Some(Slot::Answered(outcome)) => Some(outcome),
        Some(Slot::Waiting(_)) => {
            pending.insert(id, Slot::Waiting(Some(waker.clone())));
            None
        }
        Some(Slot::Abandoned) | None => None,
    })
}

/// Removes the waiter. Returns `true` if the answer has not arrived yet.
pub(crate) fn abandon(id: MessageId) -> bool {
    PENDING.with_borrow_mut(|pending| match pending.remove(&id) {
        Some(Slot::Waiting(_)) => {
            pending.insert(id, Slot::Abandoned);
            true
        }
        Some(Slot::Answered(_) | Slot::Abandoned) | None => false,
    })
}

/// Records an answer. Returns it as an error if the request is not one of the proxy's own.
pub(crate) fn answer(
    id: MessageId,
    outcome: Result<Json, Error>,
) -> Result<(), Result<Json, Error>> {
    let waker = PENDING.with_borrow_mut(|pending| match pending.remove(&id) {
        Some(Slot::Waiting(waker)) => {
            pending.insert(id, Slot::Answered(outcome));
            Ok(waker)
        }
        Some(Slot::Abandoned) => Ok(None),
        Some(answered @ Slot::Answered(_)) => {
            pending.insert(id, answered);
            Ok(None)
        }
        None => Err(outcome),
    })?;
    if let Some(waker) = waker {
        waker.wake();
    }
    Ok(())
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn clear() {
    PENDING.take();
}
