//! Answers that only this server gives.

use std::time::Duration;

use acp_chain_http::answer::{Answer, JSON, plain, typed};
use acp_chain_rpc::{Error, Id};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header;

use crate::wire::failure;

/// The pause after which a rejected client may retry.
const AGAIN: Duration = Duration::from_secs(5);

/// A message, as an immediate answer.
pub fn json(status: StatusCode, text: Bytes) -> Answer {
    typed(status, JSON, text)
}

/// A JSON-RPC error, to a malformed message.
pub fn malformed(error: &Error) -> Answer {
    json(StatusCode::BAD_REQUEST, failure(&Id::null(), error))
}

/// A rejection after which the client may retry.
pub fn busy(status: StatusCode, words: &str) -> Answer {
    busy_for(status, words, AGAIN)
}

/// A rejection after which the client may retry, after this time.
pub fn busy_for(status: StatusCode, words: &str, again: Duration) -> Answer {
    let mut answer = plain(status, words);
    let headers = answer.headers_mut();
    headers.insert(header::RETRY_AFTER, seconds(again).into());
    answer
}

/// A duration in whole seconds, rounded up, from 1 to those of a day.
pub fn seconds(duration: Duration) -> u64 {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    seconds.clamp(1, 24 * 60 * 60)
}

/// Whether new connections are accepted, for readiness checks.
pub fn readiness(is_draining: bool) -> Answer {
    if is_draining {
        let words = "the server is about to stop";
        busy(StatusCode::SERVICE_UNAVAILABLE, words)
    } else {
        plain(StatusCode::OK, "the server accepts new connections")
    }
}
