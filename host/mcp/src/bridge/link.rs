//! One link: the conversation of an MCP client with a server, and the streams on which the client currently listens.
//!
//! It chooses the stream for each message: an answer goes to that of its request, and so does a message that belongs
//! to the request by its progress token; a notification of a change, which belongs to no request, goes to the
//! listening stream; everything else goes to the newest open stream, or waits for the next that is opened or resumed.
//! What belongs to a request whose stream is lost waits for its client to resume it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

use super::message::OutboundMessage;
use super::outbound::{OutboundEnd, Sent, outbound};
use super::stream::{Asked, Cut, Role, Stream, is_of_no_request, progress};
use super::window::{Event, StreamId, Window};
use crate::ServerId;
use acp_chain_channel::limits::{Account, MCP_FREE, MCP_UNREAD, MCP_WINDOW};
use acp_chain_rpc::{self as rpc, Id, Kind, Message};

/// The version of MCP that has batches, as JSON.
const WITH_BATCHES: &str = r#""2025-03-26""#;

/// How a client is connected.
#[derive(Debug)]
pub enum Shape {
    /// By one bidirectional stream, with which the link ends.
    Pipe,
    /// By an HTTP session, in which every request has a stream of its own.
    Session {
        /// `Mcp-Session-Id`.
        key: Box<str>,
        /// Whether the server has accepted the session.
        settled: bool,
        /// When it was last used, on the bridge's clock.
        used: u64,
    },
    /// By one HTTP request that stands alone; its answer, or the end of its stream, ends the link.
    Single,
}

/// How many lost streams of a session are kept.
const LOST: usize = 8;

/// The version of MCP in which a stream begins with an event.
const BEGINS_WITH_EVENT: &str = r#""2025-11-25""#;

/// Why a stream cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// The link is over.
    Gone,
    /// Another open request has this id.
    IdInUse,
}

/// The state of a link after a message was sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    GoesOn,
    /// Everything is sent.
    Over,
    /// Its client does not read its backlog.
    Flooded,
}

/// One link.
#[derive(Debug)]
pub struct Link {
    /// The server.
    pub server: ServerId,
    /// How the client is connected.
    pub shape: Shape,
    /// The unanswered `initialize`.
    begins: Option<Id>,
    /// Whether the negotiated version has batches.
    batches: bool,
    /// Whether a stream begins with an event in that version.
    primes: bool,
    streams: BTreeMap<StreamId, Stream>,
    opened: StreamId,
    /// Messages that arrived while no stream was open.
    backlog: VecDeque<Sent>,
    /// The messages sent in a session, for a client that resumes.
    window: Window,
    /// The streams that the client lost, the oldest first.
    lost: VecDeque<StreamId>,
    /// The account of messages that wait for the client, in all its queues.
    waiting: Account,
    /// The account of messages that wait for all clients, past the first bytes of each.
    unread: Account,
}

impl Link {
    /// A link without streams. Messages for its client are kept on this account, with those for others.
    pub fn new(server: ServerId, shape: Shape, unread: Account) -> Self {
        Self {
            server,
            shape,
            begins: None,
            batches: false,
            primes: false,
            streams: BTreeMap::new(),
            opened: 0,
            backlog: VecDeque::new(),
            window: Window::new(unread.part(MCP_WINDOW)),
            lost: VecDeque::new(),
            waiting: Account::new(MCP_UNREAD),
            unread,
        }
    }

    /// Whether it belongs to a client, and is not only one request.
    pub fn is_client(&self) -> bool {
        !matches!(self.shape, Shape::Single)
    }

    /// Whether the client is currently absent.
    pub fn is_idle(&self) -> bool {
        self.streams.values().all(|stream| stream.lost)
    }

    /// Whether the client may send batches, which one version allows.
    pub fn takes_batches(&self) -> bool {
        self.batches
    }

    /// The client says something.
    pub fn hears(&mut self, message: &Message) {
        if message.kind() == Kind::Request && &**message.method() == "initialize" {
            self.begins = message.id();
        }
    }

