//! The formats that a client accepts, by its `Accept` header.

use hyper::{HeaderMap, header};

use super::{EVENTS, JSON};

/// The formats that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    /// A stream of events. It must be named.
    pub events: bool,
    /// JSON.
    pub json: bool,
}

impl Accepts {
    /// Reads the headers of a request. Without `Accept`, JSON is accepted.
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
pub fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_takes_is_read_from_accept() {
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
}
