//! The state of the bridge, shared by all its tasks: the offered servers, the open links, and the queued arrivals.
//!
//! Invariants: the arrivals of a link are in order, [`Arrival::Opened`] first and [`Arrival::Closed`] last, each once;
//! while [`limits::MCP_HEARD`] bytes are queued, further messages wait.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::connections::Load;
use super::link::{Link, LinkKind, Rejection, Status};
use super::outbound::{OutboundEnd, OutboundMessage};
use super::stream::{Closer, Role};
use super::window::{Event, StreamId};
use super::{Arrival, BridgeKind};
use acp_chain_channel::limits::{self, Account, Charge};
use acp_chain_mcp::param_headers::ParamHeaders;
use acp_chain_mcp::secret::Secret;
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::{Id, Message, Mutex};

/// How long a client may still read its messages after its link was closed.
const GRACE: Duration = Duration::from_secs(10);

/// The unit in which received bytes are counted.
const UNIT: usize = 1024;

const UNITS: usize = limits::MCP_HEARD / UNIT;

/// How many rejections are logged. The limit is needed because any local program can cause them.
const LOGGED: usize = 100;

/// An offered server.
#[derive(Debug)]
struct OfferedServer {
    /// The random part of the server's URL.
    token: Secret,
    secret: Secret,
    transports: Vec<BridgeKind>,
}

/// The room that a queued message takes.
type Room = (OwnedSemaphorePermit, Charge);

#[derive(Default)]
struct Table {
    servers: HashMap<ServerId, OfferedServer>,
    links: HashMap<LinkId, Link>,
    /// The HTTP sessions by their keys, the least recently used first.
    sessions: Vec<(Box<str>, LinkId)>,
    admitted: LinkId,
    /// How many links are closed but not yet reported.
    closing: usize,
    arrivals: VecDeque<(Arrival, Option<Room>)>,
}

/// The state shared by all tasks of the bridge.
pub struct Registry {
    table: Mutex<Table>,
    arrived: Notify,
    room: Arc<Semaphore>,
    /// The account of queued arrivals.
    received: Account,
    /// The account of messages that no link has received yet.
    loads: Account,
    /// The account of messages that wait for clients.
    unread: Account,
    refusals: AtomicUsize,
}

/// A client's attachment to a stream. Dropping it disconnects the stream.
pub struct Attachment {
    /// The messages to the client.
    pub outbound: OutboundEnd,
    registry: Arc<Registry>,
    link: LinkId,
    stream: StreamId,
    cut: Arc<Closer>,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut table = self.registry.table.lock();
        let Some(link) = table.links.get_mut(&self.link) else {
            return;
        };
        // The client may have resumed the stream on another connection.
        if !link.is_carried_by(self.stream, &self.cut) {
            return;
        }
        if link.disconnected(self.stream, self.outbound.ended) {
            return self.registry.end(&mut table, self.link);
        }
        // The server's requests do not wait until the stream is resumed.
        while let Some(outgoing) = self.outbound.try_next() {
            link.move_on(outgoing);
        }
    }
}

impl Registry {
    /// An empty registry. Messages are charged to `kept`.
    pub fn new(kept: &Account) -> Self {
        Self {
            table: Mutex::default(),
            arrived: Notify::new(),
            room: Arc::new(Semaphore::new(UNITS)),
            received: kept.clone(),
            loads: kept.part(limits::MCP_LOAD),
            unread: kept.part(limits::MCP_UNREAD_OF_ALL),
            refusals: AtomicUsize::new(0),
        }
    }

    /// Offers a server to clients. Returns the random part of its URL, and its secret.
    pub fn offer(&self, server: ServerId, transport: BridgeKind) -> io::Result<(Secret, Secret)> {
        let mut table = self.table.lock();
        let (token, secret) = (Secret::new()?, Secret::new()?);
        let server = table.servers.entry(server).or_insert(OfferedServer {
            token,
            secret,
            transports: Vec::new(),
        });
        if !server.transports.contains(&transport) {
            server.transports.push(transport);
        }
        Ok((server.token.clone(), server.secret.clone()))
    }

    /// Rejects new clients of a server, and closes its links.
    pub fn withdraw(&self, server: ServerId) {
        let mut table = self.table.lock();
        table.servers.remove(&server);
        let links = table.links.iter();
        let of_server = links.filter(|(_, link)| link.server == server);
        let links: Vec<_> = of_server.map(|(id, _)| *id).collect();
        for link in links {
            self.end(&mut table, link);
        }
    }

