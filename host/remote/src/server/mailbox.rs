//! The messages that wait for one stream of events, and sent ones that may be requested again.

use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::count::{Count, Total};

/// How many bytes of sent messages are kept: more than may be in transit. The last message is kept whatever its size.
const KEPT: usize = 1 << 20;

/// A message with its number in the stream, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number that names it when the stream is resumed.
    pub number: u64,
    /// The message.
    pub text: Bytes,
}

/// Why a stream cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStream {
    /// The agent has not named the session, and there are too many such sessions already.
    Unknown,
    /// The stream has a reader.
    Taken,
    /// The messages after that event are no longer kept.
    Forgotten,
}

/// The bytes of all streams of a connection.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Of sent messages that are kept.
    pub kept: Total,
    /// Of unsent messages.
    pub waiting: Total,
}

/// One stream's messages, in order.
#[derive(Debug)]
pub struct Mailbox {
    /// The sent messages that are kept, then the unsent ones.
    messages: VecDeque<(Bytes, Option<Instant>)>,
    /// The number of the first of `messages`.
    first: u64,
    /// How many of `messages` were sent.
    sent: usize,
    /// The bytes of sent messages.
    kept: Count,
    /// The bytes of unsent messages.
    waiting: Count,
    /// Whether sent messages are kept.
    keeps: bool,
    /// The reader, by a unique number.
    reader: Option<u64>,
    readers: u64,
    /// Since when there is no reader.
    left: Instant,
    waker: Option<Waker>,
}

impl Mailbox {
    /// A mailbox without a reader. It keeps sent messages if they may be requested again.
    pub fn new(keeps: bool, totals: &Totals) -> Self {
        Self {
            messages: VecDeque::new(),
            first: 1,
            sent: 0,
            kept: Count::of(&totals.kept),
            waiting: Count::of(&totals.waiting),
            keeps,
            reader: None,
            readers: 0,
            left: Instant::now(),
            waker: None,
        }
    }

    /// The bytes of unsent messages.
    pub fn waiting(&self) -> usize {
        self.waiting.get()
    }

    /// Whether the stream has a reader.
    pub fn is_read(&self) -> bool {
        self.reader.is_some()
    }

    /// For how long the stream has had no reader; `None` if it has one.
    pub fn deserted(&self, now: Instant) -> Option<Duration> {
        let deserted = now.saturating_duration_since(self.left);
        self.reader.is_none().then_some(deserted)
    }

    /// Appends a message.
    pub fn push(&mut self, text: Bytes) {
        self.waiting.add(text.len());
        self.messages.push_back((text, None));
        self.wake();
    }

    /// Wakes the reader.
    pub fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Starts to read after the sent messages, or after this event. Naming an event takes over the stream, as the
    /// previous reader may have vanished. Returns the reader's number.
    pub fn open(&mut self, last: Option<u64>) -> Result<u64, NoStream> {
        match last {
            None if self.reader.is_some() => return Err(NoStream::Taken),
            None => {}
            Some(last) => self.go_back(last)?,
        }
        self.readers += 1;
        self.reader = Some(self.readers);
        // The previous reader notices that it was replaced.
        self.wake();
        Ok(self.readers)
    }

    fn go_back(&mut self, last: u64) -> Result<(), NoStream> {
        let next = last.checked_add(1).ok_or(NoStream::Forgotten)?;
        let at = next.checked_sub(self.first).ok_or(NoStream::Forgotten)?;
        let at = usize::try_from(at).map_err(|_| NoStream::Forgotten)?;
        if at > self.sent {
            return Err(NoStream::Forgotten);
        }
        for (text, when) in self.messages.range_mut(at..self.sent) {
            *when = None;
            self.kept.take(text.len());
            self.waiting.add(text.len());
        }
        self.sent = at;
        // Everything up to the named event was received.
        for (text, _) in self.messages.drain(..at) {
            self.kept.take(text.len());
        }
        self.first = next;
        self.sent = 0;
        Ok(())
    }

    /// The number of the last event that was sent.
    pub fn last(&self) -> u64 {
        self.first + self.sent as u64 - 1
    }

    /// Whether this is still the reader.
    pub fn is_of(&self, reader: u64) -> bool {
        self.reader == Some(reader)
    }

    /// Removes this reader.
    pub fn leave(&mut self, reader: u64) {
        if self.is_of(reader) {
            self.reader = None;
            self.left = Instant::now();
            self.waker = None;
        }
    }

    /// Takes the next unsent message, which then counts as sent.
    pub fn take(&mut self) -> Option<Event> {
        let (text, when) = self.messages.get_mut(self.sent)?;
        *when = Some(Instant::now());
        let event = Event {
            number: self.first + self.sent as u64,
            text: text.clone(),
        };
        self.sent += 1;
        self.waiting.take(event.text.len());
        self.kept.add(event.text.len());
        let bound = if self.keeps { KEPT } else { 0 };
        while self.kept() > bound && self.sent > usize::from(self.keeps) {
            self.forget();
        }
        Some(event)
    }

