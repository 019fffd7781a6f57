//! Native proxies: messages to and from them.

mod life;

pub(super) use life::{cut, is_awaited_to_begin, launched, on_introduction_timer, runs_as};

use super::cancel::{UnnamedRequest, withdrawn};
use super::core::{Core, not_of_session};
use super::exchanges::admit;
use super::mcp::{Mcp, Provider, is_mcp};
use super::scope::{scope_of_native, scoped};
use super::sides::{answer_with_names, of_a_proxy};
use super::steps::Step;
use super::{reports, setup, withdraw};
use crate::losses::Loss;
use acp_chain_acp::{CANCEL_REQUEST, INITIALIZE, Life, cancels_request};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::route::{HopIndex, Place, Route};
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Id, Kind, Message, code};

/// Sends a message to a native proxy.
pub(super) fn take(core: &mut Core, index: HopIndex, routed: Routed) {
    core.trace(&routed);
    let Some(number) = routed.exchange else {
        return core.send_to_native(index, routed.toward, &routed.message, None);
    };
    if routed.is_of_hook() {
        return reports::show(core, index, routed);
    }
    core.exchanges.stage(number, Stage::Native(index));
    if routed.toward == Peer::Agent && routed.is_beginning() {
        life::introduce(core, index, number, Some(routed));
        return core.send_cancel(number);
    }
    match scoped(&core.exchanges, &routed, Place::Hop(index)) {
        Ok(scoped) => {
            let message = scoped.as_ref().unwrap_or(&routed.message);
            core.send_to_native(index, routed.toward, message, Some(number));
            core.send_cancel(number);
        }
        Err(error) => core.answer_of_proxy(number, index, Message::error(&error)),
    }
}

/// Sends a native proxy the answer to its own request.
pub(super) fn answer(core: &mut Core, index: HopIndex, id: &Id, routed: &Routed) {
    let Some(native) = core.hops[index].native_mut() else {
        return;
    };
    // Kept for restarts of the program.
    if routed.is_beginning() && routed.message.kind() == Kind::Result {
        native.beginning.answer = Some(routed.message.clone());
    }
    if native.open.get(id) != routed.exchange.as_ref() {
        return core.lose(
            Loss::Orphaned,
            Place::Hop(index),
            &"an earlier process sent the request",
        );
    }
    native.open.remove(id);
    routed.message.write(Some(id.as_str()), &mut native.outbox);
    core.trace(routed);
}

/// Receives a message from a native proxy.
pub(super) fn receive(core: &mut Core, mcp: &mut Mcp, index: HopIndex, message: Message) {
    if !core.hops[index].has_program() {
        return core.lose_of_proxy(Loss::Broken, index, &"a message, after it broke");
    }
    match message.kind() {
        Kind::Request => receive_request(core, mcp, index, message),
        Kind::Notification => receive_notification(core, mcp, index, message),
        Kind::Result | Kind::Error => receive_answer(core, index, message),
    }
}

/// The name of a proxy's successor: the next proxy, or `agent`.
fn successor(core: &Core, index: HopIndex) -> &str {
    let (route, at) = core.default_route(index);
    match route.place(at + 1) {
        Place::Hop(next) => core.hops[next].name(),
        Place::Edge(peer) => peer.as_str(),
    }
}

/// The route of a native proxy's message, and the proxy's position on it; `None` if the proxy may not send the message.
fn route_of(
    core: &Core,
    mcp: &Mcp,
    index: HopIndex,
    to: Peer,
    message: &Message,
) -> Option<(Route, usize)> {
    if !core.sessions.are_apart {
        return core.route_of_own(index, to, message);
    }
    if is_mcp(message.method()) {
        return Some(mcp.way_of_native(core, index, message));
    }
    if to == Peer::Agent && Life::of(message.method()).sets_up() {
        let asked = setup::repeated_by(core, index, message);
        if let Some(asked) = asked.and_then(|number| core.exchanges.get(number)) {
            let at = asked.route.position(index)?;
            return Some((asked.route.clone(), at));
        }
    }
    core.route_of_own(index, to, message)
}