    /// Opens a stream.
    pub fn open(
        &mut self,
        role: Role,
        cut: &Arc<Cut>,
    ) -> Result<(StreamId, OutboundEnd), NotOpened> {
        if let Role::Answers { asked, .. } = &role {
            let repeated = |at: usize| asked[..at].iter().any(|one| one.id == asked[at].id);
            let in_use = |one: &Asked| self.asking(|open| open.id == one.id).is_some();
            if asked.iter().any(in_use) || (0..asked.len()).any(repeated) {
                return Err(NotOpened::IdInUse);
            }
        }
        let (outbound, end) = outbound();
        self.opened += 1;
        let id = self.opened;
        let stream = Stream {
            role,
            outbound: Some(outbound),
            cut: Arc::downgrade(cut),
            begun: self.primes,
            lost: false,
        };
        let takes_all = stream.takes_all();
        self.streams.insert(id, stream);
        if takes_all {
            self.catch_up(id);
        }
        Ok((id, end))
    }

    /// Sends on a stream what waited for one.
    fn catch_up(&mut self, stream: StreamId) {
        for outgoing in std::mem::take(&mut self.backlog) {
            self.put(Some(stream), outgoing);
        }
    }

    /// The first event of a stream.
    pub fn beginning(&self, stream: StreamId) -> Option<Event> {
        let number = 0;
        self.primes.then_some(Event { stream, number })
    }

    /// A client resumes a stream that it lost, after this event: the missed messages are sent again, and the stream
    /// goes on. `None` if it cannot.
    pub fn resume(&mut self, last: Event, cut: &Arc<Cut>) -> Option<OutboundEnd> {
        let stream = self.streams.get_mut(&last.stream)?;
        let missed = self.window.behind(last).filter(|_| stream.takes_all())?;
        let (outbound, end) = outbound();
        for (event, outgoing) in missed {
            let mut outgoing = Sent::new(outgoing, None);
            outgoing.event = Some(event);
            outgoing.waits(&self.waiting);
            let _ = outbound.send(outgoing);
        }
        let is_over = matches!(&stream.role, Role::Answers { asked, .. } if asked.is_empty());
        stream.outbound = Some(outbound).filter(|_| !is_over);
        stream.cut = Arc::downgrade(cut);
        stream.lost = false;
        self.lost.retain(|lost| *lost != last.stream);
        if !is_over {
            self.catch_up(last.stream);
        }
        Some(end)
    }

    /// Whether a stream is carried by this connection, and not by one on which its client resumed it.
    pub fn is_carried_by(&self, stream: StreamId, cut: &Arc<Cut>) -> bool {
        let stream = self.streams.get(&stream);
        stream.is_some_and(|stream| stream.cut.ptr_eq(&Arc::downgrade(cut)))
    }

    /// A stream's connection is gone, after the end of the stream or before. Returns whether the link ends with it.
    pub fn gone(&mut self, id: StreamId, ended: bool) -> bool {
        if !matches!(self.shape, Shape::Session { .. }) {
            self.streams.remove(&id);
            return true;
        }
        let stream = self.streams.get_mut(&id);
        // Its last answer may not have been read.
        let comes_back = |stream: &&mut Stream| !ended && stream.begun && stream.takes_all();
        match stream.filter(comes_back) {
            Some(stream) => {
                stream.outbound = None;
                stream.lost = true;
                self.lost.push_back(id);
            }
            None => self.forget(id),
        }
        if self.lost.len() > LOST
            && let Some(oldest) = self.lost.pop_front()
        {
            self.forget(oldest);
        }
        false
    }

    /// A stream will not be resumed.
    fn forget(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
        self.window.close(stream);
    }

    /// Moves a message from a stream that is gone to another, unless it belongs there: an answer, or progress while
    /// the stream may be resumed.
    pub fn move_on(&mut self, outgoing: Sent) {
        if outgoing.message.kind().is_response() {
            return;
        }
        if let Some(event) = outgoing.event {
            let stream = self.streams.get(&event.stream);
            if stream.is_some_and(|stream| stream.lost) && progress(&outgoing.message).is_some() {
                return;
            }
            self.window.take_back(event);
        }
        self.pass_on(outgoing);
    }

