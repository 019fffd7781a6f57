//! Answers: how they start, and how they reach the requester.

use super::core::{Core, returning};
use super::mcp::Mcp;
use super::steps::{Answer, ReturnedAnswer, Step};
use super::{native, reports, setup, work};
use crate::losses::Loss;
use acp_chain_acp::Life;
use acp_chain_channel::{Event, Peer};
use acp_chain_hops::exchange::{Exchange, Origin, Stage};
use acp_chain_hops::route::Place;
use acp_chain_hops::routed::Routed;
use acp_chain_hops::version::version_of;

/// Starts the answer to an open request. `None` if there is nothing to send through the chain.
pub(super) fn set_out(core: &mut Core, mcp: &mut Mcp, answer: Answer) -> Option<Routed> {
    let exchange = core.exchanges.get_mut(answer.number)?;
    if exchange.is_of_hook() {
        reports::refuse(core, answer.number, &answer.message);
        return None;
    }
    exchange.stage = Stage::Returning;
    let requester = match exchange.origin {
        Origin::Hop(hop, _) | Origin::Native(hop, _) => Some(hop),
        // Only a broken proxy leaves this request unanswered, and its failure is handled elsewhere.
        Origin::Introduction => {
            core.exchanges.remove(answer.number);
            return None;
        }
        Origin::Seat(server, question) => {
            mcp.router(core).seat_answered(server, question, answer);
            return None;
        }
        Origin::Edge(..)
        | Origin::Hook(_)
        | Origin::Link(..)
        | Origin::Connecting(..)
        | Origin::Leaving(_) => None,
    };
    let begins = exchange.life == Life::Connects;
    let original = begins.then(|| answer.message.clone());
    let mut routed = returning(exchange, &core.hops, answer);
    routed.requester = requester;
    if let Some(original) = original.filter(|original| original.body() != routed.message.body()) {
        let shown = std::mem::replace(&mut routed.message, original);
        core.note_start(&mut routed);
        core.trace_as_sent(&routed);
        routed.message = shown;
    }
    Some(routed)
}

/// Handles an answer that has arrived at its requester.
#[inline]
pub(super) fn arrived(core: &mut Core, mcp: &mut Mcp, routed: Routed) {
    let Some(number) = routed.exchange else {
        return;
    };
    let Some(exchange) = core.exchanges.remove(number) else {
        return;
    };
    if exchange.life.sets_up() {
        // Servers that the request declared may have to end first.
        mcp.end_setup(number, &mut core.steps);
        return core.steps.push(Step::HandOver(Box::new(ReturnedAnswer {
            number,
            exchange,
            routed,
        })));
    }
    hand_over(core, mcp, &exchange, &routed);
}

/// Hands over the answer to a request that set up a session, once everything that had to end first has ended.
pub(super) fn settle(core: &mut Core, mcp: &mut Mcp, back: &ReturnedAnswer) {
    hand_over(core, mcp, &back.exchange, &back.routed);
    core.sessions.setups.settle(back.number);
}

/// Gives an answer to the requester.
#[inline]
fn hand_over(core: &mut Core, mcp: &mut Mcp, exchange: &Exchange, routed: &Routed) {
    match &exchange.origin {
        Origin::Edge(peer, id) => {
            if exchange.life == Life::Prompts && *peer == Peer::Client {
                core.note_answered(exchange, &routed.message);
                core.note_dry_answer(exchange);
            }
            let instead = setup::read_answer(core, *peer, exchange, routed);
            let message = instead.as_ref().unwrap_or(&routed.message);
            let edge = core.edge(*peer);
            if let Some(number) = routed.exchange {
                edge.note_closed(id, number);
            }
            edge.send(message, Some(id.as_str()));
        }
        Origin::Link(link, id) => mcp.answer_link(*link, id, exchange.stands_alone, routed),
        Origin::Connecting(link, server) => {
            mcp.router(core)
                .link_connected(*link, *server, &routed.message);
        }
        Origin::Leaving(link) => mcp.router(core).drop_connections(*link),
        Origin::Native(index, id) => native::answer(core, *index, id, routed),
        Origin::Hop(index, id) => {
            if !core.hops[*index].note_answered(*id) {
                let why = "an earlier instance sent the request";
                return core.lose(Loss::Orphaned, Place::Hop(*index), &why);
            }
            core.trace(routed);
            let delivery = work::delivery(routed, *id, true);
            let version = version_of(*id);
            work::call(core, mcp, *index, version, Event::Answer(delivery));
        }
        Origin::Introduction | Origin::Hook(_) | Origin::Seat(..) => {}
    }
}
