//! One connection of a client: its transport on one side, its requests on the other.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use acp_chain_http::HEARTBEAT;
use acp_chain_rpc::transport::{Frame, Incoming, Outbox, Outgoing, Transport};
use acp_chain_rpc::{Error, Id, Message, Mutex, aside};
use bytes::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};

use super::access_log::LogContext;
use super::account::Account;
use super::mailbox::{Event, NoStream};
use super::metrics::TransportKind;
use super::owners::Owners;
use super::routes::{DeliveryResult, EndedParts, Routes, WAITING};
use super::shared::{Denial, Lease, SentPrompt, SessionList, Shared, Slot};
use crate::User;
use crate::wire::failure;

/// How many message keys are remembered.
const KEYS: usize = 128;

/// How a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The connection continues.
    None,
    /// The client sends no more; open requests are still answered.
    Gently,
    /// Immediately.
    AtOnce,
}

/// A connection of a client.
#[derive(Debug)]
pub struct Connection {
    /// The value of `Acp-Connection-Id`.
    pub id: String,
    /// The owner. Other users do not find the connection.
    pub user: Arc<User>,
    /// The client's transport, and where its events are logged and counted.
    pub log: Arc<LogContext>,
    /// The account of all connections of the user.
    pub account: Arc<Account>,
    /// One message is received at a time, so that a connection buffers only one, and they stay in order.
    pub posting: tokio::sync::Mutex<()>,
    /// The key of the message of the last request.
    last_key: watch::Sender<Option<Box<str>>>,
    state: Mutex<State>,
    /// Notified when there is room for another message, or the connection has ended.
    room: Notify,
    ending: watch::Sender<Ending>,
    owners: Arc<Owners>,
    /// What is shared with other replicas, if there is a store.
    shared: Option<Arc<Shared>>,
    served: Mutex<ServedParts>,
    /// Whether the connection ends once it is idle.
    is_draining: Arc<AtomicBool>,
    /// When data from the client last arrived, in milliseconds since the connection began.
    last_received: AtomicU64,
    begun: Instant,
}

#[derive(Debug)]
struct State {
    inbox: VecDeque<Frame>,
    /// The bytes of the inbox.
    held: usize,
    /// The client sends no more.
    is_input_closed: bool,
    /// The chain sends no more.
    is_closed: bool,
    routes: Routes,
    /// Wakes the chain when there is more to read, and when there is room to write.
    reads: Option<Waker>,
    writes: Option<Waker>,
    keys: VecDeque<Box<str>>,
}

/// What the store of the replicas knows that this connection serves.
#[derive(Debug, Default)]
struct ServedParts {
    /// The connection's own slot among those of its user.
    slot: Option<Slot>,
    /// The leases of its sessions.
    leases: HashMap<Arc<str>, Arc<Lease>>,
    /// The prompts under way, by the ids of their requests.
    prompts: HashMap<Id, SentPrompt>,
}

impl Connection {
    /// A connection of a user with this account.
    pub fn new(
        id: String,
        log: LogContext,
        account: Arc<Account>,
        owners: Arc<Owners>,
        shared: Option<Arc<Shared>>,
        is_draining: Arc<AtomicBool>,
    ) -> Arc<Self> {
        log.figures.opened(log.way);
        let is_one = log.way == TransportKind::WebSocket;
        let log = Arc::new(log);
        let routes = Routes::new(is_one, account.clone(), log.clone());
        Arc::new(Self {
            id,
            user: log.user.clone(),
            log,
            account,
            posting: tokio::sync::Mutex::default(),
            last_key: watch::Sender::default(),
            state: Mutex::new(State {
                inbox: VecDeque::new(),
                held: 0,
                is_input_closed: false,
                is_closed: false,
                routes,
                reads: None,
                writes: None,
                keys: VecDeque::new(),
            }),
            room: Notify::new(),
            ending: watch::Sender::new(Ending::None),
            owners,
            shared,
            served: Mutex::default(),
            is_draining,
            last_received: AtomicU64::new(0),
            begun: Instant::now(),
        })
    }