    /// The client no longer waits for an answer, and there may be none.
    pub fn withdrawn(&mut self, id: &Id) {
        if let Some(stream) = self.waiting_for(|asked| asked.id == *id) {
            self.answered(stream, id);
        }
    }

    /// Sends a message on the stream that it belongs to.
    pub fn send(&mut self, outgoing: OutboundMessage) -> Fate {
        // One message may always wait, whatever its size, if there is room beside those of other clients.
        if self.waiting.is_full() {
            return Fate::Flooded;
        }
        let cost = outgoing.cost();
        let unread = match self.waiting.kept() + cost {
            ..=MCP_FREE => None,
            _ => match self.unread.charge(cost) {
                Some(charge) => Some(charge),
                None => return Fate::Flooded,
            },
        };
        let outgoing = Sent::new(outgoing, unread);
        let kind = outgoing.message.kind();
        if !kind.is_response() {
            self.pass_on(outgoing);
            return Fate::GoesOn;
        }
        if self
            .begins
            .take_if(|begins| outgoing.id().as_ref() == Some(begins))
            .is_some()
        {
            let version = rpc::member(outgoing.message.body(), "protocolVersion");
            let version = version.filter(|_| kind == Kind::Result);
            self.batches = version == Some(WITH_BATCHES);
            self.primes = version == Some(BEGINS_WITH_EVENT);
        }
        let answered = self.send_answer(outgoing);
        match &mut self.shape {
            Shape::Single if answered => Fate::Over,
            // The server refused it.
            Shape::Session { settled: false, .. } if kind == Kind::Error => Fate::Over,
            Shape::Session { settled, .. } => {
                *settled = true;
                Fate::GoesOn
            }
            Shape::Pipe | Shape::Single => Fate::GoesOn,
        }
    }

    /// Sends a request or a notification on the stream that it belongs to.
    pub fn pass_on(&mut self, outgoing: Sent) {
        let stream = self.place(&outgoing.message);
        self.put(stream, outgoing);
    }

    /// The handles that end the connections of the streams.
    pub fn cuts(&self) -> impl Iterator<Item = Weak<Cut>> {
        self.streams.values().map(|stream| stream.cut.clone())
    }

    /// Whether somebody waited for the answer.
    fn send_answer(&mut self, outgoing: Sent) -> bool {
        if matches!(self.shape, Shape::Pipe) {
            let stream = self.newest(|_| true);
            self.put(stream, outgoing);
            return true;
        }
        let Some(id) = outgoing.id() else {
            return false;
        };
        // The requester may be gone.
        let Some(stream) = self.waiting_for(|asked| asked.id == id) else {
            return false;
        };
        self.put(Some(stream), outgoing);
        self.answered(stream, &id);
        true
    }

    fn answered(&mut self, stream: StreamId, id: &Id) {
        let Some(stream) = self.streams.get_mut(&stream) else {
            return;
        };
        if let Role::Answers { asked, .. } = &mut stream.role {
            asked.retain(|asked| asked.id != *id);
            if asked.is_empty() {
                stream.outbound = None;
            }
        }
    }

    /// The stream for a request or a notification.
    fn place(&self, message: &Message) -> Option<StreamId> {
        if let Some(token) = progress(message) {
            let waiting = self.waiting_for(|asked| asked.progress_token.as_ref() == Some(&token));
            if let Some(stream) = waiting.filter(|stream| self.takes_all(*stream)) {
                return Some(stream);
            }
        }
        let listening = || self.newest(|stream| matches!(stream.role, Role::Listening));
        let changes = message.kind() == Kind::Notification && is_of_no_request(message.method());
        let first = changes.then(listening).flatten();
        let answering = |stream: &Stream| matches!(stream.role, Role::Answers { events: true, .. });
        first
            .or_else(|| self.newest(answering))
            .or_else(listening)
            .or_else(|| self.newest(|stream| matches!(stream.role, Role::Pipe)))
    }

