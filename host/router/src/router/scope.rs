//! Elicitations that belong to a request: they name the request's id, which is valid on one hop only, so it is
//! translated at each hop (RFD elicitation).
//!
//! Within the chain, the named id is the request's number, which is its id on the next hop.

use super::cancel::with_request_id;
use super::core::Core;
use super::exchanges::Exchanges;
use acp_chain_acp::ELICITATION;
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Id, Message, code, member};

/// The member that names the request.
const NAMED: &str = "requestId";

/// An elicitation with the receiver's own id of the named request; `None` if the named id is not one of the host. An
/// error if that request is not the receiver's, or is answered: the receiver may have another request with that id.
pub(super) fn scoped(
    exchanges: &Exchanges,
    routed: &Routed,
    to: Place,
) -> Result<Option<Message>, Error> {
    let id = named(&routed.message).and_then(Id::parse);
    let Some(number) = id.and_then(|id| id.answered()) else {
        return Ok(None);
    };
    let refused = |why| {
        Error::new(
            code::INVALID_PARAMS,
            format!("acp-chain: the {NAMED} {why}"),
        )
    };
    let Some(exchange) = exchanges.get(number) else {
        return if exchanges.is_over(number) {
            Err(refused("names a request that is answered already"))
        } else {
            Ok(None)
        };
    };
    match (&exchange.origin, to) {
        (Origin::Edge(of, id), Place::Edge(to)) if *of == to => {
            Ok(Some(with_request_id(&routed.message, id.as_str())))
        }
        (Origin::Native(of, id), Place::Hop(to)) if *of == to => {
            Ok(Some(with_request_id(&routed.message, id.as_str())))
        }
        _ => Err(refused("names a request of another sender")),
    }
}

/// A native proxy's elicitation with the number of the named request. A proxy that forwards unknown messages names its
/// own request, which repeats one that it received.
pub(super) fn scope_of_native(core: &Core, index: HopIndex, message: Message) -> Message {
    let is_at_native = |number: &ExchangeId| {
        let exchange = core.exchanges.get(*number);
        exchange.is_some_and(|exchange| exchange.stage == Stage::Native(index))
    };
    let Some(id) = named(&message).and_then(Id::parse) else {
        return message;
    };
    if id.number().is_some_and(|number| is_at_native(&number)) {
        return message;
    }
    let own = core.hops[index]
        .native()
        .and_then(|native| native.open.get(&id));
    let Some(own) = own.and_then(|own| core.exchanges.get(*own)) else {
        return message;
    };
    let repeated = core.exchanges.iter().filter(|(number, exchange)| {
        is_at_native(number) && exchange.method == own.method && exchange.session == own.session
    });
    match repeated.map(|(number, _)| number).min() {
        Some(number) => with_request_id(&message, &number.to_string()),
        None => message,
    }
}

/// The id that an elicitation names.
fn named(message: &Message) -> Option<&str> {
    let is_question = &**message.method() == ELICITATION;
    let named = is_question.then(|| member(message.body(), NAMED));
    named.flatten().filter(|id| *id != "null")
}
