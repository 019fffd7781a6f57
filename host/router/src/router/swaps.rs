//! Newer versions of proxies: a newer version replaces the old one between two messages. The old version keeps its held
//! messages and open requests until they are settled.
//!
//! Invariants: no message that waits for the proxy moves while a new version starts, and a version that fails to
//! start changes nothing.

use super::core::Core;
use super::mcp::Mcp;
use super::steps::Step;
use crate::Swap;
use crate::clock::Timer;
use acp_chain_channel::{Failure, Registration, Started};
use acp_chain_hops::hop::Hop;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::version::Version;
use acp_chain_recorder::State;

/// Requests the replacement of one of the user's own proxies by a newer version.
pub(super) fn request(core: &mut Core, swap: Swap) {
    let is_meant = |hop: &Hop| hop.is_own(&swap.proxy);
    let Some(index) = core.hops.iter().position(is_meant) else {
        return swap.decline(Failure::new("the chain has no such proxy"));
    };
    if core.hops[index].request_swap(swap) {
        core.to_swap.push(index);
    }
}

/// Continues after a newer version has started, or failed to.
pub(super) fn started(
    core: &mut Core,
    index: HopIndex,
    swap: Swap,
    started: Result<Started, Failure>,
) {
    let checked = started.and_then(|started| {
        check_guard(core, index, &started.registration)?;
        Ok(started)
    });
    match checked {
        Ok(started) => put_in(core, index, swap, started),
        Err(failure) => {
            core.hops[index].keep_old();
            let name = core.hops[index].title();
            let (reason, details) = (&failure.reason, failure.details());
            tracing::error!("a new version of {name} does not start: {failure}{details}");
            core.tell_user(&format!(
                "a new version of {name} does not start: {reason}. The old version stays in place."
            ));
            if core.hops[index].is_down() {
                // The restart may have become due meanwhile.
                core.clock.set(core.clock.now(), Timer::Restart(index));
            }
            swap.decline(failure);
        }
    }
    core.make_ready(index);
    if let Some(failure) = core.hops[index].take_ending() {
        core.steps.push(Step::Break(index, failure.into()));
    }
}

/// An error if a new version is a guard and the old one is not, or vice versa: the order of the chain depends on
/// that.
fn check_guard(core: &Core, index: HopIndex, new: &Registration) -> Result<(), Failure> {
    if core.hops.len() == 1 && !core.lookups.are_on || new.guard == core.hops[index].is_guard() {
        return Ok(());
    }
    let is_what = if new.guard {
        "it is a guard now"
    } else {
        "it is no longer a guard"
    };
    Err(Failure::new(format!(
        "{is_what}, which decides its position: restart the chain"
    )))
}

/// Puts in a newer version.
fn put_in(core: &mut Core, index: HopIndex, swap: Swap, new: Started) {
    let hop = &mut core.hops[index];
    let (old, time) = (hop.version(), hop.terms().limits.hold_time);
    let done = hop.put_in(swap, new);
    tracing::info!("{} was replaced by a newer version", hop.title());
    core.trace_state(index, State::Running, None);
    let hop = &core.hops[index];
    if hop.is_retired(old) {
        core.clock.set_after(time, Timer::Retire(index, old));
    }
    if let Some(oldest) = hop.surplus() {
        let why = "the proxy was replaced too often while older versions had unfinished work";
        end(core, index, oldest, why);
    }
    Mcp::provider_restarted(index, &mut core.steps);
    // The receiver may be closed.
    let _ = done.send(Ok(()));
}

/// Ends a replaced version whose time has run out.
pub(super) fn on_timer(core: &mut Core, index: HopIndex, version: Version) {
    let hop = &core.hops[index];
    if !hop.is_retired(version) {
        return;
    }
    if hop.is_calling(version) {
        let time = hop.terms().limits.time;
        core.clock.set_after(time, Timer::Retire(index, version));
        return;
    }
    let why = "the proxy was replaced, and the old version did not finish its work in time";
    end(core, index, version, why);
}

/// Ends a replaced version: the messages that it holds are treated by the proxy's policy, its requests are cancelled.
pub(super) fn end(core: &mut Core, index: HopIndex, version: Version, why: &str) {
    let hop = &mut core.hops[index];
    tracing::warn!("an old version of {} ends: {why}", hop.title());
    hop.cut_short(version, why);
    let asked = hop.take_requests(Some(version));
    core.steps.withdraw(asked);
    for id in hop.held_by(version) {
        let held = core.take_held(index, id);
        core.steps
            .extend(held.map(|held| Step::Fail(index, held.routed, why.into())));
    }
    if let Some(routed) = core.hops[index].take_in_hand_of(version) {
        core.steps.push(Step::Deliver(index, routed));
    }
    core.steps.push(Step::Release(index));
}
