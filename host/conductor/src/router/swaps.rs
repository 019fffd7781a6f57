//! Newer versions of proxies: one replaces the old one between two messages, and the old one keeps its held messages
//! and open requests until they are settled.
//!
//! Invariants: no message that waits for the proxy moves while a new version starts, and a version that fails to
//! start changes nothing.

use super::cancel::new_cancel;
use super::core::Core;
use super::mcp::Mcp;
use super::steps::{Step, Steps};
use crate::breaker::Breaker;
use crate::hop::{Hop, Runtime};
use crate::phase::Phase;
use crate::route::HopIndex;
use crate::timers::Timer;
use crate::trace::State;
use crate::version::{Version, first_of, version_of};
use crate::versions::Starting;
use crate::{Swap, Terms};
use acp_chain_channel::limits::OLD_VERSIONS;
use acp_chain_channel::{self as channel, Failure, Registration, Started};

impl Core {
    /// A proxy with a newer version waiting, if it is not being called.
    #[inline]
    pub(super) fn next_due_to_swap(&mut self) -> Option<HopIndex> {
        match self.due_to_swap.is_empty() {
            true => None,
            false => self.take_due_to_swap(),
        }
    }

    #[cold]
    fn take_due_to_swap(&mut self) -> Option<HopIndex> {
        let hops = &self.hops;
        let is_free = |index: &HopIndex| !matches!(hops[*index].phase, Phase::Busy);
        let at = self.due_to_swap.iter().position(is_free)?;
        Some(self.due_to_swap.swap_remove(at))
    }
}

/// A newer version is to replace one of the user's own proxies.
pub(super) fn wish(core: &mut Core, swap: Swap) {
    let is_meant = |hop: &Hop| hop.project.is_none() && hop.name == swap.proxy;
    let Some(index) = core.hops.iter().position(is_meant) else {
        return swap.decline(Failure::new("the chain has no such proxy"));
    };
    let hop = &mut core.hops[index];
    if !matches!(hop.runtime, Runtime::Component(_)) {
        return swap.decline(Failure::new("the proxy is a program"));
    }
    match hop.versions.wish.replace(swap) {
        Some(earlier) => earlier.decline(Failure::new("a newer version came meanwhile")),
        None => core.due_to_swap.push(index),
    }
}

/// Starts the newer version of a proxy that is not being called.
pub(super) fn begin(core: &mut Core, index: HopIndex) -> Option<channel::Starting> {
    let hop = &mut core.hops[index];
    let swap = hop.versions.wish.take()?;
    let first = first_of(hop.versions.current + 1);
    let starting = swap.source.start(first, hop.saved.clone());
    let before = std::mem::replace(&mut hop.phase, Phase::Busy);
    hop.versions.starting = Some(Starting { swap, before });
    Some(starting)
}

/// A newer version has started, or failed to.
pub(super) fn started(
    core: &mut Core,
    index: HopIndex,
    starting: Starting,
    started: Result<Started, Failure>,
    steps: &mut Steps,
) {
    let Starting { swap, before } = starting;
    let was_down = matches!(before, Phase::Down);
    core.hops[index].phase = before;
    let checked = started.and_then(|started| {
        check_guard(core, index, &started.registration)?;
        Ok(started)
    });
    match checked {
        Ok(started) => put_in(core, index, swap, started, steps),
        Err(failure) => {
            if !matches!(core.hops[index].phase, Phase::Idle(_)) {
                // It has ended already.
                core.hops[index].ending = None;
            }
            let name = core.hops[index].title();
            let (reason, details) = (&failure.reason, failure.details());
            tracing::error!("a new version of {name} does not start: {failure}{details}");
            core.tell_user(&format!(
                "a new version of {name} does not start: {reason}. The old one goes on."
            ));
            if was_down {
                // That may have become due meanwhile.
                core.timers.set(core.now, Timer::Restart(index));
            }
            swap.decline(failure);
        }
    }
    core.make_ready(index);
    if let Some(failure) = core.hops[index].ending.take() {
        steps.push(Step::Break(index, failure.into()));
    }
}

