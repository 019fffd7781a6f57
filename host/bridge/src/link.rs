//! One link: the conversation of an MCP client with a server, and the streams on which the client currently listens.
//!
//! It chooses the stream for each message. An answer goes to the stream of its request, and so does a message with the
//! progress token of the request. A notification of a change, which belongs to no request, goes to the listening
//! stream. Every other message goes to the newest open stream, or waits for the next stream that is opened or resumed.
//! A message that belongs to a request whose stream is lost waits for the client to resume this stream.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

use super::outbound::{OutboundEnd, OutboundMessage, QueuedMessage, outbound};
use super::stream::{Closer, PendingRequest, Role, Stream, is_of_no_request, progress};
use super::window::{Event, StreamId, Window};
use acp_chain_channel::limits::{Account, MCP_FREE, MCP_UNREAD, MCP_WINDOW};
use acp_chain_mcp::ServerId;
use acp_chain_mcp::protocol::Version;
use acp_chain_rpc::{Id, Kind, Message, text_member};

/// How a client is connected.
#[derive(Debug)]
pub enum LinkKind {
    /// One bidirectional stream. When it ends, the link ends.
    Pipe,
    /// An HTTP session, in which every request has a stream.
    Session {
        /// `Mcp-Session-Id`.
        key: Box<str>,
        /// Whether the server has accepted the session.
        settled: bool,
    },
    /// One HTTP request that stands alone. Its answer, or the end of its stream, ends the link.
    Single,
}

/// How many lost streams of a session are kept.
const LOST: usize = 8;

/// Why a link or a stream is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The server is closed.
    ServerClosed,
    /// There are too many links.
    Full,
    /// The link is closed.
    LinkClosed,
    /// Another open request has this id.
    IdInUse,
}

/// The state of a link after a message was sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The link stays open.
    Open,
    /// The last message was sent.
    Over,
    /// Too many bytes wait for the client.
    Flooded,
}

#[derive(Debug)]
pub struct Link {
    pub server: ServerId,
    pub shape: LinkKind,
    /// The unanswered `initialize`.
    begins: Option<Id>,
    /// The negotiated version, if `initialize` succeeded.
    version: Option<Version>,
    streams: BTreeMap<StreamId, Stream>,
    opened: StreamId,
    /// Messages that arrived while no stream was open.
    backlog: VecDeque<QueuedMessage>,
    /// The messages sent in a session, for a client that resumes.
    window: Window,
    /// The account of messages that wait for this client, in all queues.
    waiting: Account,
    /// The account of messages that wait for any client. The first [`MCP_FREE`] bytes of each client are free.
    unread: Account,
}

impl Link {
    /// A link without streams. `unread` is the account of messages that wait for any client.
    pub fn new(server: ServerId, shape: LinkKind, unread: Account) -> Self {
        Self {
            server,
            shape,
            begins: None,
            version: None,
            streams: BTreeMap::new(),
            opened: 0,
            backlog: VecDeque::new(),
            window: Window::new(unread.part(MCP_WINDOW)),
            waiting: Account::new(MCP_UNREAD),
            unread,
        }
    }

    /// Whether it is more than a single request.
    pub fn is_client(&self) -> bool {
        !matches!(self.shape, LinkKind::Single)
    }

    /// Whether the client is currently disconnected.
    pub fn is_idle(&self) -> bool {
        self.streams.values().all(|stream| stream.lost)
    }

    /// Whether the client may send batches (MCP 2025-03-26).
    pub fn takes_batches(&self) -> bool {
        self.version == Some(Version::V2025March)
    }

    /// Notes a message from the client.
    pub fn received(&mut self, message: &Message) {
        if message.kind() == Kind::Request && &**message.method() == "initialize" {
            self.begins = message.id();
        }
    }

