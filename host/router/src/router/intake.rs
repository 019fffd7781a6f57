//! Messages that arrive at the ends, and ends that no longer read or answer.

use std::ops::ControlFlow;

use super::core::Core;
use super::exchanges::admit;
use super::hooks::ReportNumber;
use super::lookups::WaitingMessage;
use super::mcp::{Mcp, Provider, is_mcp};
use super::sides::{answer_with_names, of_an_end, of_the_parent};
use super::steps::Step;
use super::{calls, projects, setup, way, withdraw};
use crate::losses::Loss;
use acp_chain_acp::{Life, cancels_request};
use acp_chain_channel::{Peer, Subject};
use acp_chain_hops::exchange::{Exchange, ExchangeId, Origin, PromptState, Stage};
use acp_chain_hops::route::Place;
use acp_chain_hops::routed::Routed;
use acp_chain_powers::is_of_protocol;
use acp_chain_rpc::{Error, Id, Kind, Message, excerpt, text_member};

/// Receives a message from one end; a parent's messages come from the client's end.
pub(super) fn receive(core: &mut Core, mcp: &mut Mcp, from: Peer, message: Message) {
    let kind = message.kind();
    if kind.is_response() {
        return answer(core, mcp, from, message);
    }
    let id = message.id().filter(|_| kind == Kind::Request);
    let call = match core.parent {
        None => of_an_end(from, message),
        Some(_) => of_the_parent(message, core.sees_tool_runs),
    };
    match (call, id) {
        (Ok((from, message)), Some(id)) if is_notification(from, &message) => {
            // Software that writes all members has null for the id of a notification, and expects no answer.
            if id != Id::null() {
                core.edge(from).answer_at_once(&id, &Message::result("{}"));
            }
            let plain = Message::notification(message.method(), message.body());
            notification(core, mcp, from, plain);
        }
        (Ok((from, message)), Some(id)) => request(core, mcp, from, id, message),
        (Ok((from, message)), None) => notification(core, mcp, from, message),
        (Err(error), Some(id)) => refuse(core, from, &id, &error),
        (Err(error), None) => {
            let (end, reason) = (from.as_str(), &error.message);
            let why = format_args!("dropped a notification from the {end}: {reason}");
            core.lose(Loss::Misplaced, Place::Edge(from), &why);
        }
    }
}

/// Whether a request is a notification, to which its sender has given an id: stopping a turn never fails, and nothing
/// of a turn is lost.
fn is_notification(from: Peer, request: &Message) -> bool {
    let method = &**request.method();
    let is_sent_as = |kind| {
        is_of_protocol(&Subject {
            sender: from,
            kind,
            method,
            update: None,
            is_replayed: false,
        })
    };
    match Life::of(method) {
        Life::Stops => true,
        _ if cancels_request(method) => true,
        Life::Serves => !is_sent_as(Kind::Request) && is_sent_as(Kind::Notification),
        _ => false,
    }
}

fn notification(core: &mut Core, mcp: &mut Mcp, from: Peer, message: Message) {
    if cancels_request(message.method()) {
        return withdraw::receive(core, mcp, from, &message);
    }
    let is_mcp = is_mcp(message.method());
    if is_mcp && from == Peer::Client {
        return mcp
            .router(core)
            .receive_from_provider(Provider::Client, None, &message);
    }
    if from == Peer::Client
        && let Some(behind) = core.lookups.behind(message.session())
    {
        return behind.other(message);
    }
    if from == Peer::Client
        && Life::of(message.method()) == Life::Stops
        && let Some(session) = message.session()
    {
        core.give_up_turns(session);
    }
    if from == Peer::Agent && core.proof.is_some() {
        calls::updated(core, mcp, &message);
    }
    if from == Peer::Agent && mcp.turns.acknowledges() {
        mcp.note_state(core, &message);
    }
    let mut routed = core.sent_by(from, message);
    if from == Peer::Agent && core.sessions.are_apart {
        core.sessions.adopt(&routed.message, &routed.route);
    }
    if is_mcp && let Err(error) = mcp.head_for_seat(core, &mut routed) {
        return core.lose(Loss::Unconnected, Place::Edge(from), &error);
    }
    way::carry(core, mcp, routed);
}

