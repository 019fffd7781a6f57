//! Cancellation: `$/cancel_request` names an id of one hop only, so the host translates it at every
//! hop, and no proxy sees it (RFD request-cancellation).

use std::collections::HashMap;

use super::Router;
use crate::chain::exchange::{ExchangeId, Stage};
use crate::chain::hop::Item;
use crate::channel::Peer;
use crate::rpc::{Id, Message, member};

/// The method that withdraws a request.
pub(super) const CANCEL: &str = "$/cancel_request";

/// The longest cancellation that keeps what it says beside the id, in bytes.
const LONGEST: usize = 4096;

impl Router {
    pub(super) fn receive_cancel(&mut self, from: Peer, message: &Message) {
        match withdrawn(&self.core.edge(from).open, message) {
            Ok(Some((number, cancel))) => self.withdraw(number, cancel),
            // The answer and the cancellation crossed.
            Ok(None) => tracing::debug!("a {CANCEL} from the {} came too late", from.as_str()),
            Err(NamesNone) => {
                let text = format!("dropped a {CANCEL} from the {}", from.as_str());
                self.core
                    .note_discarded(from, &format!("{text} that names no request"));
            }
        }
    }

    /// Passes a cancellation on to whoever has the request now.
    pub(super) fn withdraw(&mut self, number: ExchangeId, cancel: Message) {
        let Some(exchange) = self.core.exchanges.get_mut(number) else {
            return;
        };
        if exchange.cancel.is_some() {
            return;
        }
        let has_room = exchange.may_grow(cancel.len());
        exchange.cancel = Some(if has_room { cancel } else { new_cancel() });
        let stage = exchange.stage;
        self.core.trace_cancel(number);
        match stage {
            Stage::Held(hop, id) => {
                self.core.hops[hop].push(Item::Cancel(id));
                self.core.make_ready(hop);
            }
            Stage::Out | Stage::Link(_) | Stage::Native(_) => self.send_cancel(number),
            Stage::Seat(_) => self.withdraw_from_seat(number),
            // Whoever gets the request next is told behind it.
            Stage::Moving | Stage::Returning => {}
        }
    }

    pub(super) fn send_cancel(&mut self, number: ExchangeId) {
        let Some(exchange) = self.core.exchanges.get(number) else {
            return;
        };
        if let (Some(_), Stage::Link(link)) = (&exchange.cancel, exchange.stage) {
            return self.cancel_at_link(link, number);
        }
        if let Some(cancel) = &exchange.cancel {
            let (toward, cancel) = (exchange.toward, with_cancelled_id(cancel, number));
            if let Stage::Native(index) = exchange.stage {
                // Plain on every hop, whichever way the request went.
                if let Some(native) = self.core.hops[index].native_mut() {
                    cancel.write(None, &mut native.outbox);
                }
                return;
            }
            self.core.send(toward, &cancel, None);
        }
    }
}

/// A cancellation that names no request.
pub(super) struct NamesNone;

/// Which of somebody's open requests is withdrawn, and what is passed on; nothing if it is answered
/// already.
pub(super) fn withdrawn(
    open: &HashMap<Id, ExchangeId>,
    message: &Message,
) -> Result<Option<(ExchangeId, Message)>, NamesNone> {
    let id = cancelled_id(message).ok_or(NamesNone)?;
    // It is kept as long as the request is open.
    let cancel = Some(message).filter(|message| message.len() <= LONGEST);
    let cancel = cancel.cloned().unwrap_or_else(new_cancel);
    Ok(open.get(&id).map(|number| (*number, cancel)))
}

/// A cancellation of the host's own.
pub(super) fn new_cancel() -> Message {
    Message::notification(CANCEL, r#"{"requestId":null}"#)
}

fn cancelled_id(cancel: &Message) -> Option<Id> {
    let id = member(cancel.body(), "requestId")?;
    Id::parse(id)
}

/// The same cancellation for the next hop: only the id is exchanged.
fn with_cancelled_id(cancel: &Message, number: ExchangeId) -> Message {
    let body = cancel.body();
    match member(body, "requestId") {
        Some(id) => {
            let start = id.as_ptr().addr() - body.as_ptr().addr();
            let end = start + id.len();
            cancel.with_body(&format!("{}{number}{}", &body[..start], &body[end..]))
        }
        None => new_cancel(),
    }
}
