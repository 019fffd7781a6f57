//! Questions to the user that belong to a request: they name its id, which is valid on one hop only, so it is
//! translated at each (RFD elicitation).
//!
//! Within the chain it is the request's number, as its next hop knows it.

use super::core::Core;
use super::exchanges::Exchanges;
use crate::exchange::{ExchangeId, Origin, Stage};
use crate::route::{HopIndex, Place};
use crate::routed::Routed;
use acp_chain_rpc::{Error, Id, Message, code, edit, member};

const ELICIT: &str = "elicitation/create";

/// Where the id is.
const NAMED: &str = "requestId";

/// A question with the named id as its receiver knows it; `None` if it is no id of the host's. An error if that request
/// is somebody else's, or answered: the receiver may have a request of its own with that id.
pub(super) fn scoped(
    exchanges: &Exchanges,
    routed: &Routed,
    to: Place,
) -> Result<Option<Message>, Error> {
    let number = named(&routed.message).and_then(|id| id.parse::<ExchangeId>().ok());
    let Some(number) = number else {
        return Ok(None);
    };
    let refused = |why| {
        Error::new(
            code::INVALID_PARAMS,
            format!("acp-chain: the {NAMED} {why}"),
        )
    };
    let Some(exchange) = exchanges.get(number) else {
        return match exchanges.is_over(number) {
            true => Err(refused("names a request that is answered already")),
            false => Ok(None),
        };
    };
    match (&exchange.origin, to) {
        (Origin::Edge(of, id), Place::Edge(to)) if *of == to => {
            Ok(Some(with_named(&routed.message, id.as_str())))
        }
        (Origin::Native(of, id), Place::Hop(to)) if *of == to => {
            Ok(Some(with_named(&routed.message, id.as_str())))
        }
        _ => Err(refused("names a request of somebody else's")),
    }
}

/// A native proxy's question with the named id as the chain knows it. A proxy that forwards unknown messages names
/// its own request, which stands for one that it got.
pub(super) fn scope_of_native(core: &Core, index: HopIndex, message: Message) -> Message {
    let is_at_native = |number: &ExchangeId| {
        let exchange = core.exchanges.get(*number);
        exchange.is_some_and(|exchange| exchange.stage == Stage::Native(index))
    };
    let Some(id) = named(&message).and_then(Id::parse) else {
        return message;
    };
    if id
        .as_str()
        .parse()
        .is_ok_and(|number| is_at_native(&number))
    {
        return message;
    }
    let own = core.hops[index]
        .native()
        .and_then(|native| native.open.get(&id));
    let Some(own) = own.and_then(|own| core.exchanges.get(*own)) else {
        return message;
    };
    let stands_for = core.exchanges.iter().filter(|(number, exchange)| {
        is_at_native(number) && exchange.method == own.method && exchange.session == own.session
    });
    match stands_for.map(|(number, _)| number).min() {
        Some(number) => with_named(&message, &number.to_string()),
        None => message,
    }
}

/// The id that a question names.
fn named(message: &Message) -> Option<&str> {
    let is_question = &**message.method() == ELICIT;
    let named = is_question.then(|| member(message.body(), NAMED));
    named.flatten().filter(|id| *id != "null")
}

/// The same question about another id.
fn with_named(message: &Message, id: &str) -> Message {
    let params = edit(message.body(), &format!("/{NAMED}"), Some(id));
    params.map_or_else(|_| message.clone(), |params| message.with_body(&params))
}
