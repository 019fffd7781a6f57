//! Carries out the effects of a proxy's call, in order. Its requests to the callers of its tools come last, all at
//! once.

use super::cancel::new_cancel;
use super::core::{Core, not_of_session};
use super::mcp::{Mcp, Provider, is_mcp};
use super::steps::{CallEffects, Step};
use super::{dry_run, failure, pauses, reads, setup, values, verdict, withdraw};
use crate::losses::Loss;
use crate::stored::ValueCall;
use acp_chain_channel::{Effect, MessageId, Peer};
use acp_chain_hops::labels::Labels;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Message, code};

/// Carries out the next effect of a proxy.
pub(super) fn apply(core: &mut Core, mcp: &mut Mcp, mut did: Box<CallEffects>) {
    let Some(effect) = did.effects.next() else {
        return mcp.router(core).component_asks(did.hop, did.asks);
    };
    let index = did.hop;
    let carried_out = if core.is_dry_run() {
        dry_run::spared(core, index, effect)
    } else {
        Some(effect)
    };
    if let Some(effect) = carried_out {
        carry_out(core, mcp, &mut did, effect);
    }
    core.steps.push(Step::Effects(did));
}

fn carry_out(core: &mut Core, mcp: &mut Mcp, did: &mut CallEffects, effect: Effect) {
    let index = did.hop;
    match effect {
        Effect::Ask { id, call, message } => did.asks.push((id, call, message)),
        Effect::Request { id, to, message } if core.is_dry_run() => {
            refuse(core, index, id, to, &message, &dry_run::error());
        }
        Effect::Request { id, to, message } if is_mcp(message.method()) => {
            speak_mcp(core, mcp, index, Some(id), to, &message);
        }
        Effect::Notify { to, message } if is_mcp(message.method()) => {
            speak_mcp(core, mcp, index, None, to, &message);
        }
        Effect::Request { id, to, message } => ask(core, mcp, index, id, to, message),
        Effect::Notify { to, message } => tell(core, index, to, message),
        Effect::Progress { id, progress } => mcp.router(core).call_progress(index, id, &progress),
        Effect::Changed(change) => mcp.router(core).component_changed(index, &change),
        Effect::Settle { id, action } => {
            if let Some(held) = core.take_held(index, id) {
                verdict::act(core, mcp, index, id, held.routed, action);
            }
        }
        Effect::Fail { id, reason } => {
            if let Some(held) = core.take_held(index, id) {
                failure::fail(core, index, held.routed, &reason);
            }
        }
        Effect::Cancel { id } => {
            pauses::cut_short(core, index, id);
            if let Some(number) = core.hops[index].open_request(id) {
                withdraw::withdraw(core, mcp, number, new_cancel());
            }
        }
        Effect::Wake { id, after } => pauses::ask(core, index, id, after),
        Effect::Load { id, of, key } => values::ask(core, index, id, &of, key, ValueCall::Load),
        Effect::Store {
            id,
            of,
            key,
            version,
            value,
        } => {
            let call = ValueCall::Store { version, value };
            values::ask(core, index, id, &of, key, call);
        }
    }
}

fn ask(core: &mut Core, mcp: &mut Mcp, index: HopIndex, id: MessageId, to: Peer, message: Message) {
    let Some((route, at)) = core.route_of_own(index, to, &message) else {
        let text = format!("acp-chain: {}", not_of_session(&message));
        let error = Error::new(code::INVALID_PARAMS, text);
        return refuse(core, index, id, to, &message, &error);
    };
    let Some(number) = core.open_own(index, id, to, &route, &message) else {
        return;
    };
    if reads::ask(core, number, to) {
        return;
    }
    let mut routed = Routed::new(message, route, at, to);
    routed.exchange = Some(number);
    routed.labels = Labels::sent_by(index, &core.hops);
    let routed = setup::sets_out(core, mcp, routed, Provider::Proxy(index));
    let routed = routed.and_then(|routed| reads::check(core, routed));
    core.steps.extend(routed.map(Step::Send));
}

fn tell(core: &mut Core, index: HopIndex, to: Peer, message: Message) {
    let Some((route, at)) = core.route_of_own(index, to, &message) else {
        return core.lose_of_proxy(Loss::Misplaced, index, &not_of_session(&message));
    };
    let mut routed = Routed::new(message, route, at, to);
    routed.labels = Labels::sent_by(index, &core.hops);
    core.steps.push(Step::Send(routed));
}

/// Answers a proxy's own request with an error, without sending it.
fn refuse(
    core: &mut Core,
    index: HopIndex,
    id: MessageId,
    to: Peer,
    message: &Message,
    error: &Error,
) {
    let (route, at) = core.default_route(index);
    if let Some(number) = core.open_own(index, id, to, &route, message) {
        // The error starts at the next position, so no other proxy sees it.
        let next = match to {
            Peer::Client => at - 1,
            Peer::Agent => at + 1,
        };
        core.steps.refuse_at(number, next, error);
    }
}

/// Handles an MCP message of a proxy, which may send it as a provider to the callers of its servers, but not call
/// servers itself.
fn speak_mcp(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    id: Option<MessageId>,
    to: Peer,
    message: &Message,
) {
    let (route, at) = core.default_route(index);
    let number = match id {
        Some(id) => match core.open_own(index, id, to, &route, message) {
            Some(number) => Some(number),
            None => return,
        },
        None => None,
    };
    if to == Peer::Agent {
        return mcp
            .router(core)
            .receive_from_provider(Provider::Proxy(index), number, message);
    }
    let text = "acp-chain: a proxy may provide MCP servers to the agent, but not call any";
    match number {
        Some(number) => {
            let error = Error::new(code::INVALID_REQUEST, text);
            core.steps.refuse_at(number, at - 1, &error);
        }
        None => core.lose_of_proxy(Loss::Unconnected, index, &text),
    }
}
