//! Attacks on computing time.

use crate::bindings::acp_chain::proxy::channel::{self, Level};
use crate::bindings::acp_chain::proxy::types::{Action, MessageId};

#[inline(never)]
pub(crate) fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Asks to be called again, as often as the host permits.
pub(crate) fn wake_soon() -> Action {
    while channel::wake_after(0).is_ok() {}
    Action::Forward
}

/// Computes for a while, and asks again.
pub(crate) fn compute_and_wake_soon() -> Action {
    for _ in 0..10_000_000 {
        std::hint::spin_loop();
    }
    wake_soon()
}

#[inline(never)]
pub(crate) fn call_for_ever(id: MessageId) -> ! {
    let text = "again and again ".repeat(64);
    loop {
        // The results do not matter.
        let _ = channel::read(id, "");
        let _ = channel::settle(id, &Action::Forward);
        let _ = channel::cancel(id);
        let _ = channel::save(&text);
        channel::log(Level::Error, &text);
    }
}