    /// The server with this secret.
    pub fn opened_by(&self, secret: &str) -> Option<ServerId> {
        self.offered(BridgeKind::Stdio, |server| server.secret.is(secret))
    }

    /// The server with this token in its URL and this secret. Timing does not reveal whether the token is valid: the
    /// secret is compared in any case.
    pub fn opened_at(&self, token: &str, secret: &str) -> Option<ServerId> {
        let opens = |server: &OfferedServer| server.token.is(token) & server.secret.is(secret);
        self.offered(BridgeKind::Http, opens)
    }

    fn offered(
        &self,
        transport: BridgeKind,
        opens: impl Fn(&OfferedServer) -> bool,
    ) -> Option<ServerId> {
        let table = self.table.lock();
        let mut offered = table.servers.iter();
        let found =
            offered.find(|(_, server)| server.transports.contains(&transport) && opens(server));
        found.map(|(id, _)| *id)
    }

    /// Opens a link. If there are too many, evicts one.
    pub fn admit(&self, server: ServerId, shape: LinkKind) -> Result<LinkId, Rejection> {
        let mut table = self.table.lock();
        if !table.servers.contains_key(&server) {
            return Err(Rejection::ServerClosed);
        }
        let stands_alone = matches!(shape, LinkKind::Single);
        // A request that stands alone has a connection while it is open, and connections are limited.
        if !stands_alone {
            let clients = || table.links.values().filter(|link| link.is_client());
            let of_server = clients().filter(|link| link.server == server).count();
            let of_all = clients().count();
            if of_server >= limits::MCP_LINKS_OF_SERVER {
                self.make_room(&mut table, Some(server))?;
            } else if of_all >= limits::MCP_LINKS {
                self.make_room(&mut table, None)?;
            }
        }
        if table.closing >= limits::MCP_LINKS + limits::MCP_CONNECTIONS {
            return Err(Rejection::Full);
        }
        table.admitted += 1;
        let link = table.admitted;
        if let LinkKind::Session { key, .. } = &shape {
            table.sessions.push((key.clone(), link));
        }
        let new = Link::new(server, shape, self.unread.clone());
        table.links.insert(link, new);
        let opened = Arrival::Opened {
            link,
            server,
            stands_alone,
        };
        self.queue(&mut table, opened, None);
        Ok(link)
    }

    /// Closes the least recently used HTTP session without a client.
    fn make_room(&self, table: &mut Table, of: Option<ServerId>) -> Result<(), Rejection> {
        let is_idle = |id: &LinkId| {
            let link = table.links.get(id);
            link.is_some_and(|link| link.is_idle() && of.is_none_or(|of| link.server == of))
        };
        let mut sessions = table.sessions.iter().map(|(_, link)| *link);
        let link = sessions.find(is_idle).ok_or(Rejection::Full)?;
        tracing::info!(link, "evicted the least recently used MCP session");
        self.end(table, link);
        Ok(())
    }

    /// The link of an HTTP session with a server.
    pub fn session(&self, server: ServerId, key: &str) -> Option<LinkId> {
        let mut table = self.table.lock();
        let at = table.sessions.iter().position(|(of, _)| **of == *key)?;
        let session = table.sessions.remove(at);
        let link = session.1;
        table.sessions.push(session);
        (table.links.get(&link)?.server == server).then_some(link)
    }

    /// Opens a stream of a link, on a connection that is closed when `connection` is notified.
    pub fn open(
        self: &Arc<Self>,
        link: LinkId,
        role: Role,
        connection: &Arc<Notify>,
    ) -> Result<Attachment, Rejection> {
        self.attach(link, connection, |link, cut| link.open(role, cut))
    }

    /// Resumes a lost stream of a link, if possible.
    pub fn resume(
        self: &Arc<Self>,
        link: LinkId,
        last: Event,
        connection: &Arc<Notify>,
    ) -> Option<Attachment> {
        let resumed = self.attach(link, connection, |link, cut| {
            let outbound = link.resume(last, cut).ok_or(Rejection::LinkClosed)?;
            Ok((last.stream, outbound))
        });
        resumed.ok()
    }