    pub fn open(
        &mut self,
        role: Role,
        cut: &Arc<Closer>,
    ) -> Result<(StreamId, OutboundEnd), Rejection> {
        if let Role::Answers { asked, .. } = &role {
            let repeated = |at: usize| asked[..at].iter().any(|one| one.id == asked[at].id);
            let in_use = |one: &PendingRequest| self.asking(|open| open.id == one.id).is_some();
            if asked.iter().any(in_use) || (0..asked.len()).any(repeated) {
                return Err(Rejection::IdInUse);
            }
        }
        let (outbound, mut end) = outbound();
        self.opened += 1;
        let id = self.opened;
        let begun = self.version == Some(Version::V2025November);
        end.beginning = begun.then_some(Event {
            stream: id,
            number: 0,
        });
        let stream = Stream {
            role,
            outbound: Some(outbound),
            cut: Arc::downgrade(cut),
            begun,
            lost: false,
        };
        let takes_all = stream.takes_all();
        self.streams.insert(id, stream);
        if takes_all {
            self.catch_up(id);
        }
        Ok((id, end))
    }

    /// Sends the backlog on a stream.
    fn catch_up(&mut self, stream: StreamId) {
        for outgoing in std::mem::take(&mut self.backlog) {
            self.put(Some(stream), outgoing);
        }
    }

    /// Resumes a lost stream after this event: the missed messages are sent again, and the stream continues. `None` if
    /// the stream is unknown, or a missed message is no longer kept.
    pub fn resume(&mut self, last: Event, cut: &Arc<Closer>) -> Option<OutboundEnd> {
        let stream = self.streams.get_mut(&last.stream)?;
        let missed = self.window.behind(last).filter(|_| stream.takes_all())?;
        let (outbound, end) = outbound();
        for (event, outgoing) in missed {
            let mut outgoing = QueuedMessage::new(outgoing, None);
            outgoing.event = Some(event);
            outgoing.waits(&self.waiting);
            let _ = outbound.send(outgoing);
        }
        let is_over = matches!(&stream.role, Role::Answers { asked, .. } if asked.is_empty());
        stream.outbound = (!is_over).then_some(outbound);
        stream.cut = Arc::downgrade(cut);
        stream.lost = false;
        if !is_over {
            self.catch_up(last.stream);
        }
        Some(end)
    }

    /// Whether this connection still carries a stream. `false` once the client has resumed the stream on another.
    pub fn is_carried_by(&self, stream: StreamId, cut: &Arc<Closer>) -> bool {
        let stream = self.streams.get(&stream);
        stream.is_some_and(|stream| stream.cut.ptr_eq(&Arc::downgrade(cut)))
    }

    /// The connection of a stream was closed. `ended` says whether the stream had ended before. Returns whether the
    /// link ends.
    pub fn disconnected(&mut self, id: StreamId, ended: bool) -> bool {
        if !matches!(self.shape, LinkKind::Session { .. }) {
            self.streams.remove(&id);
            return true;
        }
        let stream = self.streams.get_mut(&id);
        // The client may not have read the last answer.
        let may_resume = |stream: &&mut Stream| !ended && stream.begun && stream.takes_all();
        match stream.filter(may_resume) {
            Some(stream) => {
                stream.outbound = None;
                stream.lost = true;
            }
            None => self.forget(id),
        }
        let surplus = self.lost().nth_back(LOST);
        if let Some(oldest) = surplus {
            self.forget(oldest);
        }
        false
    }

    /// Removes a stream, so that it cannot be resumed.
    fn forget(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
        self.window.close(stream);
    }

