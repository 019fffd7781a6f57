//! Headers of requests.

use hyper::header::{self, HeaderMap, HeaderName};

use crate::answer::{EVENTS, JSON};

/// A header that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongHeader {
    /// The header occurs more than once.
    #[error("the header {0} occurs twice")]
    Twice(HeaderName),
    /// The header is not text.
    #[error("the header {0} is not text")]
    NoText(HeaderName),
}

/// The text of a header that may occur once.
///
/// # Errors
/// If it occurs more often, or is not text.
pub fn single<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h str>, WrongHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(WrongHeader::NoText(name.clone())),
        },
        (Some(_), Some(_)) => Err(WrongHeader::Twice(name.clone())),
    }
}

/// The media type of a body, without its parameters. `None` also if there are several.
#[must_use]
pub fn media_type(headers: &HeaderMap) -> Option<String> {
    let given = single(headers, &header::CONTENT_TYPE).ok().flatten();
    given.map(essence)
}

/// Whether a body is compressed (RFC 9110 §8.4): compressed bodies are rejected.
#[must_use]
pub fn is_coded(headers: &HeaderMap) -> bool {
    let codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut codings = codings.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    codings.any(|coding| {
        let coding = coding.trim_ascii();
        !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")
    })
}

/// The error for a compressed body, with status 415.
pub const CODED: &str = "the body is compressed (Content-Encoding); send it as it is";

/// The formats that a client accepts, by its `Accept` headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    /// A stream of events. It must be named.
    pub events: bool,
    /// JSON.
    pub json: bool,
}

impl Accepts {
    /// Reads the headers of a request. Without `Accept`, JSON is accepted.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let mut ranges = headers
            .get_all(header::ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(essence)
            .peekable();
        let mut accepts = Self {
            events: false,
            json: ranges.peek().is_none(),
        };
        for range in ranges {
            accepts.events |= range == EVENTS;
            accepts.json |= [JSON, "application/*", "*/*"].contains(&&*range);
        }
        accepts
    }
}

/// A media type without its parameters.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_formats_are_read_from_accept() {
        for (accept, events, json) in [
            ("application/json, text/event-stream", true, true),
            ("Application/JSON", false, true),
            ("text/event-stream; q=0.9", true, false),
            ("*/*", false, true),
            ("text/html", false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(Accepts::of(&headers), Accepts { events, json }, "{accept}");
        }
        assert!(Accepts::of(&HeaderMap::new()).json);
    }

    #[test]
    fn a_header_that_occurs_twice_or_is_not_text_is_an_error() {
        let mut headers = HeaderMap::new();
        let name = &header::CONTENT_TYPE;
        assert_eq!(single(&headers, name), Ok(None));
        headers.insert(name, "application/json; charset=utf-8".parse().unwrap());
        assert_eq!(media_type(&headers).as_deref(), Some(JSON));
        headers.append(name, JSON.parse().unwrap());
        let twice = single(&headers, name).unwrap_err();
        assert_eq!(twice.to_string(), "the header content-type occurs twice");
        assert_eq!(media_type(&headers), None);
        headers.insert(name, header::HeaderValue::from_bytes(b"\xff").unwrap());
        let no_text = single(&headers, name).unwrap_err();
        assert_eq!(no_text.to_string(), "the header content-type is not text");
    }
}
