//! The hook for `initialize`, and for requests that begin and end sessions. All other messages cost only a comparison.

use std::sync::Arc;

use serde_json::json;

use super::core::Core;
use super::lookups::cwd;
use super::mcp::{Mcp, Provider};
use crate::sign_in::without_terminals;
use acp_chain_acp::{ACKNOWLEDGED, Life, protocol_version};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{Exchange, ExchangeId, Stage};
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::capabilities::Capabilities;
use acp_chain_rpc::{Error, Kind, Message, code, member, merge};

/// Starts a request: adopts the MCP servers over ACP that it declares. A request with malformed declarations is
/// answered with an error, and `None` is returned.
#[inline]
pub(super) fn sets_out(
    core: &mut Core,
    mcp: &mut Mcp,
    mut routed: Routed,
    provider: Provider,
) -> Option<Routed> {
    if !routed.life.sets_up() {
        return Some(routed);
    }
    if core.sessions.are_apart {
        open(core, &routed, provider);
    }
    match (mcp.adopt(core, &mut routed, provider), routed.exchange) {
        (Err(error), Some(number)) => {
            let error = Error::new(code::INVALID_PARAMS, format!("acp-chain: {error}"));
            core.steps.refuse_at(number, routed.at + 1, &error);
            None
        }
        _ => Some(routed),
    }
}

/// Notes that a request sets up a session, where sessions may have different routes: from now on, messages that name
/// the session take its route.
#[cold]
fn open(core: &mut Core, routed: &Routed, provider: Provider) {
    let Some(number) = routed.exchange.filter(|_| routed.toward == Peer::Agent) else {
        return;
    };
    let (side, repeats) = match provider {
        Provider::Client => (Peer::Client, None),
        Provider::Proxy(index) | Provider::Component(index) => {
            (Peer::Agent, repeated_by(core, index, &routed.message))
        }
    };
    let cwd = folder(core, number, &routed.message);
    let route = routed.route.clone();
    core.sessions.setups.open(number, repeats, route, cwd);
    name(core, side, routed);
}

/// The working directory that a setup request names, charged to the request; `None` if there is no room for it.
fn folder(core: &mut Core, number: ExchangeId, request: &Message) -> Option<Arc<str>> {
    let cwd = cwd(request)?;
    let has_room = core.exchanges.get_mut(number)?.may_grow(cwd.len());
    has_room.then(|| cwd.into())
}

/// Notes a side's name for a session that is being set up.
fn name(core: &mut Core, side: Peer, routed: &Routed) {
    if let (Some(number), Some(session)) = (routed.exchange, routed.named_session()) {
        core.sessions.name(number, side, session);
    }
}

/// The request at a native proxy that the proxy's own setup request repeats: preferably one in the same folder, then
/// one that is not repeated yet, then the first.
pub(super) fn repeated_by(core: &Core, index: HopIndex, own: &Message) -> Option<ExchangeId> {
    let cwd = cwd(own);
    let all = core.exchanges.iter().filter(|(_, exchange)| {
        exchange.stage == Stage::Native(index)
            && exchange.toward == Peer::Agent
            && exchange.method == *own.method()
            && exchange.far_session() == own.session()
    });
    let setups = &core.sessions.setups;
    let repeated = setups.repeated();
    let best = all.min_by_key(|(number, _)| {
        let is_other = setups.cwd(*number).map(|cwd| &**cwd) != cwd.as_deref();
        (is_other, repeated.contains(number), *number)
    });
    best.map(|(number, _)| number)
}

/// Handles a message that leaves a proxy: declares the proxy's offers to the agent.
#[inline]
pub(super) fn leaves_proxy(core: &mut Core, mcp: &mut Mcp, routed: &mut Routed) {
    if routed.life.is_boundary() {
        begins_or_ends(core, mcp, routed);
    }
}

#[cold]
fn begins_or_ends(core: &mut Core, mcp: &mut Mcp, routed: &mut Routed) {
    if routed.life.sets_up() {
        mcp.add_component(core, routed);
    } else if routed.is_beginning() && core.sessions.are_apart {
        core.sessions.note_beginning(routed, core.joined.front);
    }
}

