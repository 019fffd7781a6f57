//! Values that proxies load and store.
//!
//! The router only collects the requests: the conductor asks for the values. A request is open until its outcome is
//! known, and counts like one to a neighbour; if its instance has ended by then, the outcome is dropped.

use std::sync::Arc;

use super::core::{Core, returning};
use super::steps::Answer;
use super::waiting;
use crate::stored::{NOT_HERE, ValueCall, ValueRequest};
use acp_chain_channel::{MessageId, Owner, Peer};
use acp_chain_hops::exchange::{ExchangeId, Origin};
use acp_chain_hops::hop::Item;
use acp_chain_hops::labels::Labels;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Message, code};

/// Collects a request of a proxy.
pub(super) fn ask(
    core: &mut Core,
    index: HopIndex,
    id: MessageId,
    of: &Owner,
    key: String,
    call: ValueCall,
) {
    let (route, at) = core.default_route(index);
    let message = call.message(of, &key);
    let Some(number) = core.open_own(index, id, Peer::Client, &route, &message) else {
        return;
    };
    let mut routed = Routed::new(message, route, at, Peer::Client);
    routed.exchange = Some(number);
    routed.labels = Labels::sent_by(index, &core.hops);
    core.note_start(&mut routed);
    core.trace_as_sent(&routed);
    let project = match owner(core, index, of) {
        Ok(project) => project,
        Err(error) => return receive(core, number, Message::error(&error)),
    };
    waiting::charge(core, &mut routed);
    core.values.push_back(ValueRequest {
        number,
        proxy: core.hops[index].name().to_owned(),
        project,
        key,
        call,
        _charge: routed.charge.take(),
    });
}

/// The folder of the project whose value a proxy means; `None` for the user.
fn owner(core: &Core, index: HopIndex, of: &Owner) -> Result<Option<Arc<str>>, Error> {
    let hop = &core.hops[index];
    // A project's proxy may have the id of one of the user's.
    if !core.keeps_values || !hop.is_own(hop.name()) {
        return Err(Error::new(code::INTERNAL_ERROR, NOT_HERE));
    }
    let Some(session) = of.session() else {
        return Ok(None);
    };
    let folder = folder(core, index, session);
    folder.map(Some).ok_or_else(|| {
        let text = "the session is not known, or its setup has named no folder";
        Error::new(code::INVALID_PARAMS, text)
    })
}

/// The folder of a session, as a proxy names the session.
fn folder(core: &Core, index: HopIndex, session: &Arc<str>) -> Option<Arc<str>> {
    let (route, at) = core.default_route(index);
    let mut programs = core.programs.iter();
    // Behind a native proxy, sessions may have other names.
    let near = if programs.any(|program| route.position(*program) > Some(at)) {
        Peer::Client
    } else {
        Peer::Agent
    };
    let sessions = &core.sessions;
    let folder = sessions.folder(near, session);
    folder.or_else(|| sessions.folder(near.opposite(), session))
}

/// Queues the outcome of a request for its proxy.
pub(super) fn receive(core: &mut Core, number: ExchangeId, outcome: Message) {
    let Some(exchange) = core.exchanges.get(number) else {
        return;
    };
    let Origin::Hop(index, _) = exchange.origin else {
        return;
    };
    let Some(at) = exchange.route.position(index) else {
        return;
    };
    let answer = Answer {
        number,
        at,
        message: outcome,
        labels: Labels::sent_by(index, &core.hops),
    };
    let mut routed = returning(exchange, &core.hops, answer);
    routed.requester = Some(index);
    core.note_start(&mut routed);
    core.note_queued(&mut routed);
    waiting::charge(core, &mut routed);
    core.enqueue(index, Item::Outcome(routed));
}
