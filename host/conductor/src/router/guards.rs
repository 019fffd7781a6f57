//! What passes a guard means the same to every reader: an ambiguous message is refused before it gets there, as the
//! guard might read it in one way and its recipient in another.

use acp_chain_acp::UPDATE;
use acp_chain_powers::{is_like_one_of_protocol, is_of_protocol};

use std::ops::ControlFlow;

use super::core::Core;
use super::steps::Steps;
use crate::losses::Loss;
use crate::route::HopIndex;
use crate::routed::Routed;
use acp_chain_channel::subject;
use acp_chain_rpc::{Error, Message, aside, canonical, code, is_unclear_update};

/// Lets a message reach a proxy. An ambiguous one does not reach a guard: it is refused, or becomes an error.
pub(super) fn admit(
    core: &mut Core,
    index: HopIndex,
    mut routed: Routed,
    steps: &mut Steps,
) -> ControlFlow<(), Routed> {
    if !core.hops[index].is_guard() {
        return ControlFlow::Continue(routed);
    }
    let length = routed.message.len();
    let Err(why) = aside(length, || judge(core, index, &mut routed)) else {
        return ControlFlow::Continue(routed);
    };
    let name = core.hops[index].name();
    let method =
        acp_chain_rpc::untrusted::quote(&routed.method, acp_chain_rpc::untrusted::MAX_QUOTE);
    let text = format!("{method} cannot pass the guard `{name}`: {why}");
    core.lose_on_way(Loss::Guarded, index, &routed, &text);
    let text = format!("acp-chain: {text}");
    let error = Message::error(&Error::new(code::INVALID_REQUEST, text));
    if routed.is_response() {
        routed.message = error;
        return ControlFlow::Continue(routed);
    }
    steps.answer_here(&routed, error);
    ControlFlow::Break(())
}

fn judge(core: &Core, index: HopIndex, routed: &mut Routed) -> Result<(), String> {
    if routed.labels.is_canonical() {
        return Ok(());
    }
    let sender = routed.toward.opposite();
    if !is_of_protocol(&subject(&routed.message, sender, &routed.method)) {
        return Err(format!(
            "the protocol has no such message from the {}",
            sender.as_str()
        ));
    }
    if let Some(known) = is_like_one_of_protocol(&routed.method) {
        return Err(format!("some readers take its name for `{known}`"));
    }
    let hop = &core.hops[index];
    // Which of them it asks for depends on their kind.
    let is_unclear = || {
        &*routed.method == UPDATE
            && hop.has_subscribed(routed)
            && is_unclear_update(routed.message.body())
    };
    if routed.message.is_ambiguous() || hop.subscription(routed).is_some() || is_unclear() {
        canonical(&routed.message).map_err(|why| why.to_string())?;
        routed.labels.mark_canonical();
    }
    Ok(())
}