/// The message that the agent gets instead of this one, if it must be changed; an error if it must and cannot.
#[inline]
pub(super) fn leaves_to_agent(
    core: &mut Core,
    mcp: &mut Mcp,
    routed: &Routed,
) -> Result<Option<Message>, Error> {
    if routed.life.sets_up() {
        return declared(core, mcp, routed);
    }
    Ok(None)
}

#[cold]
fn declared(core: &mut Core, mcp: &mut Mcp, routed: &Routed) -> Result<Option<Message>, Error> {
    if let Some(number) = routed.exchange.filter(|_| core.sessions.are_apart) {
        let cwd = folder(core, number, &routed.message);
        core.sessions.setups.note_cwd(number, cwd);
        name(core, Peer::Agent, routed);
    }
    let declared = mcp.declare(core, routed);
    let proof = core.proof.as_ref();
    let Some(meta) = proof.and_then(|proof| proof.terms.meta.as_ref()) else {
        return Ok(declared);
    };
    let message = declared.as_ref().unwrap_or(&routed.message);
    let merged = merge(message.body(), &json!({ "_meta": meta })).map_err(|error| {
        let text = format!(
            "acp-chain: the agent's hooks cannot be added to the parameters of this request, as {error}; change that, \
             or start with `--hooks off`, and with no `hooks` in a manifest"
        );
        Error::new(code::INVALID_PARAMS, text)
    });
    Ok(Some(message.with_body(&merged?)))
}

/// Handles an answer of the agent before any proxy sees it: notes capabilities, and sessions that begin and end.
/// Returns the answer to send on.
pub(super) fn answered(
    core: &mut Core,
    mcp: &mut Mcp,
    number: ExchangeId,
    message: Message,
) -> Message {
    let version = core.version();
    let is_remote = core.is_remote;
    let Core {
        exchanges,
        sessions,
        hops,
        steps,
        proof,
        ..
    } = core;
    let Some(exchange) = exchanges.get(number) else {
        return message;
    };
    if !exchange.life.is_boundary() {
        return message;
    }
    let is_apart = sessions.are_apart || !exchange.route.is(&sessions.main) || proof.is_some();
    if is_apart && exchange.life.names_session() && names_no_text(&message) {
        sessions.setups.fail(number, Peer::Agent);
        return without_name();
    }
    if !is_done(exchange.life, version, &message) {
        if exchange.life.sets_up() {
            sessions.setups.fail(number, Peer::Agent);
            if let Some(session) = exchange.far_session() {
                sessions.fail(session);
            }
            return mcp.refused(hops, number, message);
        }
        return message;
    }
    // The agent's name for the session.
    let session = exchange.far_session().cloned();
    match exchange.life {
        Life::Connects => {
            mcp.agent = Capabilities::read(message.body());
            mcp.turns.agree(negotiated(&message));
            let answer = message.body();
            let why = proof.as_mut().and_then(|proof| proof.note_agent(answer));
            if let Some(why) = why {
                return unproven(core, message, &why);
            }
            if is_remote && let Some(result) = without_terminals(answer) {
                return message.with_body(&result);
            }
        }
        Life::Ends => {
            if let Some(session) = session {
                exchanges.end_turns(&session);
                mcp.close_session(&session, steps);
                sessions.end(Peer::Agent, &session);
            }
        }
        _ => {
            let session = session_of(exchange, session, &message);
            let cwd = sessions.setups.cwd(number).cloned();
            if let Some(session) = &session
                && !sessions.begin(Peer::Agent, session, &exchange.route, cwd)
            {
                return too_many();
            }
            if let Some(session) = session.as_ref().filter(|_| sessions.are_apart) {
                // Until the answer has reached the client.
                sessions.name(number, Peer::Client, session);
            }
            if let Some(session) = session.as_ref().filter(|_| exchange.life == Life::Begins)
                && let Some(proof) = proof
            {
                proof.note_new(session);
            }
            mcp.begin_session(number, session.as_ref(), steps);
        }
    }
    message
}