fn request(core: &mut Core, mcp: &mut Mcp, from: Peer, id: Id, message: Message) {
    if from == Peer::Agent && core.proof.is_some() {
        calls::asked(core, &message);
    }
    let edge = core.edge(from);
    let charge = match admit(&id, &message, &edge.open, &edge.kept) {
        Ok(charge) => charge,
        Err(error) => return refuse(core, from, &id, &error),
    };
    let mut routed = core.sent_by(from, message);
    let origin = Origin::Edge(from, id.clone());
    let exchanges = &mut core.exchanges;
    let number = exchanges.open_routed(origin, Some(charge), &mut routed);
    core.edge(from).note_open(id, number);
    if is_mcp(&routed.method) {
        return request_of_mcp(core, mcp, from, number, routed);
    }
    if from == Peer::Client && core.lookups.are_on {
        match projects::wait(core, routed) {
            ControlFlow::Continue(goes_on) => routed = goes_on,
            ControlFlow::Break(()) => return,
        }
    }
    set_out(core, mcp, routed);
}

/// Starts a request that does not belong to MCP.
#[inline]
pub(super) fn set_out(core: &mut Core, mcp: &mut Mcp, routed: Routed) {
    let asked = match routed.session() {
        Some(session)
            if routed.toward == Peer::Agent
                && matches!(routed.life, Life::Prompts | Life::Ends) =>
        {
            Some((routed.life, session.clone()))
        }
        _ => None,
    };
    if let Some(routed) = setup::sets_out(core, mcp, routed, Provider::Client) {
        way::carry(core, mcp, routed);
    }
    // After the request: a prompt that is answered at once opens no turn.
    core.steps
        .extend(asked.map(|(life, session)| Step::ClientRequested(life, session)));
}

/// Sends on a message of the client that had to wait for its session's project.
pub(super) fn go_on(core: &mut Core, mcp: &mut Mcp, said: WaitingMessage) {
    let mut routed = match said {
        WaitingMessage::Request(routed) => routed,
        WaitingMessage::Other(message, charge) => {
            drop(charge);
            return receive(core, mcp, Peer::Client, message);
        }
    };
    // If the connection has ended, the request is answered already.
    let Some(exchange) = core.exchanges.of_mut(&routed) else {
        return;
    };
    let sessions = &core.sessions;
    exchange.route = sessions.route(Peer::Client, Peer::Agent, routed.session());
    routed.route = exchange.route.clone();
    routed.charge = None;
    if let ControlFlow::Continue(routed) = projects::wait(core, routed) {
        set_out(core, mcp, routed);
    }
}

/// Sends a request of MCP over ACP to the seat of its server. The seats of the client's servers are at the client's
/// end, so its requests have arrived already.
fn request_of_mcp(
    core: &mut Core,
    mcp: &mut Mcp,
    from: Peer,
    number: ExchangeId,
    mut routed: Routed,
) {
    if from == Peer::Client {
        return mcp.router(core).receive_from_provider(
            Provider::Client,
            Some(number),
            &routed.message,
        );
    }
    match mcp.head_for_seat(core, &mut routed) {
        Ok(()) => core.steps.push(Step::Send(routed)),
        Err(error) => {
            // The error bypasses all proxies, as the request was for none of them.
            core.exchanges.remove(number);
            let id = routed.message.id().unwrap_or_else(Id::null);
            core.edge(from).note_closed(&id, number);
            core.tell(from, &id, &error);
        }
    }
}

fn refuse(core: &mut Core, from: Peer, id: &Id, error: &Error) {
    let (end, reason) = (from.as_str(), &error.message);
    let why = format_args!("refused a request from the {end}: {reason}");
    core.lose(Loss::Refused, Place::Edge(from), &why);
    core.edge(from).answer_at_once(id, &Message::error(error));
}