    /// The chain's side of the connection.
    pub fn transport(self: &Arc<Self>) -> Transport {
        Transport {
            incoming: Box::new(IncomingMessages(self.clone())),
            outgoing: Box::new(OutgoingMessages {
                connection: self.clone(),
                is_flushed: true,
                is_open: true,
                held: None,
            }),
            is_read: || false,
        }
    }

    /// The lease of a session, if this connection has it.
    pub fn lease(&self, session: &str) -> Option<Arc<Lease>> {
        self.served.lock().leases.get(session).cloned()
    }

    /// Whether this connection has what another replica may have once this one's generation is over: leases, or a slot.
    pub fn is_leased(&self) -> bool {
        let served = self.served.lock();
        served.slot.is_some() || !served.leases.is_empty()
    }

    /// Holds the connection's slot until this connection ends.
    pub fn occupy(&self, slot: Option<Slot>) {
        self.served.lock().slot = slot;
    }

    /// Keeps the slot of the turn that the next message begins. One is received at a time.
    pub fn keep_slot(&self, slot: Option<Slot>) {
        self.with_routes(|routes| routes.requests.slot = slot);
    }

    /// Holds a lease until its session or this connection ends.
    pub fn hold(&self, session: &Arc<str>, lease: Arc<Lease>) {
        self.served.lock().leases.insert(session.clone(), lease);
    }

    /// Notes a prompt that is about to be sent, by the id of its request.
    pub fn note_prompt(&self, id: Id, prompt: SentPrompt) {
        self.served.lock().prompts.insert(id, prompt);
    }

    /// Notes that a prompt was sent. It may have been answered already.
    pub fn mark_sent(&self, id: &Id) {
        if let Some(prompt) = self.served.lock().prompts.get_mut(id) {
            prompt.mark_sent();
        }
    }

    /// Forgets a prompt that was not sent.
    pub fn forget_prompt(&self, id: &Id) {
        drop(self.served.lock().prompts.remove(id));
    }

    /// Gives up all leases, and the slot: the agent has ended. Prompts without an answer are lost.
    pub fn give_up(&self) {
        let served = std::mem::take(&mut *self.served.lock());
        drop(served);
    }

    /// Gives up the leases of sessions that have ended, and notes which prompts were answered.
    fn settle(&self, ended: EndedParts) {
        if ended.is_empty() {
            return;
        }
        let mut served = self.served.lock();
        for session in ended.sessions {
            served.leases.remove(&session);
        }
        for id in ended.prompts {
            if let Some(prompt) = served.prompts.remove(&id) {
                prompt.end();
            }
        }
    }

    /// Calls a function with the streams of the client.
    pub fn with_routes<T>(&self, do_it: impl FnOnce(&mut Routes) -> T) -> T {
        do_it(&mut self.state.lock().routes)
    }

    /// Whether this message key is already known.
    pub fn has_key(&self, key: &str) -> bool {
        self.state.lock().keys.iter().any(|known| **known == *key)
    }

    /// Notes that a request with this message key has arrived. Resolves when another request with the key arrives.
    pub fn repeated(&self, key: Option<&str>) -> impl Future<Output = ()> + use<> {
        let key: Option<Box<str>> = key.map(Box::from);
        self.last_key.send_replace(key.clone());
        let mut last_key = self.last_key.subscribe();
        async move {
            loop {
                let is_over = last_key.changed().await.is_err();
                if is_over || key.is_none() {
                    std::future::pending::<()>().await;
                }
                if *last_key.borrow() == key {
                    return;
                }
            }
        }
    }

    /// Keeps the key of a message that was delivered.
    pub fn keep(&self, key: &str) {
        let mut state = self.state.lock();
        if state.keys.len() == KEYS {
            state.keys.pop_front();
        }
        state.keys.push_back(key.into());
    }

