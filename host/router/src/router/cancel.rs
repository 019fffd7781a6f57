//! Cancellation: `$/cancel_request` names an id that is valid on one hop only. So the host translates it at every hop,
//! and no proxy sees it (RFD request-cancellation).

use std::collections::HashMap;

use crate::exchange::ExchangeId;
use acp_chain_acp::CANCEL_REQUEST;
use acp_chain_rpc::{Id, Message, member};

/// The longest cancellation of which members other than the id are kept, in bytes.
const LONGEST: usize = 4096;

/// A cancellation that names no request.
pub(super) struct UnnamedRequest;

/// Which of the sender's open requests is cancelled, and the message to pass on; `None` if the request is already
/// answered.
pub(super) fn withdrawn(
    open: &HashMap<Id, ExchangeId>,
    message: &Message,
) -> Result<Option<(ExchangeId, Message)>, UnnamedRequest> {
    let id = cancelled_id(message).ok_or(UnnamedRequest)?;
    // The cancellation is kept as long as the request is open.
    let cancel = Some(message).filter(|message| message.len() <= LONGEST);
    let cancel = cancel.cloned().unwrap_or_else(new_cancel);
    Ok(open.get(&id).map(|number| (*number, cancel)))
}

/// A cancellation by the host.
pub(super) fn new_cancel() -> Message {
    Message::notification(CANCEL_REQUEST, r#"{"requestId":null}"#)
}

fn cancelled_id(cancel: &Message) -> Option<Id> {
    let id = member(cancel.body(), "requestId")?;
    Id::parse(id)
}

/// The same cancellation for the next hop: only the id is replaced.
pub(super) fn with_cancelled_id(cancel: &Message, number: ExchangeId) -> Message {
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
