//! The last messages on the streams of an HTTP session, for a client that resumes a lost stream (MCP 2025-03-26 to
//! 2025-11-25, streamable HTTP, resumability).
//!
//! Their number and size are limited for all streams of a session together. The oldest is evicted first.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use super::outbound::OutboundMessage;
use acp_chain_channel::limits::{Account, Charge};

/// The number of a stream within its link.
pub type StreamId = u64;

/// The maximum number of kept events.
const EVENTS: usize = 256;

/// The id of an event: its stream, and its number among all events of the session. Number 0 is the beginning of the
/// stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub stream: StreamId,
    pub number: u64,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.number)
    }
}

impl FromStr for Event {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (stream, number) = text.split_once('-').ok_or(())?;
        Ok(Self {
            stream: stream.parse().map_err(drop)?,
            number: number.parse().map_err(drop)?,
        })
    }
}

#[derive(Debug)]
pub struct Window {
    kept: VecDeque<KeptEvent>,
    /// The last evicted event of each stream.
    evicted: BTreeMap<StreamId, u64>,
    last: u64,
    account: Account,
}

#[derive(Debug)]
struct KeptEvent {
    event: Event,
    outgoing: OutboundMessage,
    _charge: Charge,
}

impl Window {
    /// An empty window. Messages are charged to this account.
    pub fn new(account: Account) -> Self {
        Self {
            kept: VecDeque::new(),
            evicted: BTreeMap::new(),
            last: 0,
            account,
        }
    }

    /// Keeps a message sent on a stream. Returns its event.
    pub fn keep(&mut self, stream: StreamId, outgoing: &OutboundMessage) -> Event {
        self.last += 1;
        let event = Event {
            stream,
            number: self.last,
        };
        let cost = outgoing.cost();
        let mut charge = self.account.charge(cost);
        while (charge.is_none() || self.kept.len() >= EVENTS)
            && let Some(oldest) = self.kept.pop_front()
        {
            self.evicted
                .insert(oldest.event.stream, oldest.event.number);
            drop(oldest);
            charge = charge.or_else(|| self.account.charge(cost));
        }
        match charge {
            Some(charge) => self.kept.push_back(KeptEvent {
                event,
                outgoing: outgoing.clone(),
                _charge: charge,
            }),
            None => drop(self.evicted.insert(stream, event.number)),
        }
        event
    }

    /// The messages on a stream after this event. `None` if there never was such an event, or one of the messages was
    /// evicted.
    pub fn behind(&self, last: Event) -> Option<Vec<(Event, OutboundMessage)>> {
        let evicted = self.evicted.get(&last.stream).copied().unwrap_or(0);
        if !(evicted..=self.last).contains(&last.number) {
            return None;
        }
        let missed = self
            .kept
            .iter()
            .filter(|kept| kept.event.stream == last.stream && kept.event.number > last.number);
        let missed = missed.map(|kept| (kept.event, kept.outgoing.clone()));
        Some(missed.collect())
    }

    /// Removes an unread event, whose message moves to another stream.
    pub fn take_back(&mut self, event: Event) {
        self.kept.retain(|kept| kept.event != event);
    }

    /// Removes the events of a stream that will not be resumed.
    pub fn close(&mut self, stream: StreamId) {
        self.kept.retain(|kept| kept.event.stream != stream);
        self.evicted.remove(&stream);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use acp_chain_rpc::Message;

    fn outgoing(length: usize) -> OutboundMessage {
        let text = "x".repeat(length);
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":["{text}"]}}"#);
        OutboundMessage {
            message: Message::parse(Bytes::from(text)).unwrap(),
            id: None,
        }
    }

    fn numbers(window: &Window, stream: StreamId, number: u64) -> Option<Vec<u64>> {
        let missed = window.behind(Event { stream, number })?;
        Some(missed.iter().map(|(event, _)| event.number).collect())
    }

    #[test]
    fn a_stream_resumes_after_the_last_received_event() {
        let mut window = Window::new(Account::new(1 << 20));
        for stream in [1, 2, 1, 1] {
            window.keep(stream, &outgoing(1));
        }
        assert_eq!(numbers(&window, 1, 1), Some(vec![3, 4]));
        assert_eq!(numbers(&window, 1, 0), Some(vec![1, 3, 4]));
        assert_eq!(numbers(&window, 2, 2), Some(vec![]));
        assert_eq!(numbers(&window, 1, 5), None, "there was no such event");
        window.take_back(Event {
            stream: 1,
            number: 3,
        });
        window.close(2);
        assert_eq!(numbers(&window, 1, 1), Some(vec![4]));
    }

    #[test]
    fn the_window_is_limited_and_a_gap_is_reported() {
        let mut window = Window::new(Account::new(4000));
        window.keep(2, &outgoing(1));
        for _ in 0..4 {
            window.keep(1, &outgoing(1000));
        }
        window.keep(1, &outgoing(10_000));
        assert_eq!(numbers(&window, 1, 5), None);
        assert_eq!(numbers(&window, 1, 6), Some(vec![]));
        assert_eq!(numbers(&window, 2, 0), None);
        assert_eq!(numbers(&window, 2, 1), Some(vec![]), "it missed nothing");
        for _ in 0..2 * EVENTS {
            window.keep(3, &outgoing(1));
        }
        assert!(window.kept.len() <= EVENTS);
        window.close(3);
        assert_eq!(window.account.kept(), 0);
    }

    #[test]
    fn the_id_of_an_event_is_parsed_as_it_is_written() {
        let event = Event {
            stream: 3,
            number: 12,
        };
        assert_eq!(event.to_string().parse(), Ok(event));
        for wrong in ["", "3", "3-", "-1", "a-1", "3-99999999999999999999"] {
            assert_eq!(wrong.parse::<Event>(), Err(()), "{wrong}");
        }
    }
}