/// The answer to `initialize` of an agent whose hooks may not work as expected, for this reason: an error if they are
/// required.
#[cold]
fn unproven(core: &mut Core, answer: Message, why: &str) -> Message {
    let is_refused = core.proof.as_ref().is_some_and(|proof| proof.is_another());
    if is_refused {
        tracing::error!("the agent is refused: {why}");
        let text = format!(
            "acp-chain: `hooks` is `required`, and {why}; use one of these versions, or start with `--hooks best-effort`"
        );
        return Message::error(&Error::new(code::INTERNAL_ERROR, text));
    }
    let text = format!("what the agent runs may not all be seen beforehand: {why}.");
    core.tell_once("agent", &text);
    answer
}

/// The version that an answer to `initialize` names.
fn negotiated(answer: &Message) -> u64 {
    let version = member(answer.body(), "protocolVersion");
    version.and_then(protocol_version).unwrap_or(1)
}

/// Whether an answer means that the request succeeded. In version 2, a session that the agent cannot find has ended
/// (`CloseSessionRequest`).
fn is_done(of: Life, version: u64, answer: &Message) -> bool {
    let may_have_ended = of == Life::Ends && version >= ACKNOWLEDGED;
    answer.kind() == Kind::Result || may_have_ended && answer.is_error(code::RESOURCE_NOT_FOUND)
}

/// Whether an answer names a session, but by something else than a text. No session could be told by it: neither its
/// proxies nor the signs of the agent's hooks in it.
fn names_no_text(answer: &Message) -> bool {
    let named = || member(answer.body(), "sessionId").is_some_and(|name| name != "null");
    answer.kind() == Kind::Result && answer.session().is_none() && named()
}

/// The error in place of such an answer.
fn without_name() -> Message {
    let text = "acp-chain: the agent names the session by something else than a text, so that it cannot be told \
                which proxies it has; use another version of the agent";
    Message::error(&Error::new(code::INTERNAL_ERROR, text))
}

/// The error for a session that cannot be kept: it must not begin, as it would take another route.
fn too_many() -> Message {
    let text = "acp-chain: the open sessions take too much memory; close some of them first";
    Message::error(&Error::new(code::INTERNAL_ERROR, text))
}

/// Handles an answer that the client or the agent gets: notes the negotiated version, and sessions that begin and end.
/// Returns the error to send instead, if a session cannot be kept.
#[inline]
pub(super) fn read_answer(
    core: &mut Core,
    peer: Peer,
    exchange: &Exchange,
    routed: &Routed,
) -> Option<Message> {
    let answer = &routed.message;
    if !exchange.life.is_boundary() || !is_done(exchange.life, core.version(), answer) {
        return None;
    }
    if exchange.life == Life::Connects {
        core.agree(negotiated(answer));
        return None;
    }
    // The requester's name for the session.
    let asked = match exchange.renamed.first() {
        Some((_, session)) => session.clone(),
        None => exchange.session.clone(),
    };
    let session = session_of(exchange, asked, answer)?;
    if exchange.life == Life::Ends {
        core.turns.end(&session);
        core.sessions.end(peer, &session);
        return None;
    }
    let sessions = &mut core.sessions;
    let number = routed.exchange;
    let cwd = number.and_then(|number| sessions.setups.cwd(number).cloned());
    let has_room = sessions.begin(peer, &session, &exchange.route, cwd);
    (!has_room).then(too_many)
}

/// The session that a request begins or ends with this answer. `asked` is the session that the request names.
fn session_of(exchange: &Exchange, asked: Option<Arc<str>>, answer: &Message) -> Option<Arc<str>> {
    if exchange.life == Life::Ends {
        return asked;
    }
    // Also a name that cannot be decoded, by which later messages name it.
    match (answer.session().cloned(), exchange.life) {
        (Some(named), _) => Some(named),
        // The request names the session that is forked.
        (None, Life::Forks) => None,
        (None, _) => asked,
    }
}