fn receive_request(core: &mut Core, mcp: &mut Mcp, index: HopIndex, message: Message) {
    // A request has an id.
    let id = message.id().unwrap_or_else(Id::null);
    if let Some(failure) = life::echo(core, index, &id, &message) {
        return core.steps.push(Step::Break(index, failure.into()));
    }
    let Some(native) = core.hops[index].native() else {
        return;
    };
    let said = of_a_proxy(message, successor(core, index)).and_then(|(to, message)| {
        let charge = admit(&id, &message, &native.open, &native.kept)?;
        Ok((to, message, charge))
    });
    let (to, message, charge) = match said {
        Ok(said) => said,
        Err(error) => return refuse(core, index, &id, &error),
    };
    let message = scope_of_native(core, index, message);
    let begins = to == Peer::Agent && &**message.method() == INITIALIZE;
    if begins && let Some(native) = core.hops[index].native_mut() {
        match (&mut native.introduction, &native.beginning.answer) {
            // The parts behind a restarted proxy were initialized before.
            (Some(introduction), Some(known)) if introduction.is_repeated => {
                return known.write(Some(id.as_str()), &mut native.outbox);
            }
            (Some(introduction), _) => introduction.routed = None,
            (None, _) => {}
        }
    }
    let Some((route, at)) = route_of(core, mcp, index, to, &message) else {
        let error = Error::new(code::INVALID_PARAMS, not_of_session(&message));
        return refuse(core, index, &id, &error);
    };
    let mut routed = Routed::new(message, route, at, to);
    let (origin, exchanges) = (Origin::Native(index, id.clone()), &mut core.exchanges);
    let number = exchanges.open_routed(origin, Some(charge), &mut routed);
    if let Some(native) = core.hops[index].native_mut() {
        native.open.insert(id, number);
    }
    if is_mcp(&routed.method) {
        return mcp.router(core).native_speaks(index, routed);
    }
    let routed = setup::sets_out(core, mcp, routed, Provider::Proxy(index));
    core.steps.extend(routed.map(Step::Send));
}

fn receive_notification(core: &mut Core, mcp: &mut Mcp, index: HopIndex, message: Message) {
    let (to, message) = match of_a_proxy(message, successor(core, index)) {
        Ok(said) => said,
        Err(error) => return core.lose_of_proxy(Loss::Misplaced, index, &error.message),
    };
    if cancels_request(message.method()) {
        // Whichever direction the request has: the id is that of the proxy's own request.
        let Some(native) = core.hops[index].native() else {
            return;
        };
        return match withdrawn(|id| native.open.get(id).copied(), &message) {
            Ok(Some((number, cancel))) => withdraw::withdraw(core, mcp, number, cancel),
            // The answer and the cancellation crossed.
            Ok(None) => {
                let what = format_args!("a {CANCEL_REQUEST}, too late");
                core.lose_of_proxy(Loss::Crossed, index, &what);
            }
            Err(UnnamedRequest) => {
                let what = format_args!("a {CANCEL_REQUEST} that names no request");
                core.lose_of_proxy(Loss::Misplaced, index, &what);
            }
        };
    }
    let Some((route, at)) = route_of(core, mcp, index, to, &message) else {
        return core.lose_of_proxy(Loss::Misplaced, index, &not_of_session(&message));
    };
    let routed = Routed::new(message, route, at, to);
    if is_mcp(&routed.method) {
        mcp.router(core).native_speaks(index, routed);
    } else {
        core.steps.push(Step::Send(routed));
    }
}

fn receive_answer(core: &mut Core, index: HopIndex, message: Message) {
    let id = message.id().unwrap_or_else(Id::null);
    let Some(number) = awaited(core, index, &id) else {
        let loss = core.exchanges.loss_of_answer(&message);
        let what = format_args!("a response to no open request: id {}", id.as_str());
        return core.lose_of_proxy(loss, index, &what);
    };
    let message = answer_with_names(core.exchanges.get(number), message);
    let Some(native) = core.hops[index].native_mut() else {
        return;
    };
    let introduction = native.introduction.as_ref();
    if introduction.is_some_and(|introduction| introduction.number == number) {
        return life::introduced(core, index, number, message);
    }
    if let Some(routed) = core.hooks.shown.remove(&number) {
        return reports::decided(core, index, routed, message);
    }
    core.answer_of_proxy(number, index, message);
}

fn awaited(core: &Core, index: HopIndex, id: &Id) -> Option<ExchangeId> {
    let number = id.answered()?;
    let exchange = core.exchanges.get(number)?;
    (exchange.stage == Stage::Native(index)).then_some(number)
}

/// Handles a malformed line of a native proxy. `answers` is the id of the request that the line may answer; `own` is
/// its id if it may be a request.
pub(super) fn take_malformed(
    core: &mut Core,
    index: HopIndex,
    error: &Error,
    answers: Option<&Id>,
    own: Option<&Id>,
) {
    core.lose_of_proxy(
        Loss::Line,
        index,
        &format_args!("a line: {}", error.message),
    );
    if let Some(number) = answers.and_then(|id| awaited(core, index, id)) {
        let (name, why) = (core.hops[index].name(), &error.message);
        let text = format!("acp-chain: the answer of the proxy `{name}` is lost: {why}");
        let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
        return core.answer_of_proxy(number, index, error);
    }
    if let (Some(id), Some(native)) = (own, core.hops[index].native_mut()) {
        Message::error(error).write(Some(id.as_str()), &mut native.outbox);
    }
}

fn refuse(core: &mut Core, index: HopIndex, id: &Id, error: &Error) {
    let reason = &error.message;
    core.lose_of_proxy(Loss::Refused, index, &format_args!("a request: {reason}"));
    let error = Error::new(error.code, format!("acp-chain: {reason}"));
    if let Some(native) = core.hops[index].native_mut() {
        Message::error(&error).write(Some(id.as_str()), &mut native.outbox);
    }
}
