//! Which side of a chain a call belongs to, by its sender and form (RFD proxy-chains): calls in `proxy/successor`
//! belong to the agent's. The methods of the proxy protocol itself never travel.

use std::borrow::Cow;

use crate::native::{Dialect, is_successor};
use acp_chain_acp::INITIALIZE;
use acp_chain_channel::Peer;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Kind, Message, code, member};

/// A side, and the call as it travels; or why it is rejected.
type Arrived = Result<(Peer, Message), Error>;

/// A call from the client or the agent: it comes from that end.
pub(super) fn of_an_end(end: Peer, message: Message) -> Arrived {
    let method = message.method();
    match is_host_method(method) {
        true => refused(format!(
            "{method} is spoken between a conductor and its proxies"
        )),
        false => Ok((end, message)),
    }
}

/// A call from a native proxy, whose successor has this name: it goes to that side.
pub(super) fn of_a_proxy(message: Message, successor: &str) -> Arrived {
    let method = message.method();
    match is_host_method(method) {
        true if is_successor(method) => Ok((Peer::Agent, opened(&message, Some(successor))?)),
        true => refused(format!("{method} is the host's own to send")),
        false => Ok((Peer::Client, message)),
    }
}

/// A call from the parent, if the chain is itself a proxy: it comes from that side.
pub(super) fn of_the_parent(message: Message) -> Arrived {
    let method = message.method();
    if is_successor(method) {
        return Ok((Peer::Agent, opened(&message, None)?));
    }
    if Dialect::of_initialize(method).is_some() && message.kind() == Kind::Request {
        // To the parts of the chain it is a client's first message.
        return Ok((Peer::Client, message.with_method(INITIALIZE)));
    }
    match is_host_method(method) || &**method == INITIALIZE {
        true => refused(format!("{method} is not for a proxy")),
        false => Ok((Peer::Client, message)),
    }
}

/// The message carried to or from a successor. It may name the successor (RFD proxy-chains: M:N topologies), though
/// there is only one.
fn opened(message: &Message, successor: Option<&str>) -> Result<Message, Error> {
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
        // A proxy passes on methods that it does not know. If that was its own first message, it has another dialect,
        // and learns that nobody knows the method.
        Some(inner) if is_host_method(inner.method()) => {
            let reason = format!("{} is not a message for a {method}", inner.method());
            Err(Error::new(code::METHOD_NOT_FOUND, reason))
        }
        Some(inner) => Ok(inner),
    }
}

/// Whether a method is used only between a conductor and its proxies.
fn is_host_method(method: &str) -> bool {
    is_successor(method) || Dialect::of_initialize(method).is_some()
}

fn refused(reason: String) -> Arrived {
    Err(Error::new(code::INVALID_REQUEST, reason))
}
