//! Messages that pass a guard must be unambiguous: an ambiguous one is refused before it reaches the guard, as the
//! guard might read it in one way and its recipient in another.

use acp_chain_acp::UPDATE;
use acp_chain_powers::{is_like_one_of_protocol, is_of_protocol};

use std::ops::ControlFlow;

use super::core::Core;
use crate::losses::Loss;
use acp_chain_channel::subject;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_recorder::Would;
use acp_chain_rpc::{Error, Message, aside, canonical, code, is_unclear_update};

/// Admits a message to a proxy. If the proxy is a guard and the message is ambiguous, the message is refused; a
/// response is replaced by an error.
pub(super) fn admit(
    core: &mut Core,
    index: HopIndex,
    mut routed: Routed,
) -> ControlFlow<(), Routed> {
    if !core.hops[index].is_guard() {
        return ControlFlow::Continue(routed);
    }
    let length = routed.message.len();
    let Err(why) = aside(length, || judge(core, index, &mut routed)) else {
        return ControlFlow::Continue(routed);
    };
    if core.is_dry_run() {
        core.note_spared(index, &routed, Would::Refuse, Some(&why));
        return ControlFlow::Continue(routed);
    }
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
    core.steps.answer_here(&routed, error);
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
    // Whether the guard subscribes to an update depends on the update's kind.
    let is_unclear = || {
        &*routed.method == UPDATE
            && hop.has_subscribed(routed)
            && is_unclear_update(routed.message.body())
    };
    if routed.message.is_ambiguous() || hop.subscription(routed).is_some() || is_unclear() {
        canonical(&routed.message, &routed.method).map_err(|why| why.to_string())?;
        routed.labels.mark_canonical();
    }
    Ok(())
}
