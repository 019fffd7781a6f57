//! Messages that wait at a proxy: behind others of their queue, or for held messages.

use std::ops::ControlFlow;

use super::core::Core;
use super::steps::Step;
use crate::losses::Loss;
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::protocol::code;
use acp_chain_rpc::{Error, Message};

/// Lets a message wait behind earlier messages of its queue, if there are any.
pub(super) fn follow(
    core: &mut Core,
    index: HopIndex,
    mut routed: Routed,
) -> ControlFlow<(), Routed> {
    if !core.hops[index].is_behind(&routed) {
        return ControlFlow::Continue(routed);
    }
    charge(core, &mut routed);
    core.hops[index].follow(routed);
    ControlFlow::Break(())
}

/// Lets a message wait for held messages of a proxy, if it must. If too much waits, the proxy breaks.
pub(super) fn park(core: &mut Core, index: HopIndex, routed: Routed) -> ControlFlow<(), Routed> {
    let hop = &mut core.hops[index];
    if !hop.must_wait(&routed) {
        return ControlFlow::Continue(routed);
    }
    if hop.park(routed) {
        let reason = "more waits behind a notification that it holds than its limit `behind`, or the connection's, \
                      allows";
        core.end_soon(index, reason);
    }
    ControlFlow::Break(())
}

/// Sends a message on from a proxy that is done with it, unless it must wait there.
pub(super) fn depart(core: &mut Core, index: HopIndex, mut routed: Routed) {
    if routed.ends_at_proxy() {
        return refuse_forwarded(core, index, &routed);
    }
    if routed.seen.is_some() {
        if core.hops[index].is_idle() {
            return core.steps.push(Step::Deliver(index, routed));
        }
        routed.seen = None;
    }
    if let ControlFlow::Continue(routed) = park(core, index, routed) {
        core.steps.push(Step::Send(routed));
    }
}

/// Rejects a message for an MCP server that its proxy has declared, as the proxy forwards it.
fn refuse_forwarded(core: &mut Core, index: HopIndex, routed: &Routed) {
    let name = core.hops[index].name();
    let text = format!(
        "acp-chain: the proxy `{name}` has declared an MCP server, and does not answer {}",
        routed.method
    );
    core.lose(Loss::Unconnected, Place::Hop(index), &text);
    let error = Error::new(code::UNAVAILABLE, text);
    core.steps.answer_here(routed, Message::error(&error));
}

/// Sends on messages that waited for messages that a proxy no longer holds.
pub(super) fn release(core: &mut Core, index: HopIndex) {
    core.steps
        .extend(core.hops[index].release().into_iter().map(Step::Send));
}

/// Charges a message that starts to wait for a proxy to the proxy that sent or changed it.
pub(super) fn charge(core: &mut Core, routed: &mut Routed) {
    let Some(maker) = routed.labels.maker() else {
        return;
    };
    let (charge, was_full) = core.hops[maker].charge_in_flight(routed.cost());
    routed.charge = Some(charge);
    if was_full {
        let reason = "more of its messages wait for other proxies than its limit `in-flight`, or the connection's, \
                      allows";
        core.end_soon(maker, reason);
    }
}