/// An error if a new version is a guard and the old one is not, or vice versa: the order of the chain depends on
/// that.
fn check_guard(core: &Core, index: HopIndex, new: &Registration) -> Result<(), Failure> {
    if core.hops.len() == 1 && !core.lookups.are_on || new.guard == core.hops[index].is_guard() {
        return Ok(());
    }
    let is_what = match new.guard {
        true => "it is a guard now",
        false => "it is no longer a guard",
    };
    Err(Failure::new(format!(
        "{is_what}, which decides its position: restart the chain"
    )))
}

/// A newer version takes its place.
fn put_in(core: &mut Core, index: HopIndex, swap: Swap, new: Started, steps: &mut Steps) {
    let hop = &mut core.hops[index];
    let (old, until) = (hop.versions.current, core.now + hop.terms.limits.hold_time);
    let on_failure = swap.on_failure.unwrap_or(new.registration.on_failure);
    hop.replace(new.part, new.registration);
    hop.terms = Terms {
        on_failure,
        ..swap.terms
    };
    hop.breaker = Breaker::new(&hop.terms.limits);
    hop.told = false;
    hop.runtime = Runtime::Component(swap.source);
    hop.versions.cut_short = Some(swap.cut_short);
    hop.dismiss();
    tracing::info!("{} has a new version at work", hop.title());
    core.trace_state(index, State::Running, None);
    let hop = &core.hops[index];
    let retired = &hop.versions.retired;
    if retired.iter().any(|one| one.version == old) {
        core.timers.set(until, Timer::Retire(index, old));
    }
    if retired.len() > OLD_VERSIONS {
        let oldest = retired[0].version;
        let why = "the proxy was replaced, and then again too often";
        end(core, index, oldest, why, steps);
    }
    Mcp::component_restarted(index, steps);
    Mcp::provider_restarted(index, steps);
    // Whoever requested it may be gone.
    let _ = swap.done.send(Ok(()));
}

/// The time of a replaced version has run out.
pub(super) fn on_timer(core: &mut Core, index: HopIndex, version: Version, steps: &mut Steps) {
    let hop = &mut core.hops[index];
    let is_there = |hop: &Hop| {
        let mut retired = hop.versions.retired.iter();
        retired.any(|one| one.version == version)
    };
    if !is_there(hop) {
        return;
    }
    if hop.part_mut(version).is_none() {
        // It is being called.
        let later = core.now + hop.terms.limits.time;
        return core.timers.set(later, Timer::Retire(index, version));
    }
    let why = "the proxy was replaced, and what the old version had left took too long";
    end(core, index, version, why, steps);
}

/// A replaced version ends: the messages that it holds are treated by the proxy's policy, its requests cancelled.
pub(super) fn end(
    core: &mut Core,
    index: HopIndex,
    version: Version,
    why: &str,
    steps: &mut Steps,
) {
    let hop = &mut core.hops[index];
    tracing::warn!("an old version of {} ends: {why}", hop.title());
    if let Some(cut_short) = &hop.versions.cut_short {
        cut_short(why);
    }
    hop.versions.retired.retain(|one| one.version != version);
    let asked = hop.asked.extract_if(|id, _| version_of(*id) == version);
    steps.extend(asked.map(|(_, number)| Step::Withdraw(number, new_cancel())));
    let held = hop.held.iter().filter(|(_, held)| held.version == version);
    let mut held: Vec<_> = held.map(|(id, held)| (held.routed.arrival, *id)).collect();
    held.sort_unstable();
    for (_, id) in held {
        let routed = core.let_go(index, id);
        steps.extend(routed.map(|routed| Step::Fail(index, routed, why.into())));
    }
    let in_hand = &mut core.hops[index].in_hand;
    if let Some((_, routed)) = in_hand.take_if(|(_, routed)| routed.seen == Some(version)) {
        steps.push(Step::Deliver(index, routed));
    }
    steps.push(Step::Release(index));
}
