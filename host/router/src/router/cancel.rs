//! Cancellation: `$/cancel_request` names an id that is valid on one hop only. So the host translates it at every hop,
//! and no proxy sees it (RFD request-cancellation). The form of the Language Server Protocol leaves as that of ACP.

use acp_chain_acp::{CANCEL_REQUEST, CANCEL_REQUEST_OF_LSP};
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_rpc::{Id, Message, edit, member};

/// The longest cancellation of which members other than the id are kept, in bytes.
const LONGEST: usize = 4096;

/// A cancellation that names no request.
pub(super) struct UnnamedRequest;

/// Which of the sender's open requests, which `find` finds by their ids, is cancelled, and the message to pass on;
/// `None` if the request is already answered.
pub(super) fn withdrawn(
    find: impl FnOnce(&Id) -> Option<ExchangeId>,
    message: &Message,
) -> Result<Option<(ExchangeId, Message)>, UnnamedRequest> {
    let id = cancelled_id(message).ok_or(UnnamedRequest)?;
    // The cancellation is kept as long as the request is open.
    let cancel = Some(message).filter(|message| !is_of_lsp(message) && message.len() <= LONGEST);
    let cancel = cancel.cloned().unwrap_or_else(new_cancel);
    Ok(find(&id).map(|number| (number, cancel)))
}

/// A cancellation by the host.
pub(super) fn new_cancel() -> Message {
    Message::notification(CANCEL_REQUEST, r#"{"requestId":null}"#)
}

fn cancelled_id(cancel: &Message) -> Option<Id> {
    let name = if is_of_lsp(cancel) { "id" } else { "requestId" };
    Id::parse(member(cancel.body(), name)?)
}

fn is_of_lsp(cancel: &Message) -> bool {
    &**cancel.method() == CANCEL_REQUEST_OF_LSP
}

/// A message that names a request, with another id of that request. Everything else keeps its bytes.
pub(super) fn with_request_id(message: &Message, id: &str) -> Message {
    let params = edit(message.body(), "/requestId", Some(id));
    params.map_or_else(|_| message.clone(), |params| message.with_body(&params))
}