fn answer(core: &mut Core, mcp: &mut Mcp, from: Peer, message: Message) {
    let id = message.id();
    let awaited = id.as_ref().and_then(|id| awaited(core, from, id));
    let Some((number, asked)) = awaited else {
        let loss = core.exchanges.loss_of_answer(&message);
        let (end, id) = (from.as_str(), id.as_ref().map_or("null", Id::as_str));
        let why = format!(
            "dropped a response of the {end} to no open request: id {id}{}",
            stated(&message)
        );
        return core.lose(loss, Place::Edge(from), &why);
    };
    let message = answer_with_names(core.exchanges.get(number), message);
    if asked == Peer::Client
        && core.lookups.are_on
        && let Some(exchange) = core.exchanges.get(number)
        && let Some(behind) = core.lookups.behind(exchange.far_session())
    {
        return behind.other(message);
    }
    if asked == Peer::Agent
        && mcp.tracks_turns()
        && let Some(prompt) = core.exchanges.get(number)
        && prompt.life == Life::Prompts
        && let Some(session) = prompt.far_session().cloned()
    {
        let ends = prompt.turn == PromptState::Over || message.says_end();
        let is_given_up = prompt.stopped || prompt.cancel.is_some();
        mcp.note_answered(core, session, ends, is_given_up);
    }
    if asked == Peer::Agent && core.proof.is_some() {
        calls::answered(core, mcp, number);
    }
    let message = match asked {
        Peer::Agent => setup::answered(core, mcp, number, message),
        Peer::Client => message,
    };
    core.answer_of_end(number, asked, message);
}

/// What an error states, for the log and the user.
fn stated(answer: &Message) -> String {
    let text = || text_member(answer.body(), "message");
    match text().filter(|_| answer.kind() == Kind::Error) {
        Some(text) => format!(", the error `{}`", excerpt(text.as_bytes())),
        None => String::new(),
    }
}

/// The open request with this id, and the end that it was sent to.
fn awaited(core: &Core, from: Peer, id: &Id) -> Option<(ExchangeId, Peer)> {
    let number = id.answered()?;
    let exchange = core.exchanges.get(number)?;
    is_out_at(core, from, exchange).then_some((number, exchange.toward))
}

/// Whether a request was sent to this end; a parent is both ends.
fn is_out_at(core: &Core, peer: Peer, exchange: &Exchange) -> bool {
    exchange.stage == Stage::Out && (exchange.toward == peer || core.parent.is_some())
}

/// Answers the request with this id with an error, as its answer was malformed. Returns whether there is such a
/// request.
pub(super) fn fail_answer(core: &mut Core, from: Peer, id: &Id, error: &Error) -> bool {
    let Some((number, asked)) = awaited(core, from, id) else {
        return false;
    };
    core.answer_of_end(number, asked, Message::error(error));
    true
}

/// Stops writing to an end that no longer reads, though it may still write: new requests to it are answered with this
/// error.
pub(super) fn stop_writing(core: &mut Core, peer: Peer, error: &Error) {
    let unread = core.edge(peer).outbox.len();
    let end = peer.as_str();
    let why = format_args!("{unread} bytes remain that the {end} does not read");
    core.lose(Loss::Unread, Place::Edge(peer), &why);
    let edge = core.edge(peer);
    edge.outbox.clear();
    edge.is_closed = true;
    edge.mute = Some(error.clone());
}

pub(super) fn fail_outstanding(core: &mut Core, peer: Peer, error: &Error) {
    let all = core.exchanges.iter();
    let lost = all.filter(|(_, exchange)| is_out_at(core, peer, exchange));
    let mut lost: Vec<_> = lost.map(|(id, exchange)| (id, exchange.toward)).collect();
    lost.sort_unstable_by_key(|(number, _)| *number);
    for (number, asked) in lost {
        core.answer_of_end(number, asked, Message::error(error));
    }
}

/// Answers all open requests of one end at once, past the proxies that have them.
pub(super) fn answer_all_open(core: &mut Core, peer: Peer, error: &Error) {
    let open: Vec<_> = core.edge(peer).open.drain().collect();
    for (_, number) in open {
        let exchange = core.exchanges.remove(number);
        if let Some(Origin::Edge(_, id)) = exchange.map(|exchange| exchange.origin) {
            core.tell(peer, &id, error);
        }
    }
}

/// Receives a report of the agent's hooks, as a request of the host.
pub(super) fn report(core: &mut Core, mcp: &mut Mcp, report: ReportNumber, request: Message) {
    if let Err(reason) = calls::reported(core, report, &request) {
        return core.hooks.refuse(report, reason);
    }
    let cost = Exchange::cost(None, &request);
    let Some(charge) = core.agent.kept.charge(cost) else {
        let reason = "acp-chain: too many requests are open already".to_owned();
        return core.hooks.refuse(report, reason);
    };
    let mut routed = core.sent_by(Peer::Agent, request);
    let (origin, exchanges) = (Origin::Hook(report), &mut core.exchanges);
    exchanges.open_routed(origin, Some(charge), &mut routed);
    way::carry(core, mcp, routed);
}
