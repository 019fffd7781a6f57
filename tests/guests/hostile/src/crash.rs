//! Traps at the worst moments.

use std::cell::Cell;

use crate::bindings::acp_chain::proxy::channel;
use crate::bindings::acp_chain::proxy::types::{Action, Peer};
use crate::config::Mode;
use crate::tally::Tally;

/// The state with which no instance can start.
const POISON: &str = "poison";

thread_local! {
    /// The number of messages of the attacked session that this instance received.
    static MET: Cell<u32> = const { Cell::new(0) };
}

#[inline(never)]
pub(crate) fn trap() -> ! {
    panic!("a trap, as it was to be")
}

/// Counts this message; returns the number of messages that this instance received.
fn met() -> u32 {
    MET.set(MET.get() + 1);
    MET.get()
}

pub(crate) fn trap_every(count: u32) -> Action {
    if met().is_multiple_of(count.max(1)) {
        trap();
    }
    Action::Forward
}

pub(crate) fn save_then_trap() -> Action {
    if met() > 1 {
        trap();
    }
    let mut tally = Tally::default();
    tally.count(channel::save(POISON));
    tally.say("save");
    Action::Forward
}

pub(crate) fn restored(mode: Mode, saved: &str) {
    assert!(mode != Mode::SendAndTrap, "what broke has saved {saved:?}");
    if saved == POISON {
        trap();
    }
}

pub(crate) fn send_and_trap(count: u32) -> Action {
    for _ in 0..count {
        let _ = channel::notify(Peer::Client, "_hostile/dropped", "{}");
        let _ = channel::notify(Peer::Agent, "_hostile/dropped", "{}");
        let _ = channel::request(Peer::Client, "_hostile/dropped", "{}");
    }
    let _ = channel::save("dropped");
    trap()
}

pub(crate) fn ask_then_trap(count: u32) -> Action {
    if met() > 1 {
        trap();
    }
    let mut tally = Tally::default();
    for _ in 0..count {
        tally.count(channel::request(Peer::Client, "_hostile/ask", "{}"));
    }
    tally.say("ask");
    Action::Forward
}

pub(crate) fn send_at_start() {
    let mut tally = Tally::default();
    tally.count(channel::request(Peer::Client, "_hostile/early", "{}"));
    tally.count(channel::notify(Peer::Client, "_hostile/early", "{}"));
    tally.count(channel::notify(Peer::Agent, "_hostile/early", "{}"));
    tally.count(channel::settle(1, &Action::Forward));
    tally.count(channel::cancel(1));
    tally.count(channel::read(1, ""));
    tally.say("early");
}
