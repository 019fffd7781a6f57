//! Reports of tool runs at the end of their way, and at a chain of this program: the proxies of a project, which run in
//! a process of their own.
//!
//! The parent sends such a chain a report as a request, and keeps it. The chain answers with the parameters that its
//! proxies have agreed to, or with the error of one; the answer passes none of them. So the chain sends no reports
//! itself, and the parent takes over only what a power lets proxies change.

use super::core::{Core, kept_is_full};
use super::hooks::{HookOutcome, reason};
use super::steps::Step;
use acp_chain_acp::BEFORE_TOOL;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{Exchange, ExchangeId, Origin, Stage};
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{EditError, Error, Kind, Message, code, edit, resolve};

/// Handles a report that has passed all proxies.
pub(super) fn passed(core: &mut Core, routed: &Routed) {
    let Some(number) = routed.exchange else {
        return;
    };
    let Some(exchange) = core.exchanges.remove(number) else {
        return;
    };
    match exchange.origin {
        Origin::Hook(report) => {
            let outcome = HookOutcome::Passed(routed.message.clone());
            core.hooks.outcomes.push((report, outcome));
        }
        _ => {
            let passed = Message::result(routed.message.body());
            answer(core, number, &exchange, &passed);
        }
    }
}

/// Handles a report that a proxy, or the host in its place, has answered: it is refused, past all other proxies.
pub(super) fn refuse(core: &mut Core, number: ExchangeId, message: &Message) {
    core.hooks.shown.remove(&number);
    let Some(exchange) = core.exchanges.remove(number) else {
        return;
    };
    match exchange.origin {
        Origin::Hook(report) => core.hooks.refuse(report, reason(message)),
        _ if message.kind() == Kind::Error => answer(core, number, &exchange, message),
        _ => {
            let error = Error::new(code::INVALID_REQUEST, reason(message));
            answer(core, number, &exchange, &Message::error(&error));
        }
    }
}

/// Answers the parent, if the report is from there.
fn answer(core: &mut Core, number: ExchangeId, exchange: &Exchange, message: &Message) {
    if let Origin::Edge(peer, id) = &exchange.origin {
        let edge = core.edge(*peer);
        edge.note_closed(id, number);
        edge.send(message, Some(id.as_str()));
    }
}

/// Sends a report to a chain of this program, and keeps it until that has decided.
pub(super) fn show(core: &mut Core, index: HopIndex, mut routed: Routed) {
    let Some(number) = routed.exchange else {
        return;
    };
    routed.charge = core.kept.charge(routed.cost());
    if routed.charge.is_none() {
        let reason = kept_is_full().into();
        return core.steps.push(Step::Fail(index, routed, reason));
    }
    core.exchanges.stage(number, Stage::Native(index));
    core.send_to_native(index, Peer::Client, &routed.message, Some(number));
    core.send_cancel(number);
    core.hooks.shown.insert(number, routed);
}

/// Handles the decision of a chain of this program about a report that it was sent.
pub(super) fn decided(core: &mut Core, index: HopIndex, mut routed: Routed, answer: Message) {
    if answer.kind() == Kind::Error {
        return core.steps.answer_here(&routed, answer);
    }
    match changed(&routed, answer.body()) {
        Ok(Some(message)) => {
            routed.message = message;
            routed.labels.change(index, &core.hops);
        }
        Ok(None) => {}
        Err(error) => {
            let reason = format!("its answer cannot be used: {error}");
            return core.steps.push(Step::Fail(index, routed, reason.into()));
        }
    }
    core.exchanges.goes_on(&routed);
    routed.from = routed.at;
    core.steps.push(Step::Depart(index, routed));
}

/// The report with what a power lets proxies change, as it is in these parameters; `None` if that is unchanged.
fn changed(routed: &Routed, params: &str) -> Result<Option<Message>, EditError> {
    let place = if &*routed.method == BEFORE_TOOL {
        "/toolCall/rawInput"
    } else {
        "/output"
    };
    let known = routed.message.body();
    let missing = || EditError::NoPlace(place.to_owned());
    let value = resolve(params, place)?.ok_or_else(missing)?;
    if resolve(known, place)? == Some(value) {
        return Ok(None);
    }
    let body = edit(known, place, Some(value))?;
    Ok(Some(routed.message.with_body(&body)))
}
