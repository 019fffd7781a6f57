//! Sleeping components: they have no instance until a message for them arrives, and lose it when they have been idle
//! for some time. That time is short while there are too many instances in this process.
//!
//! Invariants: when a component falls asleep, nothing is open in the chain, and no client is connected to an MCP server
//! that the component serves itself. It wakes up as after a failure: with the last state that it saved, and without
//! receiving earlier messages again.

use super::core::Core;
use super::mcp::Mcp;
use crate::clock::Timer;
use acp_chain_hops::hop::Idle;
use acp_chain_hops::route::HopIndex;
use acp_chain_recorder::State;

/// Notes that a proxy is called or has been started.
#[inline]
pub(super) fn note_called(core: &mut Core, index: HopIndex) {
    if let Some(at) = core.hops[index].note_called(core.clock.now()) {
        core.clock.set(at, Timer::Sleep(index));
    }
}

/// Puts a proxy to sleep, if it has been idle long enough.
pub(super) fn on_timer(core: &mut Core, mcp: &Mcp, index: HopIndex) {
    // The state of connections to its own servers is in the instance's memory only.
    let is_all_settled = core.exchanges.len() == 0 && !mcp.is_connected_to(index);
    match core.hops[index].idle(core.clock.now(), is_all_settled) {
        Idle::Now => {
            core.trace_tally(index);
            core.end_pauses(index);
            core.hops[index].fall_asleep();
            core.trace_state(index, State::Asleep, None);
        }
        Idle::At(at) => core.clock.set(at, Timer::Sleep(index)),
        Idle::Never => {}
    }
}
