//! Attacks with stored values.

use crate::bindings::acp_chain::proxy::channel::{self, ChannelError, Keeper};
use crate::bindings::acp_chain::proxy::types::{Action, MessageId};
use crate::size;
use crate::tally::Tally;

/// Stores and loads values until the host permits no more.
#[inline(never)]
pub(crate) fn flood(size: usize) -> Action {
    let (mut tally, value) = (Tally::default(), size::huge(size));
    for key in 0.. {
        let key = key.to_string();
        let (stored, loaded) = (store(&key, &value), load(&key));
        let is_full = stored.is_err() && loaded.is_err();
        tally.count(stored);
        tally.count(loaded);
        if is_full {
            break;
        }
    }
    tally.say("store");
    Action::Forward
}

/// Makes use of the room that an outcome has left.
pub(crate) fn again(size: usize) -> Action {
    // The results do not matter.
    let _ = load("0");
    let _ = store("again", &size::huge(size));
    Action::Forward
}

/// Passes a text as a key, and as a value.
pub(crate) fn everywhere(text: &str, tally: &mut Tally) {
    tally.count(load(text));
    tally.count(store(text, ""));
    tally.count(store("k", text));
}

fn store(key: &str, value: &str) -> Result<MessageId, ChannelError> {
    channel::store_value(&Keeper::User, key, 0, Some(value))
}

fn load(key: &str) -> Result<MessageId, ChannelError> {
    channel::load_value(&Keeper::User, key)
}
