//! Answers, all with the headers that isolate a page.

use acp_chain_http::answer::{self, Answer, Body};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::StatusCode;
use hyper::header::{self, HeaderName, HeaderValue};

/// The page may only request this program's files and data, and cannot turn text into elements.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types lit-html";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const EMBEDDER_POLICY: HeaderName = HeaderName::from_static("cross-origin-embedder-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (OPENER_POLICY, "same-origin"),
    (EMBEDDER_POLICY, "require-corp"),
    (RESOURCE_POLICY, "same-origin"),
];

/// A streamed answer.
pub fn streamed(media_type: &'static str, body: Body) -> Answer {
    let mut answer = answer::streamed(StatusCode::OK, media_type, body);
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// A complete answer.
pub fn text(media_type: &'static str, bytes: Bytes) -> Answer {
    streamed(media_type, Full::new(bytes).boxed_unsync())
}

/// A short plain-text answer.
pub fn plain(status: StatusCode, words: &str) -> Answer {
    let mut response = text("text/plain; charset=utf-8", Bytes::from(words.to_owned()));
    *response.status_mut() = status;
    response
}

/// The answer to unauthorized requests, and to requests for anything that does not exist.
pub fn not_found() -> Answer {
    plain(StatusCode::NOT_FOUND, "not found\n")
}
