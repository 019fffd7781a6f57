//! Cancelled requests: the cancellation goes to the part that has the request.

use super::cancel::{UnnamedRequest, new_cancel, withdrawn};
use super::core::Core;
use super::mcp::Mcp;
use super::{projects, signs};
use crate::losses::Loss;
use acp_chain_acp::CANCEL_REQUEST;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Stage};
use acp_chain_hops::hop::Item;
use acp_chain_hops::route::Place;
use acp_chain_rpc::Message;

/// Receives a cancellation from one end.
pub(super) fn receive(core: &mut Core, mcp: &mut Mcp, from: Peer, message: &Message) {
    let end = from.as_str();
    let edge = core.edge(from);
    match withdrawn(|id| edge.find_open(id), message) {
        Ok(Some((number, cancel))) => withdraw(core, mcp, number, cancel),
        // The answer and the cancellation crossed.
        Ok(None) => {
            let why = format_args!("a {CANCEL_REQUEST} from the {end} came too late");
            core.lose(Loss::Crossed, Place::Edge(from), &why);
        }
        Err(UnnamedRequest) => {
            let why =
                format_args!("dropped a {CANCEL_REQUEST} from the {end} that names no request");
            core.lose(Loss::Misplaced, Place::Edge(from), &why);
        }
    }
}

/// Passes a cancellation on to the part that has the request.
pub(super) fn withdraw(core: &mut Core, mcp: &mut Mcp, number: ExchangeId, cancel: Message) {
    let Some(exchange) = core.exchanges.get_mut(number) else {
        return;
    };
    if exchange.cancel.is_some() {
        return;
    }
    let has_room = exchange.may_grow(cancel.len());
    exchange.cancel = Some(if has_room { cancel } else { new_cancel() });
    let stage = exchange.stage;
    core.trace_cancel(number);
    match stage {
        Stage::Held(hop, id) => core.enqueue(hop, Item::Cancel(id)),
        Stage::Out | Stage::Native(_) => core.send_cancel(number),
        Stage::Waiting => projects::withdraw(core, number),
        Stage::Unproven => signs::withdraw(core, number),
        Stage::Link(link) => mcp.cancel_at_link(link, number),
        Stage::Seat(server) => mcp.router(core).withdraw_from_seat(server, number),
        // The next part gets the cancellation after the request.
        Stage::Moving | Stage::Returning => {}
    }
}