    /// Moves an unsent message from a disconnected stream to another. Answers stay, and so does progress while the
    /// stream can be resumed.
    pub fn move_on(&mut self, outgoing: QueuedMessage) {
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

    /// The client cancelled a request, which may therefore get no answer.
    pub fn withdrawn(&mut self, id: &Id) {
        if let Some(stream) = self.waiting_for(|asked| asked.id == *id) {
            self.answered(stream, id);
        }
    }

    /// Sends a message to the client.
    pub fn send(&mut self, outgoing: OutboundMessage) -> Status {
        // One message of any size may wait, if the account of all clients has room for it.
        if self.waiting.is_full() {
            return Status::Flooded;
        }
        let cost = outgoing.cost();
        let unread = match self.waiting.kept() + cost {
            ..=MCP_FREE => None,
            _ => match self.unread.charge(cost) {
                Some(charge) => Some(charge),
                None => return Status::Flooded,
            },
        };
        let outgoing = QueuedMessage::new(outgoing, unread);
        let kind = outgoing.message.kind();
        if !kind.is_response() {
            self.pass_on(outgoing);
            return Status::Open;
        }
        let is_begun = |begins: &mut Id| outgoing.id().as_ref() == Some(begins);
        if self.begins.take_if(is_begun).is_some() {
            let version = text_member(outgoing.message.body(), "protocolVersion");
            let version = version.filter(|_| kind == Kind::Result);
            self.version = version.and_then(|version| Version::named(&version));
        }
        let answered = self.send_answer(outgoing);
        match &mut self.shape {
            LinkKind::Single if answered => Status::Over,
            // The server rejected the session.
            LinkKind::Session { settled: false, .. } if kind == Kind::Error => Status::Over,
            LinkKind::Session { settled, .. } => {
                *settled = true;
                Status::Open
            }
            LinkKind::Pipe | LinkKind::Single => Status::Open,
        }
    }

    /// Sends a request or a notification to the client.
    pub fn pass_on(&mut self, outgoing: QueuedMessage) {
        let stream = self.place(&outgoing.message);
        self.put(stream, outgoing);
    }

    /// The handles that close the connections of the streams.
    pub fn cuts(&self) -> impl Iterator<Item = Weak<Closer>> {
        self.streams.values().map(|stream| stream.cut.clone())
    }

    /// Sends an answer. Returns `false` if no request waits for it.
    fn send_answer(&mut self, outgoing: QueuedMessage) -> bool {
        if matches!(self.shape, LinkKind::Pipe) {
            let stream = self.newest(|_| true);
            self.put(stream, outgoing);
            return true;
        }
        let Some(id) = outgoing.id() else {
            return false;
        };
        // The request may have been cancelled, or its stream forgotten.
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
        first.or_else(|| self.newest(answering)).or_else(listening)
    }

    /// Queues a message on a stream, or in the backlog.
    fn put(&mut self, stream: Option<StreamId>, mut outgoing: QueuedMessage) {
        outgoing.waits(&self.waiting);
        outgoing.event = None;
        let stream = stream.and_then(|id| Some((id, self.streams.get_mut(&id)?)));
        let Some((id, stream)) = stream else {
            return self.backlog.push_back(outgoing);
        };
        if matches!(self.shape, LinkKind::Session { .. }) && stream.takes_all() {
            outgoing.event = Some(self.window.keep(id, &outgoing));
            stream.begun |= stream.outbound.is_some();
        }
        match &stream.outbound {
            Some(outbound) => drop(outbound.send(outgoing)),
            // The message waits in the window.
            None if stream.lost => {}
            None => self.backlog.push_back(outgoing),
        }
    }

    /// The newest matching open stream.
    fn newest(&self, wanted: impl Fn(&Stream) -> bool) -> Option<StreamId> {
        let open = self.streams.iter().rev();
        let mut open = open.filter(|(_, stream)| stream.outbound.is_some());
        open.find(|(_, stream)| wanted(stream)).map(|(id, _)| *id)
    }

    /// The open stream of a matching request.
    fn asking(&self, wanted: impl Fn(&PendingRequest) -> bool) -> Option<StreamId> {
        self.newest(|stream| stream.answers(&wanted))
    }

    /// The stream of a matching request: an open one, or else the newest lost one.
    fn waiting_for(&self, wanted: impl Fn(&PendingRequest) -> bool) -> Option<StreamId> {
        let asks = |id: &StreamId| self.streams[id].answers(&wanted);
        let open = self.asking(&wanted);
        open.or_else(|| self.lost().rev().find(asks))
    }

    /// The streams that the client has lost, in the order in which they were opened.
    fn lost(&self) -> impl DoubleEndedIterator<Item = StreamId> {
        let lost = self.streams.iter().filter(|(_, stream)| stream.lost);
        lost.map(|(id, _)| *id)
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
    struct Client(Link, Vec<OutboundEnd>, Arc<Closer>);

    impl Client {
        fn new() -> Self {
            let shape = LinkKind::Session {
                key: "k".into(),
                settled: true,
            };
            Self(
                Link::new(1, shape, Account::new(2 * MCP_UNREAD)),
                Vec::new(),
                Arc::new(Closer(Arc::default())),
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
            let asked = asked
                .filter_map(|request| PendingRequest::of(&request))
                .collect();
            self.open(Role::Answers { asked, events })
        }

        /// How many messages arrived on each stream since the last call, and whether the stream has ended.
        fn arrived(&mut self) -> Vec<(usize, bool)> {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let ends = self.1.iter_mut();
            let arrived = ends.map(|end| {
                let mut count = 0;
                loop {
                    match end.poll_next(&mut context) {
                        std::task::Poll::Ready(Some(_)) => count += 1,
                        std::task::Poll::Ready(None) => return (count, true),
                        std::task::Poll::Pending => return (count, false),
                    }
                }
            });
            arrived.collect()
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
            assert_eq!(client.0.send(outgoing(&answer)), Status::Open);
        }
        assert_eq!(client.arrived(), [(1, false), (1, true)]);
        client.0.withdrawn(&Id::from(2));
        assert_eq!(client.arrived(), [(0, true), (0, true)]);
    }

    #[test]
    fn progress_goes_to_its_request_and_other_messages_to_the_newest_stream() {
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
        assert_eq!(client.arrived()[1].0, 1);
        for other in [progress("\"t3\""), progress("9"), outgoing(ASKS)] {
            client.0.send(other);
            assert_eq!(client.arrived()[2].0, 1);
        }
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        client.0.send(outgoing(changed));
        assert_eq!(client.arrived()[0].0, 1, "it belongs to no request");
        client.0.disconnected(2, false);
        client.0.disconnected(3, false);
        client.0.send(outgoing(ASKS));
        assert_eq!(client.arrived()[0].0, 1);
    }

    #[test]
    fn messages_without_a_stream_wait_up_to_a_limit() {
        let mut client = Client::new();
        client.ask(&[1], false);
        client.0.send(outgoing(ASKS));
        assert_eq!(client.arrived(), [(0, false)]);
        client.ask(&[2], true);
        assert_eq!(client.arrived(), [(0, false), (1, false)]);

        let mut away = Client::new();
        let long = format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#,
            "x".repeat(MCP_UNREAD)
        );
        assert_eq!(away.0.send(outgoing(&long)), Status::Open);
        assert_eq!(away.0.send(outgoing(ASKS)), Status::Flooded);
        // The long message no longer waits: it is being written.
        away.open(Role::Listening);
        let _taken = away.1[0].try_next();
        assert_eq!(away.0.send(outgoing(ASKS)), Status::Open);
    }

    #[test]
    fn waiting_messages_are_charged_to_all_links_until_they_are_written_or_dropped() {
        let all = Account::new(4 * MCP_FREE);
        let new = || {
            Client(
                Link::new(1, LinkKind::Pipe, all.clone()),
                Vec::new(),
                Arc::new(Closer(Arc::default())),
            )
        };
        let long = format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#,
            "x".repeat(MCP_FREE)
        );
        let (mut one, mut other) = (new(), new());
        one.open(Role::Listening);
        for _ in 0..3 {
            assert_eq!(one.0.send(outgoing(&long)), Status::Open);
        }
        assert_eq!(
            other.0.send(outgoing(ASKS)),
            Status::Open,
            "a little is free"
        );
        assert_eq!(other.0.send(outgoing(&long)), Status::Flooded);
        let written = one.1[0].try_next();
        assert_eq!(
            other.0.send(outgoing(&long)),
            Status::Flooded,
            "it is being written"
        );
        drop(written);
        assert_eq!(other.0.send(outgoing(&long)), Status::Open);
        one.1.clear();
        drop(other);
        assert_eq!(all.kept(), 0);
        assert_eq!(one.0.send(outgoing(&long)), Status::Open);
        assert_eq!(all.kept(), 0, "no client will read it");
    }

    #[test]
    fn lost_streams_are_limited_and_keep_their_answers() {
        let mut client = Client::new();
        let progress = |at: u64| {
            outgoing(&format!(
                r#"{{"jsonrpc":"2.0","method":"p","params":{{"progressToken":"t{at}"}}}}"#
            ))
        };
        for at in 1..=20 {
            client.ask(&[at], true);
            client.0.send(progress(at));
            assert!(!client.0.disconnected(at, false));
        }
        assert!(client.0.is_idle());
        assert_eq!(client.0.lost().count(), LOST);
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
        assert_eq!(client.arrived(), [(1, true)]);
        // An outstanding answer arrives on the resumed stream.
        let back = client.0.resume(event(19), &cut).expect("it is kept");
        client.1 = vec![back];
        assert_eq!(client.arrived(), [(0, false)]);
        client
            .0
            .send(outgoing(r#"{"jsonrpc":"2.0","id":19,"result":{}}"#));
        assert_eq!(client.arrived(), [(1, true)]);
    }

    /// A client that has read one message on the stream of its request 1, and lost the stream; and the event of that
    /// message.
    fn cut_off() -> (Client, Event) {
        let mut client = Client::new();
        let stream = client.ask(&[1], true);
        client.0.send(outgoing(PROGRESS));
        let read = client.1[0].try_next().and_then(|sent| sent.event);
        client.0.disconnected(stream, false);
        (client, read.expect("an event"))
    }

    impl Client {
        /// Resumes the stream after this event. Returns how many messages arrive, and whether the stream has ended.
        fn resumes(&mut self, last: Event) -> (usize, bool) {
            let cut = Arc::clone(&self.2);
            let back = self.0.resume(last, &cut).expect("it is kept");
            self.1 = vec![back];
            self.arrived()[0]
        }
    }

    const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"p","params":{"progressToken":"t1"}}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[test]
    fn a_client_that_resumes_gets_the_missed_messages() {
        let (mut client, read) = cut_off();
        client.0.send(outgoing(ASKS));
        client.0.send(outgoing(PROGRESS));
        assert_eq!(client.resumes(read), (2, false));
        client.0.send(outgoing(ANSWER));
        assert_eq!(client.arrived(), [(1, true)]);
    }

    #[test]
    fn progress_waits_for_its_lost_stream_and_requests_go_to_any_stream() {
        let (mut client, read) = cut_off();
        client.0.send(outgoing(ASKS));
        client.0.send(outgoing(PROGRESS));
        client.open(Role::Listening);
        assert_eq!(client.arrived()[1], (1, false), "the question");
        client.0.send(outgoing(ANSWER));
        assert_eq!(client.resumes(read), (2, true));
    }

    #[test]
    fn messages_queued_on_a_lost_stream_arrive_when_it_is_resumed() {
        let mut client = Client::new();
        let stream = client.ask(&[1], true);
        for said in [PROGRESS, PROGRESS, ASKS, ANSWER] {
            client.0.send(outgoing(said));
        }
        let mut end = client.1.remove(0);
        let read = end.try_next().and_then(|sent| sent.event);
        assert!(!client.0.disconnected(stream, end.ended));
        while let Some(unread) = end.try_next() {
            client.0.move_on(unread);
        }
        let read = read.expect("an event");
        assert_eq!(client.resumes(read), (2, true), "all but the question");
        client.open(Role::Listening);
        assert_eq!(client.arrived()[1], (1, false));
    }

    #[test]
    fn a_stream_that_was_read_to_its_end_is_not_kept() {
        let mut client = Client::new();
        let stream = client.ask(&[1], true);
        client.0.send(outgoing(ANSWER));
        assert_eq!(client.arrived(), [(1, true)]);
        client.0.disconnected(stream, client.1[0].ended);
        assert_eq!(client.0.lost().count(), 0);
    }

    #[test]
    fn a_request_cancelled_while_its_stream_is_lost_ends_the_stream() {
        let (mut client, read) = cut_off();
        client.0.withdrawn(&Id::from(1));
        assert_eq!(client.resumes(read), (0, true));
    }

    #[test]
    fn ids_that_are_in_use_are_refused() {
        let mut client = Client::new();
        let asks = || PendingRequest::of(&message(ASKS)).unwrap();
        let role = |asked| Role::Answers {
            asked,
            events: true,
        };
        let twice = client.0.open(role(vec![asks(), asks()]), &client.2);
        assert_eq!(twice.err(), Some(Rejection::IdInUse));
        client.open(role(vec![asks()]));
        let again = client.0.open(role(vec![asks()]), &client.2);
        assert_eq!(again.err(), Some(Rejection::IdInUse));
    }
}
