//! Pauses: a proxy asks to be called again after a while.
//!
//! A proxy that computes long in such a call rests for a multiple of that time, so that none keeps a processor busy
//! while nothing happens. A pause ends with the instance that asked for it, and keeps none.

use std::time::Duration;

use super::core::Core;
use crate::hop::Item;
use crate::route::HopIndex;
use crate::timers::Timer;
use acp_chain_channel::{Delivery, MessageId, Peer};
use acp_chain_rpc::Message;

const METHOD: &str = "wake-after";

/// A proxy asks to be called again.
pub(super) fn ask(core: &mut Core, index: HopIndex, id: MessageId, after: Duration) {
    let at = core.now + after;
    core.hops[index].pause(id, at);
    core.timers.set(at, Timer::Wake(index, id));
}

/// A pause is over: the proxy is called in its turn.
pub(super) fn on_timer(core: &mut Core, index: HopIndex, id: MessageId) {
    core.enqueue(index, Item::Wake(id));
}

/// A proxy cancels a pause.
pub(super) fn cut_short(core: &mut Core, index: HopIndex, id: MessageId) {
    let at = core.hops[index].pauses_until(id);
    // Otherwise its end waits for the proxy already.
    if let Some(at) = at.filter(|at| *at > core.now) {
        core.timers.clear(at, Timer::Wake(index, id));
        ask(core, index, id, Duration::ZERO);
    }
}

/// What a proxy is called with at the end of a pause; if it has to rest, the pause lasts longer.
pub(super) fn end(core: &mut Core, index: HopIndex, id: MessageId) -> Option<Delivery> {
    let rest = core.hops[index].end_pause(id, core.now)?;
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
    })
}
