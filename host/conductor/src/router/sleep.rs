//! Sleeping components: they have no instance until a message for them arrives, and lose it when they have been idle
//! for some time.
//!
//! That time is short while there are too many instances in this process.
//!
//! Invariants: when a component falls asleep, nothing is open in the chain, and nobody is connected to an MCP server of
//! its own. It wakes up as after a failure: with the state that it saved last, and without getting earlier messages
//! again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::core::Core;
use super::mcp::Mcp;
use crate::hop::{Hop, Runtime};
use crate::phase::Phase;
use crate::route::HopIndex;
use crate::timers::Timer;
use crate::trace::State;

/// How long a proxy is idle before it falls asleep, where there are too many instances.
const CROWDED: Duration = Duration::from_secs(1);

/// A proxy has something to do, or has been started.
#[inline]
pub(super) fn note_called(core: &mut Core, index: HopIndex) {
    let hop = &mut core.hops[index];
    if let Some(after) = hop.terms.sleep_after
        && hop.called.replace(core.now).is_none()
    {
        core.timers
            .set(core.now + idle_time(hop, after), Timer::Sleep(index));
    }
}

/// How long it may be idle, as things are now. One that was told a longer time before there were too many keeps it.
fn idle_time(hop: &Hop, after: Duration) -> Duration {
    match &hop.runtime {
        Runtime::Component(source) if source.is_crowded() => after.min(CROWDED),
        _ => after,
    }
}

/// A proxy may have been idle long enough to fall asleep.
pub(super) fn on_timer(core: &mut Core, mcp: &Mcp, index: HopIndex) {
    // Connections to its servers are in its memory alone.
    let is_all_settled = core.exchanges.len() == 0 && !mcp.is_connected_to(index);
    let (hop, now) = (&mut core.hops[index], core.now);
    let (Some(called), Some(after)) = (hop.called.take(), hop.terms.sleep_after) else {
        return;
    };
    if !matches!(hop.phase, Phase::Idle(_) | Phase::Busy) {
        // Noted again when it starts.
        return;
    }
    let after = idle_time(hop, after);
    let due = called + after;
    if due <= now && is_all_settled && hop.is_at_rest() && hop.has_one_version() {
        return fall_asleep(core, index);
    }
    hop.called = Some(called);
    let again = if due <= now { now + after } else { due };
    core.timers.set(again, Timer::Sleep(index));
}

fn fall_asleep(core: &mut Core, index: HopIndex) {
    core.trace_tally(index);
    core.end_pauses(index);
    let hop = &mut core.hops[index];
    if let Phase::Idle(mut part) = std::mem::replace(&mut hop.phase, Phase::Asleep) {
        hop.next_number = part.allot();
        tracing::debug!("the proxy `{}` sleeps; {:?}", hop.name, part.tally());
    }
    if let Runtime::Component(source) = &hop.runtime
        && let Some(memory) = source.memory()
    {
        memory.store(0, Ordering::Relaxed);
    }
    core.trace_state(index, State::Asleep, None);
}
