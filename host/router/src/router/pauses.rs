//! Pauses: a proxy requests to be called again after a while.
//!
//! A proxy that computes long in such a call rests for a multiple of that time, so that no proxy keeps a processor busy
//! while nothing happens. A pause ends with the instance that requested it, and does not keep an instance awake.

use std::time::Duration;

use super::core::Core;
use crate::clock::Timer;
use acp_chain_channel::{Delivery, MessageId, Peer};
use acp_chain_hops::hop::Item;
use acp_chain_hops::route::HopIndex;
use acp_chain_rpc::Message;

const METHOD: &str = "wake-after";

/// Starts a pause.
pub(super) fn ask(core: &mut Core, index: HopIndex, id: MessageId, after: Duration) {
    core.clock.set_after(after, Timer::Wake(index, id));
    core.hops[index].pause(id);
}

/// Queues the call at the end of a pause.
pub(super) fn on_timer(core: &mut Core, index: HopIndex, id: MessageId) {
    core.enqueue(index, Item::Wake(id));
}

/// Ends a pause early, as the proxy cancels it.
pub(super) fn cut_short(core: &mut Core, index: HopIndex, id: MessageId) {
    // Otherwise the call is queued already.
    if core.clock.is_set(Timer::Wake(index, id)) {
        ask(core, index, id, Duration::ZERO);
    }
}

/// The message for the call at the end of a pause. `None` if the proxy has to rest: then the pause is prolonged.
pub(super) fn end(core: &mut Core, index: HopIndex, id: MessageId) -> Option<Delivery> {
    let rest = core.hops[index].end_pause(id, core.clock.now())?;
    if !rest.is_zero() {
        ask(core, index, id, rest);
        return None;
    }
    Some(Delivery {
        id,
        sender: Peer::Client,
        method: METHOD.into(),
        session: None,
        message: Message::result("null"),
        with_body: true,
        sealed: false,
        is_replayed: false,
    })
}