    /// Queues a message on a stream. It is lost if nobody will ever take it.
    fn put(&mut self, stream: Option<StreamId>, mut outgoing: Sent) {
        outgoing.waits(&self.waiting);
        outgoing.event = None;
        let stream = stream.and_then(|id| Some((id, self.streams.get_mut(&id)?)));
        let Some((id, stream)) = stream else {
            return self.backlog.push_back(outgoing);
        };
        if matches!(self.shape, Shape::Session { .. }) && stream.takes_all() {
            outgoing.event = Some(self.window.keep(id, &outgoing));
            stream.begun |= stream.outbound.is_some();
        }
        match &stream.outbound {
            Some(outbound) => drop(outbound.send(outgoing)),
            // It waits in the window.
            None if stream.lost => {}
            None => self.backlog.push_back(outgoing),
        }
    }

    /// The newest open stream of those that match.
    fn newest(&self, wanted: impl Fn(&Stream) -> bool) -> Option<StreamId> {
        let open = self.streams.iter().rev();
        let mut open = open.filter(|(_, stream)| stream.outbound.is_some());
        open.find(|(_, stream)| wanted(stream)).map(|(id, _)| *id)
    }

    /// The open stream for the answer to such a request.
    fn asking(&self, wanted: impl Fn(&Asked) -> bool) -> Option<StreamId> {
        self.newest(|stream| stream.answers(&wanted))
    }

    /// The same, or the stream that its client lost last of those for such a request.
    fn waiting_for(&self, wanted: impl Fn(&Asked) -> bool) -> Option<StreamId> {
        let mut lost = self.lost.iter().rev();
        let asks = |id: &&StreamId| {
            let stream = self.streams.get(id);
            stream.is_some_and(|stream| stream.answers(&wanted))
        };
        self.asking(&wanted).or_else(|| lost.find(asks).copied())
    }

