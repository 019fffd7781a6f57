//! A message that has arrived.

use crate::subscription::Kind;
use crate::{Error, Head, Json, MessageId, Peer};

pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) head: Head,
    pub(super) body: Result<Json, Error>,
    /// Whether its session was being opened when it arrived: the agent may have replayed it.
    pub(super) is_replayed: bool,
}

pub(super) fn head(
    id: MessageId,
    sender: Peer,
    method: &str,
    session: Option<String>,
    body: &Result<Json, Error>,
) -> Head {
    let body = body.as_ref().ok();
    let session = session.or_else(|| body?.at("/sessionId"));
    let size = body.map_or(0, |body| body.to_string().len() as u64);
    Head {
        id,
        sender,
        method: method.to_owned(),
        session,
        size,
    }
}
