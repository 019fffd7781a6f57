//! Answers. None is kept by a cache, and browsers do not guess its type.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::events::KeepAlive;

pub type Answer = Response<Body>;

/// The body of an answer, sent at once or as a stream.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The media type of a stream of events.
pub const EVENTS: &str = "text/event-stream";

/// The media type of JSON.
pub const JSON: &str = "application/json";

/// An answer with only a status.
#[must_use]
pub fn bare(status: StatusCode) -> Answer {
    with(status, Empty::new().boxed_unsync())
}

/// An answer with a body.
#[must_use]
pub fn with(status: StatusCode, body: Body) -> Answer {
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

/// An answer with a text of this media type.
#[must_use]
pub fn typed(status: StatusCode, media_type: &'static str, text: impl Into<Bytes>) -> Answer {
    streamed(status, media_type, Full::new(text.into()).boxed_unsync())
}

/// An answer with a body of this media type.
#[must_use]
pub fn streamed(status: StatusCode, media_type: &'static str, body: Body) -> Answer {
    let mut answer = with(status, body);
    answer
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer
}

/// A line of plain text.
#[must_use]
pub fn plain(status: StatusCode, words: &str) -> Answer {
    typed(status, "text/plain; charset=utf-8", format!("{words}\n"))
}

/// A stream of events, with heartbeats. Intermediaries neither keep nor change it.
#[must_use]
pub fn events<B>(body: B) -> Answer
where
    B: hyper::body::Body<Data = Bytes, Error = Infallible> + Unpin + Send + 'static,
{
    let mut answer = streamed(StatusCode::OK, EVENTS, KeepAlive::new(body).boxed_unsync());
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-cache, no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Adds a header to an answer, if the value is valid in one.
#[must_use]
pub fn named(mut answer: Answer, name: HeaderName, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}
