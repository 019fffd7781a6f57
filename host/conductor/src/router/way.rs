//! The way of a message, from where it is to where it stops. It passes, in this order:
//!
//! 1. nothing, if it is a prompt or a permission request that was stopped while it waited.
//!
//! Then, from place to place:
//!
//! 2. what is held where it is, which it may stop;
//! 3. the component that it leaves, whose server is declared;
//! 4. its seat, where its way ends;
//! 5. the end of its route, where it leaves;
//! 6. a guard, which ambiguous messages may not pass;
//! 7. the inbox of a proxy that is to see it;
//! 8. earlier messages of its queue;
//! 9. messages that the proxy holds.

use std::ops::ControlFlow;

use super::core::Core;
use super::mcp::Mcp;
use super::steps::Steps;
use super::{answers, guards, native, out, setup, waiting};
use crate::hop::Item;
use crate::labels::Labels;
use crate::route::{HopIndex, Place, Target};
use crate::routed::Routed;

/// Carries a message on from where it is, until a proxy takes it or it leaves.
pub(super) fn carry(core: &mut Core, mcp: &mut Mcp, mut routed: Routed, steps: &mut Steps) {
    // Wherever it waited.
    routed.charge = None;
    core.note_start(&mut routed);
    if core.is_stopped(&routed) {
        let end = core.end_of_stopped(&routed);
        routed.labels = Labels::default();
        return steps.answer_here(&routed, end);
    }
    loop {
        core.pass_turns(&routed);
        setup::leaves_proxy(core, mcp, &mut routed);
        routed.step();
        if let Target::Seat(server, at) = routed.target
            && at == routed.at
        {
            return mcp.arrive(core, server, routed, steps);
        }
        let index = match routed.route.place(routed.at) {
            Place::Edge(peer) => return out::leave(core, mcp, peer, routed, steps),
            Place::Hop(index) => index,
        };
        routed = match at_proxy(core, mcp, index, routed, steps) {
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
    steps: &mut Steps,
) -> ControlFlow<(), Routed> {
    let mut routed = guards::admit(core, index, routed, steps)?;
    routed.arrival = core.hops[index].next_arrival();
    core.note_queued(&mut routed);
    let routed = enter(core, mcp, index, routed, steps)?;
    let routed = waiting::follow(core, index, routed)?;
    waiting::park(core, index, routed)
}

/// Lets a message wait for a proxy that is to see it.
fn enter(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    mut routed: Routed,
    steps: &mut Steps,
) -> ControlFlow<(), Routed> {
    let hop = &core.hops[index];
    let enters = routed.home == Some(index)
        || routed.target == Target::Provider(index)
        || hop.subscription(&routed).is_some()
        || hop.awaiting(&routed).is_some()
        || hop.is_to_begin(&routed);
    if !enters {
        return ControlFlow::Continue(routed);
    }
    if native::is_awaited_to_begin(core, index, &routed) {
        answers::arrived(core, mcp, routed, steps);
    } else {
        waiting::charge(core, &mut routed);
        core.enqueue(index, Item::Message(routed));
    }
    ControlFlow::Break(())
}
