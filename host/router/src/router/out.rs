//! Sends messages at the ends. No other file does.

use std::ops::ControlFlow;

use super::core::Core;
use super::mcp::Mcp;
use super::scope::scoped;
use super::{answers, reports, setup, signs};
use crate::losses::Loss;
use acp_chain_acp::Life;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::Stage;
use acp_chain_hops::route::{Place, Via};
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Message, code};

/// Sends a message to an end, or hands an answer to its requester.
pub(super) fn leave(core: &mut Core, mcp: &mut Mcp, peer: Peer, mut routed: Routed) {
    if peer == Peer::Agent && core.proof.is_some() {
        match signs::admit(core, routed) {
            ControlFlow::Continue(admitted) => routed = admitted,
            ControlFlow::Break(()) => return,
        }
    }
    if peer == Peer::Agent
        && routed.life == Life::Prompts
        && !routed.is_response()
        && core.has_halted()
    {
        return refuse_unrecorded(core, &routed);
    }
    if peer == Peer::Agent
        && !routed.is_response()
        && let Some(message) = core.propagated(&routed)
    {
        routed.message = message;
    }
    if peer == Peer::Agent {
        core.note_stop(&mut mcp.turns, &routed);
    }
    core.trace(&routed);
    if peer == Peer::Client && routed.is_of_hook() {
        return reports::passed(core, &routed);
    }
    if let Via::Link(link) = routed.via
        && !routed.is_response()
    {
        return mcp.router(core).send_to_link(link, &routed);
    }
    if routed.is_response() && routed.exchange.is_some() {
        return answers::arrived(core, mcp, routed);
    }
    let translated = match peer {
        Peer::Agent => setup::leaves_to_agent(core, mcp, &routed),
        Peer::Client => scoped(&core.exchanges, &routed, Place::Edge(peer)),
    };
    let Some(number) = routed.exchange else {
        if peer == Peer::Client {
            core.note_notification(&mcp.turns, &routed.message);
        }
        if peer == Peer::Agent
            && let Err(error) = &translated
        {
            return core.lose(Loss::Refused, Place::Edge(Peer::Client), &error.message);
        }
        let message = translated.as_ref().ok().and_then(Option::as_ref);
        return core.send(peer, message.unwrap_or(&routed.message), None);
    };
    let error = core.edge(peer).mute.clone();
    let message = match (&error, &translated) {
        (Some(error), _) | (None, Err(error)) => {
            let error = Message::error(error);
            return core.answer_of_end(number, peer, error);
        }
        (None, Ok(translated)) => translated.as_ref().unwrap_or(&routed.message),
    };
    core.send(peer, message, Some(&number.to_string()));
    core.exchanges.stage(number, Stage::Out);
    core.send_cancel(number);
}

/// Refuses a prompt of which there would be no receipts.
#[cold]
fn refuse_unrecorded(core: &mut Core, prompt: &Routed) {
    let why = "there can be no receipts of this turn, so it does not begin; the log says why. Once that is repaired, \
               restart acp-chain";
    let Some(number) = prompt.exchange else {
        return core.lose(Loss::Refused, Place::Edge(Peer::Client), &why);
    };
    core.losses
        .note(Loss::Refused, Place::Edge(Peer::Client), &why);
    let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: {why}"));
    core.answer_of_end(number, Peer::Agent, Message::error(&error));
}
