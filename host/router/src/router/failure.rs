//! Failing proxies: what happens to the message, to the proxy's other messages and requests, and to the proxy.

use std::sync::Arc;

use super::core::Core;
use super::notices::in_words;
use super::steps::Step;
use super::{native, waiting};
use crate::clock::Timer;
use crate::losses::Loss;
use acp_chain_channel::{Failure, MessageId};
use acp_chain_hops::exchange::Stage;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_recorder::{Decision, State};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Message, code};

/// Handles a message about which its proxy could not decide. It is refused, unless the user's policy or the proxy's
/// powers let it pass.
pub(super) fn fail(core: &mut Core, index: HopIndex, mut routed: Routed, reason: &str) {
    routed.from = routed.at;
    core.trace_failure(index, &mut routed, Decision::Fail, Some(reason));
    end_by_policy(core, index, routed, reason);
}

/// Lets the message pass or refuses it, by the policy of the proxy.
fn end_by_policy(core: &mut Core, index: HopIndex, mut routed: Routed, reason: &str) {
    let hop = &mut core.hops[index];
    let name = hop.title();
    let method = quote(&routed.method, MAX_QUOTE);
    let text = format!("{name} failed on {method}: {reason}");
    let passes = hop.passes_on_failure(&routed);
    let count = hop.note_refused();
    if passes {
        if count.is_power_of_two() {
            tracing::error!(count, "{text}; it goes on unchanged: {}", describe(&routed));
        }
        core.exchanges.goes_on(&routed);
        return waiting::depart(core, index, routed);
    }
    let loss = if hop.is_down() || hop.given_up().is_some() {
        Loss::Broken
    } else {
        Loss::Undecided
    };
    let why = format_args!("{text}; it is refused: {}", describe(&routed));
    core.lose_on_way(loss, index, &routed, &why);
    let error = if core.is_stopped(&routed) {
        core.end_of_stopped(&routed)
    } else {
        Message::error(&Error::new(
            code::INTERNAL_ERROR,
            format!("acp-chain: {text}"),
        ))
    };
    if routed.is_response() {
        routed.message = error;
        waiting::depart(core, index, routed);
    } else {
        core.steps.answer_here(&routed, error);
    }
}

/// Handles a broken proxy: its messages are treated by its policy, its requests are cancelled, and it is restarted or
/// given up.
pub(super) fn break_down(core: &mut Core, index: HopIndex, failure: &Failure) {
    report(core, index, failure);
    core.trace_tally(index);
    core.trace_state(index, State::Failed, Some(&failure.to_string()));
    let restart = core.hops[index].break_down(core.clock.now());
    core.tell_failure(index, &failure.reason, restart.is_some());
    if let Some(at) = restart {
        core.clock.set(at, Timer::Restart(index));
    }

    let hop = &mut core.hops[index];
    for (id, _) in hop.held() {
        core.clock.clear(Timer::Expire(index, id));
    }
    // Including those of replaced versions.
    let had = hop.take_undecided();
    let asked = hop.take_requests(None);
    core.steps.withdraw(asked);
    core.end_pauses(index);
    let why: Arc<str> = failure.to_string().into();
    if core.hops[index].native().is_some() {
        let first = native::cut(core, index);
        core.steps.push(Step::CutOff(index, first, why.clone()));
    }
    let fail = |routed| Step::Fail(index, routed, why.clone());
    core.steps.extend(had.into_iter().map(fail));
    let given_up = restart.is_none().then(|| failure.reason.clone());
    core.steps
        .extend([Step::Release(index), Step::Broken(index, given_up)]);
}

/// Answers the open requests at a broken native proxy with an error. Its first message was not passed on yet, so it is
/// treated by the proxy's policy.
pub(super) fn cut_off(core: &mut Core, index: HopIndex, mut first: Option<Routed>, why: &Arc<str>) {
    for number in core.exchanges.at(Stage::Native(index)) {
        if let Some(routed) = first.take_if(|routed| routed.exchange == Some(number)) {
            core.steps.push(Step::Fail(index, routed, why.clone()));
        } else if let Some(exchange) = core.exchanges.get(number) {
            let name = core.hops[index].title();
            let method = quote(&exchange.method, MAX_QUOTE);
            let text = format!("acp-chain: {name} failed on {method}: {why}");
            let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
            core.answer_of_proxy(number, index, error);
        }
    }
}

/// Continues once all messages that a broken proxy had are settled. Gives the proxy up if there is a reason: only now,
/// so that these messages are treated as in earlier failures.
pub(super) fn broken(core: &mut Core, index: HopIndex, given_up: Option<String>) {
    if let Some(reason) = given_up {
        let hop = &core.hops[index];
        let fate = if hop.terms().on_failure.ends_open() {
            "all messages bypass it"
        } else {
            "all its messages are refused"
        };
        let name = hop.name();
        tracing::error!(target: Failure::TARGET, "the proxy `{name}` is given up, and {fate}: {reason}");
        core.trace_state(index, State::Ended, Some(&reason));
        core.hops[index].give_up(reason);
    }
    core.make_ready(index);
}

/// Logs the details of a failure.
fn report(core: &Core, index: HopIndex, failure: &Failure) {
    let hop = &core.hops[index];
    let at = match hop.in_hand() {
        Some((_, routed)) => format!(" at {}", describe(routed)),
        None => String::new(),
    };
    let (name, reason, details) = (hop.name(), &failure.reason, failure.details());
    tracing::error!(target: Failure::TARGET, "the proxy `{name}` broke{at}: {reason}{details}");
    if let Some(tally) = hop.tally() {
        tracing::info!("the proxy `{name}` before it broke: {tally}");
    }
}

/// Takes a message from a proxy that held it for too long.
pub(super) fn expire(core: &mut Core, index: HopIndex, id: MessageId) {
    let Some(held) = core.take_held(index, id) else {
        return core.expire_spared(index, id);
    };
    let (mut routed, version) = (held.routed, held.version);
    core.hops[index].take_away(version, id);
    routed.from = routed.at;
    core.trace_failure(index, &mut routed, Decision::Expire, None);
    end_by_policy(core, index, routed, "it held the message for too long");
    // On this notification, the proxy cancels its own requests for the message.
    core.steps
        .extend([Step::Release(index), Step::NotifyTaken(index, version, id)]);
}

/// Describes a message, without its content.
fn describe(routed: &Routed) -> String {
    let kind = in_words(routed.message.kind());
    let session = match routed.session() {
        Some(session) => format!(r#" of session "{}""#, quote(session, MAX_QUOTE)),
        None => String::new(),
    };
    let (method, sender) = (
        quote(&routed.method, MAX_QUOTE),
        routed.toward.opposite().as_str(),
    );
    let size = routed.message.len();
    format!(r#"{kind} "{method}" of {size} bytes from the {sender}{session}"#)
}