    /// Hands a message to the chain, once there is room. Cancel safe.
    pub async fn deliver(&self, frame: Frame) -> DeliveryResult {
        let len = match &frame {
            Frame::Message(message) => message.len(),
            Frame::Line(line) => line.len(),
            Frame::TooLong { .. } | Frame::Torn(_) => 0,
        };
        self.mark_alive();
        self.log.figures.received(len);
        loop {
            let mut room = pin!(self.room.notified());
            room.as_mut().enable();
            {
                let mut state = self.state.lock();
                if state.is_input_closed || state.is_closed {
                    return DeliveryResult::Ended;
                }
                // The limit is the same as for the client, and a single message always fits.
                if state.inbox.is_empty() || state.held + len <= WAITING {
                    if let Frame::Message(message) = &frame {
                        let noted = state.routes.note(message);
                        if noted != DeliveryResult::Passed {
                            return noted;
                        }
                    }
                    state.inbox.push_back(frame);
                    state.held += len;
                    wake(&mut state.reads);
                    return DeliveryResult::Passed;
                }
            }
            // Nothing is read meanwhile, so the client does not count as silent.
            while timeout(HEARTBEAT, room.as_mut()).await.is_err() {
                self.mark_alive();
            }
        }
    }

    /// Answers a request of the client with an error, in place of the chain. A client that does not read is dropped.
    pub fn refuse(&self, id: &Id, error: &Error) {
        self.mark_alive();
        let mut state = self.state.lock();
        if state.routes.streams.waiting() >= WAITING {
            return self.end_as(state, Ending::AtOnce);
        }
        state.routes.refuse(id, error);
    }

    /// What the client gets in place of an answer of the chain, for this reason.
    pub fn deny(&self, id: &Id, why: Denial) -> Bytes {
        failure(id, &why.counted(&self.log.figures).error())
    }

    /// Whether a message is about a session of another user, however an agent may read it.
    pub fn is_foreign(&self, message: &Message) -> bool {
        // A store of replicas knows more.
        self.shared.is_none()
            && !message.kind().is_response()
            && self.owners.are_foreign(message, &self.user)
    }

    /// Counts bytes that were read from the client. Resolves when more may be read; the pause does not count as silence
    /// of the client.
    pub async fn pace(&self, bytes: usize) {
        let mut left = self.account.pause(bytes);
        while !left.is_zero() {
            let now = left.min(HEARTBEAT);
            tokio::time::sleep(now).await;
            left -= now;
            self.mark_alive();
        }
    }

    /// Notes that the client is alive.
    pub fn mark_alive(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_received.store(now, Ordering::Relaxed);
    }

    /// For how long the client has been silent.
    pub fn silence(&self) -> Duration {
        let received = Duration::from_millis(self.last_received.load(Ordering::Relaxed));
        self.begun.elapsed().saturating_sub(received)
    }

    /// Drops old sent messages, and the streams of closed sessions that have had no reader for as long.
    pub fn trim(&self, now: Instant, age: Duration) {
        let mut state = self.state.lock();
        state.routes.streams.trim(now, age);
        wake(&mut state.writes);
    }

    /// For how long the client has neither read nor sent anything.
    pub fn deserted(&self, now: Instant) -> Option<Duration> {
        let deserted = self.with_routes(|routes| routes.deserted(now))?;
        Some(deserted.min(self.silence()))
    }

    /// Whether its client has been gone for so long, and nothing is under way.
    pub fn is_abandoned(&self, now: Instant, patience: Duration) -> bool {
        let is_idle = self.with_routes(|routes| routes.is_idle());
        is_idle && self.deserted(now).is_some_and(|age| age >= patience)
    }

    /// Opens a stream. Returns the reader's number, and the number of the event after which it begins.
    pub fn open(&self, session: Option<&str>, last: Option<u64>) -> Result<(u64, u64), NoStream> {
        self.mark_alive();
        let mut state = self.state.lock();
        let opened = state.routes.streams.open(session, last);
        match &opened {
            Ok(_) if last.is_some() => self.log.figures.resumed(true),
            Err(NoStream::Forgotten) => self.log.figures.resumed(false),
            _ => {}
        }
        let reader = opened?;
        let mailbox = state.routes.streams.mailbox(session);
        let last = mailbox.map_or(0, |mailbox| mailbox.last());
        // The new reader may change whether everything is flushed.
        wake(&mut state.writes);
        Ok((reader, last))
    }

