//! Moves a message from its place to the place where it stops.
//!
//! A prompt or a permission request that was stopped while it waited is answered at once. Otherwise, for each place, in
//! this order:
//!
//! 1. if the message stops a turn, held requests of the turn at the place that it leaves are stopped;
//! 2. if a request to set up a session leaves a component, the component's server is declared;
//! 3. at its seat, an MCP message stops;
//! 4. at the end of its route, the message is sent;
//! 5. at a guard, an ambiguous message is refused;
//! 6. at a proxy that subscribed to it, what is asked in a stopped turn is answered;
//! 7. at a proxy that subscribed to it, the message enters the inbox;
//! 8. behind earlier messages of its queue, it waits;
//! 9. behind messages that the proxy holds, it waits if it must.

use std::ops::ControlFlow;

use super::core::Core;
use super::mcp::Mcp;
use super::{answers, guards, native, out, setup, waiting};
use acp_chain_hops::hop::Item;
use acp_chain_hops::labels::Labels;
use acp_chain_hops::route::{HopIndex, Place, Target};
use acp_chain_hops::routed::Routed;

/// Carries a message on from its place, until it stops.
pub(super) fn carry(core: &mut Core, mcp: &mut Mcp, mut routed: Routed) {
    // The message no longer waits.
    routed.charge = None;
    routed.is_replayed |= core.exchanges.may_replay(&routed);
    core.note_start(&mut routed);
    if core.is_stopped(&routed) {
        let end = core.end_of_stopped(&routed);
        routed.labels = Labels::default();
        return core.steps.answer_here(&routed, end);
    }
    loop {
        core.pass_turns(&routed);
        setup::leaves_proxy(core, mcp, &mut routed);
        routed.step();
        if let Target::Seat(server, at) = routed.target
            && at == routed.at
        {
            return mcp.router(core).arrive(server, routed);
        }
        let index = match routed.route.place(routed.at) {
            Place::Edge(peer) => return out::leave(core, mcp, peer, routed),
            Place::Hop(index) => index,
        };
        routed = match at_proxy(core, mcp, index, routed) {
            ControlFlow::Continue(routed) => routed,
            ControlFlow::Break(()) => return,
        };
    }
}

#[inline]
fn at_proxy(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    routed: Routed,
) -> ControlFlow<(), Routed> {
    let routed = guards::admit(core, index, routed)?;
    let mut routed = stop_late(core, mcp, index, routed)?;
    routed.arrival = core.hops[index].next_arrival();
    core.note_queued(&mut routed);
    let routed = enter(core, mcp, index, routed)?;
    let routed = waiting::follow(core, index, routed)?;
    waiting::park(core, index, routed)
}

/// Answers what is asked in a stopped turn before a proxy is asked: the answer is that which the client owes (protocol
/// v1, Prompt Turn; RFD elicitation), and no proxy allows anything once the turn is stopped.
fn stop_late(
    core: &mut Core,
    mcp: &Mcp,
    index: HopIndex,
    routed: Routed,
) -> ControlFlow<(), Routed> {
    let is_late = core.asks_too_late(&mcp.turns, &routed)
        && core.hops[index].subscription(&routed).is_some()
        && !core.is_dry_run();
    if !is_late {
        return ControlFlow::Continue(routed);
    }
    let end = core.end_of_stopped(&routed);
    core.steps.answer_here(&routed, end);
    ControlFlow::Break(())
}

/// Puts a message into the inbox of a proxy that is to see it.
fn enter(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    mut routed: Routed,
) -> ControlFlow<(), Routed> {
    let hop = &core.hops[index];
    if routed.is_of_hook() && !hop.knows_tool_runs() {
        return ControlFlow::Continue(routed);
    }
    let enters = routed.requester == Some(index)
        || routed.target == Target::Provider(index)
        || hop.subscription(&routed).is_some()
        || hop.awaiting(&routed).is_some()
        || hop.is_to_begin(&routed);
    if !enters {
        return ControlFlow::Continue(routed);
    }
    if native::is_awaited_to_begin(core, index, &routed) {
        answers::arrived(core, mcp, routed);
    } else {
        waiting::charge(core, &mut routed);
        core.enqueue(index, Item::Message(routed));
    }
    ControlFlow::Break(())
}
