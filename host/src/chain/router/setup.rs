//! The one hook of what sets things up: `initialize`, and requests that begin and end sessions. All else
//! passes by here at the cost of a comparison.

use std::sync::Arc;

use super::core::Core;
use super::mcp::{Mcp, Provider};
use super::steps::Steps;
use crate::chain::exchange::{Boundary, Exchange, ExchangeId};
use crate::chain::routed::Routed;
use crate::mcp::capabilities::Capabilities;
use crate::mcp::declaration::DeclarationError;
use crate::rpc::{Error, Kind, Message, code, member};

/// Lets a request set out, with the servers over ACP that it declares; one that declares what
/// nobody can read is refused, and goes nowhere.
#[inline]
pub(super) fn sets_out(
    core: &mut Core,
    mcp: &mut Mcp,
    mut routed: Routed,
    provider: Provider,
    steps: &mut Steps,
) -> Option<Routed> {
    match (changed(core, mcp, &mut routed, provider), routed.exchange) {
        (Err(error), Some(number)) => {
            let error = Error::new(code::INVALID_PARAMS, format!("acp-chain: {error}"));
            steps.answer_at(number, routed.at + 1, Message::error(&error));
            None
        }
        _ => Some(routed),
    }
}

/// A message is as somebody made it: servers over ACP that it declares are taken over.
#[inline]
pub(super) fn changed(
    core: &mut Core,
    mcp: &mut Mcp,
    routed: &mut Routed,
    provider: Provider,
) -> Result<(), DeclarationError> {
    match routed.boundary {
        Boundary::Session => mcp.adopt(core, routed, provider),
        _ => Ok(()),
    }
}

/// A message leaves a proxy: what that has for the agent is declared.
#[inline]
pub(super) fn leaves_proxy(core: &mut Core, mcp: &mut Mcp, routed: &mut Routed) {
    if routed.boundary == Boundary::Session {
        mcp.add_component(core, routed);
    }
}

/// What the agent gets in the place of a message, if it is to be another.
#[inline]
pub(super) fn leaves_to_agent(core: &mut Core, mcp: &mut Mcp, routed: &Routed) -> Option<Message> {
    match routed.boundary {
        Boundary::Session => mcp.declare(core, routed),
        _ => None,
    }
}

/// Looks at an answer of the agent's, before anybody else: what it can, and which sessions begin and
/// end.
pub(super) fn answered(
    core: &Core,
    mcp: &mut Mcp,
    number: ExchangeId,
    message: &Message,
    steps: &mut Steps,
) {
    let Some(exchange) = core.exchanges.get(number) else {
        return;
    };
    if exchange.boundary == Boundary::Inner || message.kind() != Kind::Result {
        return;
    }
    // As the agent knows it.
    let session = match exchange.renamed.last() {
        Some((_, session)) => session.clone(),
        None => exchange.session.clone(),
    };
    match exchange.boundary {
        Boundary::Connection => mcp.agent = Capabilities::read(message.body()),
        Boundary::End => {
            if let Some(session) = session {
                mcp.close_session(&session, steps);
            }
        }
        Boundary::Session => {
            let named = member(message.body(), "sessionId");
            let named = named.and_then(|id| serde_json::from_str::<String>(id).ok());
            let session = match (named, &*exchange.method) {
                (Some(named), _) => Some(Arc::from(named)),
                (None, "session/fork") => None,
                (None, _) => session,
            };
            mcp.begin_session(number, session.as_ref(), steps);
        }
        Boundary::Inner => {}
    }
}

/// A request to set up a session has its answer. Says whether something ends before anybody hears it.
pub(super) fn is_over(mcp: &mut Mcp, number: ExchangeId, steps: &mut Steps) -> bool {
    mcp.setup_is_over(number, steps)
}

/// Looks at what the client or the agent is told in answer to a request: of `initialize`, the version
/// that was agreed on.
#[inline]
pub(super) fn told(core: &mut Core, exchange: &Exchange, answer: &Message) {
    if exchange.boundary == Boundary::Connection && answer.kind() == Kind::Result {
        let version = member(answer.body(), "protocolVersion");
        core.version = version.and_then(|text| text.parse().ok()).unwrap_or(1);
    }
}
