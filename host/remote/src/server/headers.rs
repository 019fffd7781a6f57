//! The headers of requests, and those that web pages need.

use acp_chain_http::answer::{Answer, bare, plain};
use acp_chain_http::headers::single;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::wire::{CONNECTION, SESSION};

/// The longest name of a session in a header, in bytes.
const NAME: usize = 1024;

/// The methods and headers that web pages may send, and the headers of answers that they may read.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, acp-connection-id, acp-session-id, acp-protocol-version, last-event-id, idempotency-key",
);
pub const EXPOSED: HeaderValue =
    HeaderValue::from_static("acp-connection-id, acp-session-id, acp-resume, retry-after");

/// The connection and session of a request, from its headers.
pub struct About {
    pub connection: Option<String>,
    pub session: Option<String>,
}

impl About {
    pub fn of(headers: &HeaderMap) -> Result<Self, Box<Answer>> {
        let owned = |name, longest| {
            let value = short(headers, name, longest)?;
            Ok::<_, Box<Answer>>(value.map(str::to_owned))
        };
        Ok(Self {
            connection: owned(&CONNECTION, NAME)?,
            session: owned(&SESSION, NAME)?,
        })
    }
}

/// The only value of a header, if it has one, of at most this many bytes.
pub fn short<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    longest: usize,
) -> Result<Option<&'h str>, Box<Answer>> {
    let value = single(headers, name).map_err(|wrong| wrong.to_string());
    let value = value.and_then(|value| match value {
        Some(value) if value.len() > longest => Err(format!("the header {name} is too long")),
        value => Ok(value),
    });
    value.map_err(|why| Box::new(plain(StatusCode::BAD_REQUEST, &why)))
}

/// Whether a balancer sees the end of a body at the same place: it may interpret several codings differently (RFC
/// 9112, 6.1).
pub fn has_plain_end(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        _ => false,
    }
}

/// The answer to a browser's preflight request (WHATWG Fetch, CORS).
pub fn allowed() -> Answer {
    let mut answer = bare(StatusCode::NO_CONTENT);
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    answer
}
