//! Answers to requests.

use std::convert::Infallible;

use acp_chain_rpc::{Error, Id};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::wire::CONNECTION;

/// An answer, which may be streamed.
pub type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// The pause after which a rejected client may retry.
const AGAIN: HeaderValue = HeaderValue::from_static("5");

/// An answer with only a status.
pub fn bare(status: StatusCode) -> Answer {
    with(status, Empty::new().boxed_unsync())
}

/// An answer with a body.
pub fn with(status: StatusCode, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A short text.
pub fn plain(status: StatusCode, words: &str) -> Answer {
    let text = Bytes::from(format!("{words}\n"));
    typed(status, "text/plain; charset=utf-8", text)
}

/// A text of this type.
pub fn typed(status: StatusCode, media_type: &'static str, text: Bytes) -> Answer {
    let mut answer = with(status, Full::new(text).boxed_unsync());
    answer
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer
}

/// A message, as an immediate answer.
pub fn json(status: StatusCode, text: Bytes) -> Answer {
    typed(status, "application/json", text)
}

/// A JSON-RPC error, to a malformed message.
pub fn malformed(error: &Error) -> Answer {
    let (id, error) = (Id::null(), error.to_json());
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#,
        id.as_str()
    );
    json(StatusCode::BAD_REQUEST, text.into())
}

/// There is currently no room.
pub fn busy(status: StatusCode, words: &str) -> Answer {
    let mut answer = plain(status, words);
    answer.headers_mut().insert(header::RETRY_AFTER, AGAIN);
    answer
}

/// Whether new connections are accepted, for readiness checks.
pub fn readiness(is_draining: bool) -> Answer {
    match is_draining {
        true => busy(StatusCode::SERVICE_UNAVAILABLE, "it is about to stop"),
        false => plain(StatusCode::OK, "it takes new connections"),
    }
}

/// The same, with the id of the connection.
pub fn of_connection(answer: Answer, id: &str) -> Answer {
    named(answer, CONNECTION, id)
}

/// The same with one more header, if the value is valid in one.
pub fn named(mut answer: Answer, name: HeaderName, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}