    /// The next event of a stream; `None` if that has ended for this reader.
    pub fn poll_event(
        &self,
        session: Option<&str>,
        reader: u64,
        context: &mut Context,
    ) -> Poll<Option<Event>> {
        let mut state = self.state.lock();
        let is_closed = state.is_closed;
        let Some(mailbox) = state.routes.streams.mailbox(session) else {
            return Poll::Ready(None);
        };
        if !mailbox.is_of(reader) {
            return Poll::Ready(None);
        }
        if let Some(event) = mailbox.take() {
            state.routes.streams.bound();
            wake(&mut state.writes);
            drop(state);
            self.end_if_drained();
            return Poll::Ready(Some(event));
        }
        if is_closed {
            return Poll::Ready(None);
        }
        mailbox.wait(context.waker());
        Poll::Pending
    }

    /// Stops reading a stream.
    pub fn leave(&self, session: Option<&str>, reader: u64) {
        let mut state = self.state.lock();
        state.routes.streams.leave(session, reader);
        wake(&mut state.writes);
        drop(state);
        self.end_if_drained();
    }

    /// Ends the connection. A gentle end may become an immediate one.
    pub fn end(&self, how: Ending) {
        self.end_as(self.state.lock(), how);
    }

    /// Ends the connection if the server is about to stop and the connection is idle.
    fn end_if_drained(&self) {
        if self.is_draining.load(Ordering::Acquire) {
            self.end_if_idle();
        }
    }

    /// Ends the connection gently if nothing in it is open or unsent.
    pub fn end_if_idle(&self) {
        let mut state = self.state.lock();
        if state.inbox.is_empty() && state.routes.is_idle() && state.routes.streams.is_flushed() {
            self.end_as(state, Ending::Gently);
        }
    }

    pub fn is_ending(&self) -> bool {
        *self.ending.borrow() != Ending::None
    }

    fn end_as(&self, mut state: MutexGuard<State>, how: Ending) {
        state.is_input_closed = true;
        wake(&mut state.reads);
        wake(&mut state.writes);
        drop(state);
        self.room.notify_waiters();
        self.ending.send_if_modified(|ending| {
            let is_sooner = how == Ending::AtOnce && *ending != how || *ending == Ending::None;
            if is_sooner {
                *ending = how;
            }
            is_sooner
        });
    }

    /// How the connection is to end, as it changes.
    pub fn ending(&self) -> watch::Receiver<Ending> {
        self.ending.subscribe()
    }

    /// Whether the chain has ended.
    pub fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Why the streams of the client end, once the chain has ended.
    pub fn reason(&self) -> &'static str {
        if self.is_draining.load(Ordering::Acquire) {
            "this server is about to stop; connect again"
        } else {
            "the chain has ended"
        }
    }

    fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.routes.end();
        drop(state);
        self.room.notify_waiters();
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

/// The client's messages.
struct IncomingMessages(Arc<Connection>);

impl Incoming for IncomingMessages {
    fn poll_read(&mut self, context: &mut Context) -> Poll<io::Result<bool>> {
        let mut state = self.0.state.lock();
        if !state.inbox.is_empty() {
            return Poll::Ready(Ok(true));
        }
        if state.is_input_closed {
            return Poll::Ready(Ok(false));
        }
        state.reads = Some(context.waker().clone());
        Poll::Pending
    }

    fn next_frame(&mut self) -> Option<Frame> {
        let mut state = self.0.state.lock();
        let frame = state.inbox.pop_front();
        if state.inbox.is_empty() {
            state.held = 0;
            state.inbox.shrink_to_fit();
            drop(state);
            self.0.room.notify_waiters();
            self.0.end_if_drained();
        }
        frame
    }
}

