//! Pauses: a proxy asks to be called again after a while.
//!
//! A proxy that computes long in such a call rests for a multiple of that time, so that none keeps a processor busy
//! while nothing happens.

use std::time::Duration;

use tokio::time::Instant;

use super::core::Core;
use crate::hop::{Item, Wish};
use crate::route::HopIndex;
use crate::timers::Timer;
use acp_chain_channel::limits::REST;
use acp_chain_channel::{Delivery, MessageId, Peer};
use acp_chain_rpc::Message;

const METHOD: &str = "wake-after";

/// A proxy asks to be called again.
pub(super) fn ask(core: &mut Core, index: HopIndex, id: MessageId, after: Duration) {
    let at = core.now + after;
    core.hops[index].asked.insert(id, Wish::Wake(at));
    core.timers.set(at, Timer::Wake(index, id));
}

/// A pause is over: the proxy is called in its turn.
pub(super) fn on_timer(core: &mut Core, index: HopIndex, id: MessageId) {
    core.enqueue(index, Item::Wake(id));
}

/// A proxy does not want to wait longer.
pub(super) fn cut_short(core: &mut Core, index: HopIndex, id: MessageId, at: Instant) {
    core.timers.clear(at, Timer::Wake(index, id));
    ask(core, index, id, Duration::ZERO);
}

/// What a proxy is called with at the end of a pause, unless it no longer asks for that, or has to rest.
pub(super) fn end(core: &mut Core, index: HopIndex, id: MessageId) -> Option<Delivery> {
    let hop = &mut core.hops[index];
    hop.asked.remove(&id)?;
    if hop.rests_until > core.now {
        let rest = hop.rests_until - core.now;
        ask(core, index, id, rest);
        return None;
    }
    hop.woken = Some(Instant::now());
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

/// The call at the end of a pause is over.
pub(super) fn rest(core: &mut Core, index: HopIndex) {
    let hop = &mut core.hops[index];
    if let Some(woken) = hop.woken.take() {
        let now = Instant::now();
        hop.rests_until = now + (now - woken) * REST;
    }
}
