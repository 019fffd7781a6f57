//! Carries out the decisions of proxies.

use super::core::{Core, kept_is_full};
use super::mcp::{Mcp, Provider};
use super::sessions::shown;
use super::{failure, waiting};
use crate::clock::Timer;
use acp_chain_channel::{Action, MessageId};
use acp_chain_hops::exchange::Stage;
use acp_chain_hops::hop::Item;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::Message;
use std::borrow::Cow;

/// Carries out a proxy's decision about a message.
pub(super) fn act(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    id: MessageId,
    mut routed: Routed,
    action: Action,
) {
    routed.from = routed.at;
    core.trace_action(index, &mut routed, &action);
    core.exchanges.goes_on(&routed);
    match action {
        Action::Forward => waiting::depart(core, index, routed),
        Action::Replace(message) => match replace(core, mcp, index, &mut routed, message) {
            Ok(()) => waiting::depart(core, index, routed),
            Err(reason) => failure::fail(core, index, routed, &reason),
        },
        Action::Answer(message) => {
            routed.labels.change(index, &core.hops);
            let answer = core.adapted_if_stopped(&routed, message);
            core.steps.answer_here(&routed, answer);
        }
        Action::Discard => {}
        Action::Hold => hold(core, index, id, routed),
    }
}

/// Replaces the message that a proxy was called with by the proxy's own; an error if that cannot be accepted.
fn replace(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    routed: &mut Routed,
    message: Message,
) -> Result<(), Cow<'static, str>> {
    if !note_session(core, index, routed, &message) {
        return Err(
            "the session that it names takes more memory than its limit `request-bytes`, or the \
                    connection's, allows"
                .into(),
        );
    }
    routed.message = if routed.is_response() {
        shown(routed.life, routed.toward, &core.hops, message)
    } else {
        message
    };
    routed.is_passed_over = false;
    routed.labels.change(index, &core.hops);
    if routed.life.sets_up() {
        let adopted = mcp.adopt(core, routed, Provider::Proxy(index));
        adopted.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Notes that a proxy gives a request another session, on the proxy's account: on each leg, the answer takes the queue
/// of the session there. Returns whether there is room.
fn note_session(core: &mut Core, index: HopIndex, routed: &Routed, new: &Message) -> bool {
    let (old, new) = (routed.session(), new.session());
    if routed.is_response() || new == old {
        return true;
    }
    let Some(exchange) = core.exchanges.of_mut(routed) else {
        return true;
    };
    let length = new.map_or(0, |session| session.len());
    let Some(charge) = core.hops[index].charge(length) else {
        return false;
    };
    if exchange.renamed.is_empty() {
        let origin = exchange.route.edge(routed.toward.opposite());
        exchange.renamed.push((origin, old.cloned()));
    }
    exchange.renamed.push((routed.at, new.cloned()));
    exchange.charges.push(charge);
    true
}

fn hold(core: &mut Core, index: HopIndex, id: MessageId, mut routed: Routed) {
    // Once settled, the message leaves the proxy, whichever version held it.
    let seen = routed.seen.take();
    let version = seen.unwrap_or(core.hops[index].version());
    // The proxy's own limit was checked when it decided.
    routed.charge = core.kept.charge(routed.cost());
    if routed.charge.is_none() {
        core.hops[index].take_away(version, id);
        let reason = format!("it holds the message, and {}", kept_is_full());
        return failure::fail(core, index, routed, &reason);
    }
    let request = routed.exchange.filter(|_| !routed.is_response());
    let hop = &mut core.hops[index];
    hop.hold(id, routed, version);
    let time = hop.terms().limits.hold_time;
    core.clock.set_after(time, Timer::Expire(index, id));
    let Some(exchange) = request.and_then(|number| core.exchanges.get_mut(number)) else {
        return;
    };
    exchange.stage = Stage::Held(index, id);
    if exchange.cancel.is_some() {
        core.hops[index].push(Item::Cancel(id));
    }
}
