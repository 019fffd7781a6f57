//! Which side of a chain a call belongs to, by its sender and form (RFD proxy-chains): calls in `proxy/successor`
//! belong to the agent's. The methods of the proxy protocol itself are unwrapped or rejected here, and are never
//! routed.
//!
//! Nor are messages of the protocol whose parameters are a list (JSON-RPC 2.0 §4.2, "by-position"): readers in Rust
//! take its elements for the members, in the order in which they have declared them, while proxies and the host would
//! find no session, no prompt and no tool call in it. An empty list passes: software in PHP and Lua writes objects
//! without members so.

use std::borrow::Cow;

use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL, Dialect, HOOK, INITIALIZE, is_method, is_successor};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::Exchange;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Kind, Message, code, is_by_position, member};

/// The side of a call, and the unwrapped call; or the error with which it is rejected.
type UnwrapResult = Result<(Peer, Message), Error>;

/// A call from the client or the agent: it belongs to that side.
pub(super) fn of_an_end(end: Peer, message: Message) -> UnwrapResult {
    let method = message.method();
    if is_host_method(method) {
        refused(format!(
            "{method} is spoken between a conductor and its proxies"
        ))
    } else {
        with_names(end, message)
    }
}

/// A call from a native proxy, whose successor has this name; the returned side is the receiver.
pub(super) fn of_a_proxy(message: Message, successor: &str) -> UnwrapResult {
    let method = message.method();
    if !is_host_method(method) {
        with_names(Peer::Client, message)
    } else if is_successor(method) {
        with_names(Peer::Agent, opened(&message, Some(successor), false)?)
    } else {
        refused(format!("{method} is the host's own to send"))
    }
}

/// A call from the parent, if the chain is itself a proxy; the returned side is the sender. `sees_tool_runs` says
/// whether the parent may send what the agent's hooks report.
pub(super) fn of_the_parent(message: Message, sees_tool_runs: bool) -> UnwrapResult {
    let method = message.method();
    if is_successor(method) {
        return with_names(Peer::Agent, opened(&message, None, sees_tool_runs)?);
    }
    if Dialect::of_initialize(method).is_some() && message.kind() == Kind::Request {
        // For the parts of the chain, this is the client's first message.
        return with_names(Peer::Client, message.with_method(INITIALIZE));
    }
    if is_host_method(method) || &**method == INITIALIZE {
        refused(format!("{method} is not for a proxy"))
    } else {
        with_names(Peer::Client, message)
    }
}

/// A call with its side, unless it is of the protocol and lists its parameters.
fn with_names(side: Peer, message: Message) -> UnwrapResult {
    if is_by_position(message.body()) && is_method(message.method()) {
        let reason = format!("the parameters of {} are an object", message.method());
        return Err(Error::new(code::INVALID_PARAMS, reason));
    }
    Ok((side, message))
}

/// The answer to a request, or an error in the place of one of the protocol that is a list.
pub(super) fn answer_with_names(asked: Option<&Exchange>, answer: Message) -> Message {
    if answer.kind() != Kind::Result || !is_by_position(answer.body()) {
        return answer;
    }
    let Some(asked) = asked.filter(|asked| is_method(&asked.method)) else {
        return answer;
    };
    let method = &asked.method;
    let reason = format!("acp-chain: the answer to {method} is a list, and must be an object");
    Message::error(&Error::new(code::INTERNAL_ERROR, reason))
}

/// The message that a call wraps. The call may name the successor (RFD proxy-chains: M:N topologies), though there is
/// only one.
fn opened(
    message: &Message,
    successor: Option<&str>,
    sees_tool_runs: bool,
) -> Result<Message, Error> {
    let method = message.method();
    if let Some(peer) = member(message.body(), "peer").filter(|peer| *peer != "null") {
        let name = serde_json::from_str::<Cow<str>>(peer).ok();
        if name.is_none() || name.as_deref() != successor {
            let known = successor.map_or(String::new(), |name| format!("; it is `{name}`"));
            let peer = quote(peer, MAX_QUOTE);
            let reason = format!("there is no successor {peer} here{known}");
            return Err(Error::new(code::INVALID_PARAMS, reason));
        }
    }
    match message.carried() {
        None => {
            let reason = format!("a {method} must have a method in its params");
            Err(Error::new(code::INVALID_PARAMS, reason))
        }
        Some(inner) if sees_tool_runs && is_report(&inner) => Ok(inner),
        // A proxy passes on unknown methods. If it passes on its own first message, it has another dialect: it gets
        // "method not found", as from an agent.
        Some(inner) if is_host_method(inner.method()) => {
            let reason = format!("{} is not a message for a {method}", inner.method());
            Err(Error::new(code::METHOD_NOT_FOUND, reason))
        }
        Some(inner) => Ok(inner),
    }
}

/// Whether a method is used only between a conductor and its proxies.
fn is_host_method(method: &str) -> bool {
    is_successor(method) || method.starts_with(HOOK) || Dialect::of_initialize(method).is_some()
}

/// Whether a message is about a tool run that the agent's hooks report.
fn is_report(message: &Message) -> bool {
    message.kind() == Kind::Request && [BEFORE_TOOL, AFTER_TOOL].contains(&&**message.method())
}

fn refused(reason: String) -> UnwrapResult {
    Err(Error::new(code::INVALID_REQUEST, reason))
}