/// The messages to the client.
struct OutgoingMessages {
    connection: Arc<Connection>,
    is_flushed: bool,
    is_open: bool,
    /// The answer about which the store of the replicas is asked: what becomes of it. The messages behind it wait.
    held: Option<Pin<Box<dyn Future<Output = Bytes> + Send>>>,
}

impl OutgoingMessages {
    /// Passes a line on to its stream.
    fn pass(&self, state: &mut State, line: Bytes) {
        let connection = &self.connection;
        let session = aside(line.len(), || state.routes.push(line));
        if let Some(session) = session {
            connection.owners.own(&session, &connection.user);
        }
        connection.settle(state.routes.requests.take_ended());
    }

    /// Whether the store must be asked about a line: it names a new session, or lists sessions. Then it is kept here.
    fn keep(&mut self, state: &State, line: &Bytes) -> bool {
        let connection = &self.connection;
        let Some(shared) = connection.shared.clone() else {
            return false;
        };
        if let Some((id, session)) = aside(line.len(), || state.routes.requests.opened_by(line)) {
            let opened = open(shared, connection.clone(), line.clone(), id, session);
            self.held = Some(Box::pin(opened));
            return true;
        }
        if let Some(list) = aside(line.len(), || SessionList::read(line)) {
            let asking = connection.clone();
            let visible = async move { shared.visible(list, &asking).await };
            self.held = Some(Box::pin(visible));
            return true;
        }
        false
    }
}

/// What the client gets for an answer that names a new session: the line, once the session is leased, or an error.
async fn open(
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    line: Bytes,
    id: Id,
    session: Arc<str>,
) -> Bytes {
    let opened = shared.open(session.clone(), &connection);
    match opened.await {
        Ok(lease) => {
            connection.hold(&session, lease);
            line
        }
        Err(denial) => {
            // If the store cannot be asked, the log says so once.
            if !matches!(denial, Denial::Unavailable(_)) {
                let session = &*session;
                let why = denial.words();
                tracing::warn!(
                    connection = connection.id,
                    session,
                    "a new session is not served: {why}"
                );
            }
            connection.deny(&id, denial)
        }
    }
}

impl Outgoing for OutgoingMessages {
    fn poll_write(&mut self, outbox: &mut Outbox, context: &mut Context) -> Poll<io::Result<()>> {
        if !self.is_open {
            return Poll::Pending;
        }
        let connection = self.connection.clone();
        let mut state = connection.state.lock();
        let mut has_moved = false;
        loop {
            if let Some(held) = &mut self.held {
                let Poll::Ready(line) = held.as_mut().poll(context) else {
                    break;
                };
                self.held = None;
                self.pass(&mut state, line);
                has_moved = true;
            }
            if state.routes.streams.waiting() >= WAITING {
                break;
            }
            let Some(line) = outbox.take_line() else {
                break;
            };
            has_moved = true;
            if !self.keep(&state, &line) {
                self.pass(&mut state, line);
            }
        }
        if has_moved {
            self.is_flushed = false;
            drop(state);
            connection.end_if_drained();
            return Poll::Ready(Ok(()));
        }
        if state.is_input_closed
            && !state.routes.streams.is_read()
            && state.routes.streams.waiting() >= WAITING
        {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if self.held.is_none()
            && !self.is_flushed
            && outbox.is_empty()
            && state.routes.streams.is_flushed()
        {
            self.is_flushed = true;
            return Poll::Ready(Ok(()));
        }
        state.writes = Some(context.waker().clone());
        Poll::Pending
    }

    fn is_flushed(&self) -> bool {
        self.is_flushed
    }

    fn close(&mut self) {
        self.is_open = false;
        self.is_flushed = true;
        self.connection.close();
    }

    fn is_open(&self) -> bool {
        self.is_open
    }
}

impl Drop for OutgoingMessages {
    fn drop(&mut self) {
        self.connection.close();
    }
}