    fn takes_all(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_none_or(Stream::takes_all)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn message(text: &str) -> Message {
        Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn outgoing(text: &str) -> OutboundMessage {
        OutboundMessage {
            message: message(text),
            id: None,
        }
    }

    /// A link over HTTP, and its streams.
    struct Client(Link, Vec<OutboundEnd>, Arc<Cut>);

    impl Client {
        fn new() -> Self {
            let shape = Shape::Session {
                key: "k".into(),
                settled: true,
                used: 0,
            };
            Self(
                Link::new(1, shape, Account::new(2 * MCP_UNREAD)),
                Vec::new(),
                Arc::new(Cut(Arc::default())),
            )
        }

        fn open(&mut self, role: Role) -> StreamId {
            let (stream, end) = self.0.open(role, &self.2).unwrap();
            self.1.push(end);
            stream
        }

        fn ask(&mut self, ids: &[u64], events: bool) -> StreamId {
            let request = |id: &u64| {
                message(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"_meta":{{"progressToken":"t{id}"}}}}}}"#
                ))
            };
            let asked = ids.iter().map(request);
            let asked = asked.filter_map(|request| Asked::of(&request)).collect();
            self.open(Role::Answers { asked, events })
        }

        /// How many messages arrived on each stream since, and whether it has ended.
        fn came(&mut self) -> Vec<(usize, bool)> {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let ends = self.1.iter_mut();
            let came = ends.map(|end| {
                let mut count = 0;
                loop {
                    match end.poll_next(&mut context) {
                        std::task::Poll::Ready(Some(_)) => count += 1,
                        std::task::Poll::Ready(None) => return (count, true),
                        std::task::Poll::Pending => return (count, false),
                    }
                }
            });
            came.collect()
        }
    }

    const ASKS: &str = r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#;

    #[test]
    fn a_stream_ends_with_the_last_of_its_answers() {
        let mut client = Client::new();
        client.ask(&[1, 2], true);
        client.ask(&[3], true);
        for id in [3, 1, 7] {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            assert_eq!(client.0.send(outgoing(&answer)), Fate::GoesOn);
        }
        assert_eq!(client.came(), [(1, false), (1, true)]);
        client.0.withdrawn(&Id::from(2));
        assert_eq!(client.came(), [(0, true), (0, true)]);
    }

    #[test]
    fn what_is_no_answer_goes_to_its_request_or_the_newest_that_takes_it() {
        let mut client = Client::new();
        client.open(Role::Listening);
        client.ask(&[1], true);
        client.ask(&[2], true);
        client.ask(&[3], false);
        let progress = |token: &str| {
            outgoing(&format!(
                r#"{{"jsonrpc":"2.0","method":"p","params":{{"progressToken":{token}}}}}"#
            ))
        };
        client.0.send(progress("\"t1\""));
        assert_eq!(client.came()[1].0, 1);
        for other in [progress("\"t3\""), progress("9"), outgoing(ASKS)] {
            client.0.send(other);
            assert_eq!(client.came()[2].0, 1);
        }
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        client.0.send(outgoing(changed));
        assert_eq!(client.came()[0].0, 1, "it belongs to no request");
        client.0.gone(2, false);
        client.0.gone(3, false);
        client.0.send(outgoing(ASKS));
        assert_eq!(client.came()[0].0, 1);
    }

    #[test]
    fn what_nobody_listens_for_waits_and_has_a_bound() {
        let mut client = Client::new();
        client.ask(&[1], false);
        client.0.send(outgoing(ASKS));
        assert_eq!(client.came(), [(0, false)]);
        client.ask(&[2], true);
        assert_eq!(client.came(), [(0, false), (1, false)]);

        let mut away = Client::new();
        let long = format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#,
            "x".repeat(MCP_UNREAD)
        );
        assert_eq!(away.0.send(outgoing(&long)), Fate::GoesOn);
        assert_eq!(away.0.send(outgoing(ASKS)), Fate::Flooded);
        // It may be long, but it is being written.
        away.open(Role::Listening);
        let _taken = away.1[0].try_next();
        assert_eq!(away.0.send(outgoing(ASKS)), Fate::GoesOn);
    }

    #[test]
    fn what_waits_counts_for_all_links_until_it_is_written_or_nobody_will_take_it() {
        let all = Account::new(4 * MCP_FREE);
        let new = || {
            Client(
                Link::new(1, Shape::Pipe, all.clone()),
                Vec::new(),
                Arc::new(Cut(Arc::default())),
            )
        };
        let long = format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#,
            "x".repeat(MCP_FREE)
        );
        let (mut one, mut other) = (new(), new());
        one.open(Role::Pipe);
        for _ in 0..3 {
            assert_eq!(one.0.send(outgoing(&long)), Fate::GoesOn);
        }
        assert_eq!(
            other.0.send(outgoing(ASKS)),
            Fate::GoesOn,
            "a little is free"
        );
        assert_eq!(other.0.send(outgoing(&long)), Fate::Flooded);
        let written = one.1[0].try_next();
        assert_eq!(
            other.0.send(outgoing(&long)),
            Fate::Flooded,
            "it is being written"
        );
        drop(written);
        assert_eq!(other.0.send(outgoing(&long)), Fate::GoesOn);
        one.1.clear();
        drop(other);
        assert_eq!(all.kept(), 0);
        assert_eq!(one.0.send(outgoing(&long)), Fate::GoesOn);
        assert_eq!(all.kept(), 0, "nobody will take it");
    }

    #[test]
    fn a_lost_stream_keeps_its_answers_and_so_many_are_kept() {
        let mut client = Client::new();
        let told = |at: u64| {
            outgoing(&format!(
                r#"{{"jsonrpc":"2.0","method":"p","params":{{"progressToken":"t{at}"}}}}"#
            ))
        };
        for at in 1..=20 {
            client.ask(&[at], true);
            client.0.send(told(at));
            assert!(!client.0.gone(at, false));
        }
        assert!(client.0.is_idle());
        assert_eq!(client.0.lost.len(), LOST);
        client
            .0
            .send(outgoing(r#"{"jsonrpc":"2.0","id":20,"result":{}}"#));
        let event = |stream| Event {
            stream,
            number: stream,
        };
        let cut = Arc::clone(&client.2);
        assert!(client.0.resume(event(1), &cut).is_none(), "it is forgotten");
        let back = client.0.resume(event(20), &cut).expect("it is kept");
        client.1 = vec![back];
        assert_eq!(client.came(), [(1, true)]);
        // The answer that it still waits for comes when it is ready.
        let back = client.0.resume(event(19), &cut).expect("it is kept");
        client.1 = vec![back];
        assert_eq!(client.came(), [(0, false)]);
        client
            .0
            .send(outgoing(r#"{"jsonrpc":"2.0","id":19,"result":{}}"#));
        assert_eq!(client.came(), [(1, true)]);
    }

    /// A client that has read a message on the stream of its request 1, and lost the stream; and that message.
    fn cut_off() -> (Client, Event) {
        let mut client = Client::new();
        let stream = client.ask(&[1], true);
        client.0.send(outgoing(PROGRESS));
        let read = client.1[0].try_next().and_then(|sent| sent.event);
        client.0.gone(stream, false);
        (client, read.expect("an event"))
    }

    impl Client {
        /// What comes on the stream that it resumes after this event, and whether that has ended.
        fn resumes(&mut self, last: Event) -> (usize, bool) {
            let cut = Arc::clone(&self.2);
            let back = self.0.resume(last, &cut).expect("it is kept");
            self.1 = vec![back];
            self.came()[0]
        }
    }

    const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"p","params":{"progressToken":"t1"}}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[test]
    fn a_client_that_resumes_gets_everything_that_came_meanwhile() {
        let (mut client, read) = cut_off();
        client.0.send(outgoing(ASKS));
        client.0.send(outgoing(PROGRESS));
        assert_eq!(client.resumes(read), (2, false));
        client.0.send(outgoing(ANSWER));
        assert_eq!(client.came(), [(1, true)]);
    }

    #[test]
    fn progress_of_a_lost_stream_waits_for_it_and_questions_go_to_any() {
        let (mut client, read) = cut_off();
        client.0.send(outgoing(ASKS));
        client.0.send(outgoing(PROGRESS));
        client.open(Role::Listening);
        assert_eq!(client.came()[1], (1, false), "the question");
        client.0.send(outgoing(ANSWER));
        assert_eq!(client.resumes(read), (2, true));
    }

    #[test]
    fn what_was_queued_on_a_stream_when_it_broke_comes_when_it_is_resumed() {
        let mut client = Client::new();
        let stream = client.ask(&[1], true);
        for said in [PROGRESS, PROGRESS, ASKS, ANSWER] {
            client.0.send(outgoing(said));
        }
        let mut end = client.1.remove(0);
        let read = end.try_next().and_then(|sent| sent.event);
        assert!(!client.0.gone(stream, end.has_ended()));
        while let Some(unread) = end.try_next() {
            client.0.move_on(unread);
        }
        let read = read.expect("an event");
        assert_eq!(client.resumes(read), (2, true), "all but the question");
        client.open(Role::Listening);
        assert_eq!(client.came()[1], (1, false));
    }

    #[test]
    fn a_stream_that_was_read_to_its_end_is_not_kept() {
        let mut client = Client::new();
        let stream = client.ask(&[1], true);
        client.0.send(outgoing(ANSWER));
        assert_eq!(client.came(), [(1, true)]);
        client.0.gone(stream, client.1[0].has_ended());
        assert!(client.0.lost.is_empty());
    }

    #[test]
    fn a_request_withdrawn_while_its_stream_is_lost_keeps_nobody_waiting() {
        let (mut client, read) = cut_off();
        client.0.withdrawn(&Id::from(1));
        assert_eq!(client.resumes(read), (0, true));
    }

    #[test]
    fn ids_that_are_in_use_are_refused() {
        let mut client = Client::new();
        let asks = || Asked::of(&message(ASKS)).unwrap();
        let role = |asked| Role::Answers {
            asked,
            events: true,
        };
        let twice = client.0.open(role(vec![asks(), asks()]), &client.2);
        assert_eq!(twice.err(), Some(NotOpened::IdInUse));
        client.open(role(vec![asks()]));
        let again = client.0.open(role(vec![asks()]), &client.2);
        assert_eq!(again.err(), Some(NotOpened::IdInUse));
    }
}