    fn attach(
        self: &Arc<Self>,
        id: LinkId,
        connection: &Arc<Notify>,
        open: impl FnOnce(&mut Link, &Arc<Closer>) -> Result<(StreamId, OutboundEnd), Rejection>,
    ) -> Result<Attachment, Rejection> {
        let mut table = self.table.lock();
        let link = table.links.get_mut(&id).ok_or(Rejection::LinkClosed)?;
        let cut = Arc::new(Closer(Arc::clone(connection)));
        let (stream, outbound) = open(link, &cut)?;
        Ok(Attachment {
            outbound,
            registry: Arc::clone(self),
            link: id,
            stream,
            cut,
        })
    }

    /// A load for the messages of a connection that its link has not received yet.
    pub fn load(&self) -> Load {
        Load::new(&self.loads)
    }

    /// Queues a client's message, as soon as there is room. `mirrored` are the headers that repeat parts of it. `false`
    /// if its link is closed.
    pub async fn receive(&self, link: LinkId, message: Message, mirrored: ParamHeaders) -> bool {
        let units = (message.len() / UNIT + 1).min(UNITS);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let mut table = self.table.lock();
        let entry = table.links.get_mut(&link);
        let open = entry.is_some();
        if let Some(entry) = entry {
            entry.received(&message);
            let charge = self.received.charge_anyway(message.cost());
            let room = room.ok().map(|room| (room, charge));
            let arrival = Arrival::Message {
                link,
                message,
                mirrored,
            };
            self.queue(&mut table, arrival, room);
        }
        open
    }

    /// Whether the client of a link may send batches.
    pub fn takes_batches(&self, link: LinkId) -> bool {
        let table = self.table.lock();
        table.links.get(&link).is_some_and(Link::takes_batches)
    }

    pub fn is_open(&self, link: LinkId) -> bool {
        self.table.lock().links.contains_key(&link)
    }

    /// A client cancelled a request.
    pub fn withdrawn(&self, link: LinkId, id: &Id) {
        if let Some(link) = self.table.lock().links.get_mut(&link) {
            link.withdrawn(id);
        }
    }

    /// Sends a message to a client. If too many bytes wait for the client, closes its link.
    pub fn send(&self, id: LinkId, outgoing: OutboundMessage) {
        let mut table = self.table.lock();
        let Some(link) = table.links.get_mut(&id) else {
            return;
        };
        match link.send(outgoing) {
            Status::Open => {}
            Status::Over => self.end(&mut table, id),
            Status::Flooded => {
                self.rejected("it does not read its messages");
                for cut in link.cuts().filter_map(|cut| cut.upgrade()) {
                    cut.now();
                }
                self.end(&mut table, id);
            }
        }
    }

    /// Closes a link. The client can still read earlier messages, for a while.
    pub fn close(&self, link: LinkId) {
        self.end(&mut self.table.lock(), link);
    }

    fn end(&self, table: &mut Table, id: LinkId) {
        let Some(link) = table.links.remove(&id) else {
            return;
        };
        table.sessions.retain(|(_, session)| *session != id);
        let cuts = link.cuts().filter(|cut| cut.strong_count() > 0);
        let cuts: Vec<_> = cuts.collect();
        if !cuts.is_empty()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                tokio::time::sleep(GRACE).await;
                for cut in cuts.iter().filter_map(Weak::upgrade) {
                    cut.now();
                }
            });
        }
        table.closing += 1;
        self.queue(table, Arrival::Closed { link: id }, None);
    }

    fn queue(&self, table: &mut Table, arrival: Arrival, room: Option<Room>) {
        table.arrivals.push_back((arrival, room));
        self.arrived.notify_one();
    }

    /// The next arrival. Cancel safe.
    pub async fn next(&self) -> Arrival {
        loop {
            if let Some(arrival) = self.try_next() {
                return arrival;
            }
            self.arrived.notified().await;
        }
    }

    fn try_next(&self) -> Option<Arrival> {
        let mut table = self.table.lock();
        let (arrival, _room) = table.arrivals.pop_front()?;
        table.closing -= usize::from(matches!(arrival, Arrival::Closed { .. }));
        Some(arrival)
    }

    /// Logs that a client was rejected.
    pub fn rejected(&self, why: &str) {
        match self.refusals.fetch_add(1, Ordering::Relaxed) {
            ..LOGGED => tracing::warn!("the bridge rejected an MCP client: {why}"),
            LOGGED => {
                tracing::warn!(
                    "the bridge has rejected {LOGGED} MCP clients; further rejections are not logged"
                );
            }
            _ => {}
        }
    }
}