    /// The bytes of sent messages that are kept.
    pub fn kept(&self) -> usize {
        self.kept.get()
    }

    /// Drops all sent messages.
    pub fn forget_all(&mut self) {
        while self.sent > 0 {
            self.forget();
        }
    }

    /// Sets the waker of the reader.
    pub fn wait(&mut self, waker: &Waker) {
        self.waker = Some(waker.clone());
    }

    /// Drops messages that were sent longer ago.
    pub fn trim(&mut self, now: Instant, age: Duration) {
        while self.sent > 0
            && let Some((_, Some(when))) = self.messages.front()
            && now.saturating_duration_since(*when) > age
        {
            self.forget();
        }
        if self.messages.is_empty() {
            self.messages.shrink_to_fit();
        }
    }

    fn forget(&mut self) {
        if let Some((text, _)) = self.messages.pop_front() {
            self.kept.take(text.len());
            self.sent -= 1;
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(number: u64) -> Bytes {
        Bytes::from(number.to_string())
    }

    #[test]
    fn events_that_are_no_longer_kept_cannot_be_requested() {
        let mut mailbox = Mailbox::new(true, &Totals::default());
        for number in 1..=3 {
            mailbox.push(numbered(number));
        }
        mailbox.open(None).unwrap();
        assert_eq!(mailbox.open(None), Err(NoStream::Taken));
        assert_eq!(mailbox.take().unwrap().number, 1);
        assert_eq!(mailbox.take().unwrap().number, 2);
        assert_eq!(mailbox.open(Some(3)), Err(NoStream::Forgotten));
        assert_eq!(mailbox.open(Some(u64::MAX)), Err(NoStream::Forgotten));
        mailbox.open(Some(1)).unwrap();
        assert_eq!(mailbox.open(Some(0)), Err(NoStream::Forgotten));
        assert_eq!(mailbox.take().unwrap().text, "2");
        mailbox.trim(
            Instant::now() + Duration::from_secs(9),
            Duration::from_secs(8),
        );
        assert_eq!(mailbox.open(Some(1)), Err(NoStream::Forgotten));
        mailbox.open(Some(2)).unwrap();
        assert_eq!(mailbox.take().unwrap().text, "3");
        assert_eq!((mailbox.take(), mailbox.waiting()), (None, 0));
    }

    #[test]
    fn kept_messages_are_bounded() {
        let mut mailbox = Mailbox::new(true, &Totals::default());
        let large = Bytes::from(vec![b'x'; KEPT]);
        mailbox.push(large.clone());
        mailbox.push(large.clone());
        mailbox.open(None).unwrap();
        while mailbox.take().is_some() {}
        assert_eq!((mailbox.kept(), mailbox.sent, mailbox.last()), (KEPT, 1, 2));
        let mut forgetful = Mailbox::new(false, &Totals::default());
        forgetful.push(large);
        forgetful.open(None).unwrap();
        while forgetful.take().is_some() {}
        assert_eq!((forgetful.kept(), forgetful.messages.len()), (0, 0));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push,
        /// The server sends some.
        Take(u8),
        /// Some sent messages arrive, and then the network breaks.
        Break(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::Push),
            (0..5_u8).prop_map(Step::Take),
            any::<u8>().prop_map(Step::Break),
        ]
    }

    proptest! {
        #[test]
        fn a_reader_that_resumes_gets_each_message_once(steps in prop::collection::vec(step(), 0..200)) {
            let mut mailbox = Mailbox::new(true, &Totals::default());
            let (mut pushed, mut sent, mut got) = (0, Vec::new(), Vec::new());
            mailbox.open(None).unwrap();
            let mut arrive = |sent: &mut Vec<Event>, count: usize| {
                for event in sent.drain(..).take(count) {
                    got.push(event.number);
                    assert_eq!(event.text, numbered(event.number));
                }
                got.last().copied().unwrap_or(0)
            };
            for step in steps {
                match step {
                    Step::Push => {
                        pushed += 1;
                        mailbox.push(numbered(pushed));
                    }
                    Step::Take(count) => sent.extend((0..count).map_while(|_| mailbox.take())),
                    Step::Break(some) => {
                        let count = usize::from(some) % (sent.len() + 1);
                        let last = arrive(&mut sent, count);
                        mailbox.open(Some(last)).unwrap();
                    }
                }
            }
            sent.extend(std::iter::from_fn(|| mailbox.take()));
            let count = sent.len();
            arrive(&mut sent, count);
            prop_assert_eq!(got, (1..=pushed).collect::<Vec<_>>());
        }
    }
}
