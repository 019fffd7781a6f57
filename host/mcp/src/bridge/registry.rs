//! The state behind the bridge: the servers on offer, the open links, and the arrivals that wait to be taken.
//!
//! All tasks of the bridge share it. Invariants: the arrivals of a link come in order, [`Arrival::Opened`] first and
//! [`Arrival::Closed`] last, each once; messages wait outside while [`limits::MCP_HEARD`] bytes are inside.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::link::{Fate, Link, NotOpened, Shape};
use super::load::Load;
use super::message::OutboundMessage;
use super::outbound::OutboundEnd;
use super::stream::{Cut, Role};
use super::window::Event;
use super::window::StreamId;
use super::{Arrival, BridgeKind};
use crate::mirrored::Mirrored;
use crate::secret::Secret;
use crate::{LinkId, ServerId};
use acp_chain_channel::limits::{self, Account, Charge};
use acp_chain_rpc::{Id, Message};

/// How long a client whose link was closed has to read the messages on the way to it.
const GRACE: Duration = Duration::from_secs(10);

/// The unit in which received bytes are counted.
const UNIT: usize = 1024;

const UNITS: usize = limits::MCP_HEARD / UNIT;

/// How many refusals are logged: anybody can cause as many as they like.
const LOGGED: usize = 100;

/// A server on offer.
#[derive(Debug)]
struct Offered {
    /// Its place in URLs.
    token: Secret,
    secret: Secret,
    transports: Vec<BridgeKind>,
}

/// Why a link is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdmitted {
    /// There is no such server any more.
    Gone,
    /// There are too many links.
    Full,
}

struct News {
    arrival: Arrival,
    _room: Option<(OwnedSemaphorePermit, Charge)>,
}

#[derive(Default)]
struct Table {
    servers: HashMap<ServerId, Offered>,
    links: HashMap<LinkId, Link>,
    sessions: HashMap<Box<str>, LinkId>,
    admitted: LinkId,
    /// How many links are closed but not yet reported.
    closing: usize,
    clock: u64,
    news: VecDeque<News>,
}

/// The state shared by all tasks of the bridge.
pub struct Registry {
    table: Mutex<Table>,
    came: Notify,
    room: Arc<Semaphore>,
    /// The account of messages inside.
    heard: Account,
    /// The account of messages not taken in yet.
    loads: Account,
    /// The account of messages that wait for clients.
    unread: Account,
    /// Like the token of a server, but of none.
    decoy: Secret,
    refusals: AtomicUsize,
}

/// A client's attachment to a stream. Dropping it tells the link that the stream is gone.
pub struct Attachment {
    /// The end from which messages for the client come.
    pub outbound: OutboundEnd,
    registry: Arc<Registry>,
    link: LinkId,
    stream: StreamId,
    /// The event that the stream begins with.
    pub beginning: Option<Event>,
    cut: Arc<Cut>,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut table = self.registry.table();
        let Some(link) = table.links.get_mut(&self.link) else {
            return;
        };
        // The client may have resumed it on another connection.
        if !link.is_carried_by(self.stream, &self.cut) {
            return;
        }
        if link.gone(self.stream, self.outbound.has_ended()) {
            return self.registry.end(&mut table, self.link);
        }
        // The server's requests do not wait for it to be resumed.
        while let Some(outgoing) = self.outbound.try_next() {
            link.move_on(outgoing);
        }
    }
}

impl Registry {
    /// An empty registry; messages will be kept on a part of this account.
    pub fn new(kept: &Account) -> io::Result<Self> {
        Ok(Self {
            table: Mutex::default(),
            came: Notify::new(),
            room: Arc::new(Semaphore::new(UNITS)),
            heard: kept.clone(),
            loads: kept.part(limits::MCP_LOAD),
            unread: kept.part(limits::MCP_UNREAD_OF_ALL),
            decoy: Secret::new()?,
            refusals: AtomicUsize::new(0),
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets clients in to a server; returns its place in URLs, and its secret.
    pub fn offer(&self, server: ServerId, transport: BridgeKind) -> io::Result<(Secret, Secret)> {
        let mut table = self.table();
        let (token, secret) = (Secret::new()?, Secret::new()?);
        let server = table.servers.entry(server).or_insert(Offered {
            token,
            secret,
            transports: Vec::new(),
        });
        if !server.transports.contains(&transport) {
            server.transports.push(transport);
        }
        Ok((server.token.clone(), server.secret.clone()))
    }

    /// Lets nobody in to a server any more.
    pub fn withdraw(&self, server: ServerId) {
        let mut table = self.table();
        table.servers.remove(&server);
        let links = table.links.iter();
        let of_server = links.filter(|(_, link)| link.server == server);
        let links: Vec<_> = of_server.map(|(id, _)| *id).collect();
        for link in links {
            self.end(&mut table, link);
        }
    }

    /// The server that a secret opens.
    pub fn opened_by(&self, secret: &str) -> Option<ServerId> {
        let table = self.table();
        let offered = table.servers.iter();
        let mut offered = offered.filter(|(_, server)| server.takes(BridgeKind::Stdio));
        offered
            .find(|(_, server)| server.secret.is(secret))
            .map(|(id, _)| *id)
    }

    /// The server at a place in URLs, if the secret opens it. Timing does not reveal whether there is one.
    pub fn opened_at(&self, token: &str, secret: &str) -> Option<ServerId> {
        let table = self.table();
        let mut offered = table.servers.iter();
        let found = offered
            .find(|(_, server)| server.takes(BridgeKind::Http) && server.token.is(token))
            .map(|(id, server)| (*id, &server.secret));
        let wanted = found.map_or(&self.decoy, |(_, secret)| secret);
        let opens = wanted.is(secret);
        found.filter(|_| opens).map(|(id, _)| id)
    }

    /// Opens a link.
    pub fn admit(&self, server: ServerId, mut shape: Shape) -> Result<LinkId, NotAdmitted> {
        let mut table = self.table();
        if !table.servers.contains_key(&server) {
            return Err(NotAdmitted::Gone);
        }
        let stands_alone = matches!(shape, Shape::Single);
        // While it is open it has a connection of its own, and those are limited.
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
            return Err(NotAdmitted::Full);
        }
        table.admitted += 1;
        let link = table.admitted;
        if let Shape::Session { key, used, .. } = &mut shape {
            table.clock += 1;
            *used = table.clock;
            table.sessions.insert(key.clone(), link);
        }
        let new = Link::new(server, shape, self.unread.clone());
        table.links.insert(link, new);
        let opened = Arrival::Opened {
            link,
            server,
            stands_alone,
        };
        self.tell(&mut table, opened, None);
        Ok(link)
    }

    /// Closes the least recently used HTTP session without a client.
    fn make_room(&self, table: &mut Table, of: Option<ServerId>) -> Result<(), NotAdmitted> {
        let links = table.links.iter();
        let idle = links.filter_map(|(id, link)| match link.shape {
            Shape::Session { used, .. } if link.is_idle() => Some((used, link.server, *id)),
            _ => None,
        });
        let idle = idle.filter(|(_, server, _)| of.is_none_or(|of| *server == of));
        let (_, _, link) = idle.min().ok_or(NotAdmitted::Full)?;
        tracing::info!(link, "an MCP session that nobody used makes room");
        self.end(table, link);
        Ok(())
    }

    /// The link of an HTTP session with a server.
    pub fn session(&self, server: ServerId, key: &str) -> Option<LinkId> {
        let mut table = self.table();
        let id = *table.sessions.get(key)?;
        table.clock += 1;
        let clock = table.clock;
        let link = table.links.get_mut(&id)?;
        if let Shape::Session { used, .. } = &mut link.shape {
            *used = clock;
        }
        (link.server == server).then_some(id)
    }

    /// Opens a stream of a link, on a connection that ends when `connection` is notified.
    pub fn open(
        self: &Arc<Self>,
        id: LinkId,
        role: Role,
        connection: &Arc<Notify>,
    ) -> Result<Attachment, NotOpened> {
        let mut table = self.table();
        let link = table.links.get_mut(&id).ok_or(NotOpened::Gone)?;
        let cut = Arc::new(Cut(Arc::clone(connection)));
        let (stream, outbound) = link.open(role, &cut)?;
        Ok(Attachment {
            outbound,
            registry: Arc::clone(self),
            link: id,
            stream,
            beginning: link.beginning(stream),
            cut,
        })
    }

    /// Lets a client resume a stream of its link that it lost, if possible.
    pub fn resume(
        self: &Arc<Self>,
        id: LinkId,
        last: Event,
        connection: &Arc<Notify>,
    ) -> Option<Attachment> {
        let mut table = self.table();
        let link = table.links.get_mut(&id)?;
        let cut = Arc::new(Cut(Arc::clone(connection)));
        Some(Attachment {
            outbound: link.resume(last, &cut)?,
            registry: Arc::clone(self),
            link: id,
            stream: last.stream,
            beginning: None,
            cut,
        })
    }

    /// A load for the messages of a connection that are not taken in yet.
    pub fn load(&self) -> Load {
        Load::new(&self.loads)
    }

    /// Takes in a client's message, as soon as there is room. `false` if its link has ended.
    pub async fn hear(&self, link: LinkId, message: Message) -> bool {
        self.hear_mirrored(link, message, Mirrored::default()).await
    }

    /// The same, with headers that repeat parts of it.
    pub async fn hear_mirrored(&self, link: LinkId, message: Message, mirrored: Mirrored) -> bool {
        let units = (message.len() / UNIT + 1).min(UNITS);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let mut table = self.table();
        let entry = table.links.get_mut(&link);
        let open = entry.is_some();
        if let Some(entry) = entry {
            entry.hears(&message);
            let charge = self.heard.charge_anyway(message.cost());
            let room = room.ok().map(|room| (room, charge));
            let said = Arrival::Message {
                link,
                message,
                mirrored,
            };
            self.tell(&mut table, said, room);
        }
        open
    }

    /// Whether a client may send batches.
    pub fn takes_batches(&self, link: LinkId) -> bool {
        let table = self.table();
        table.links.get(&link).is_some_and(Link::takes_batches)
    }

    /// Whether a link is open.
    pub fn is_open(&self, link: LinkId) -> bool {
        self.table().links.contains_key(&link)
    }

    /// A client no longer waits for an answer.
    pub fn withdrawn(&self, link: LinkId, id: &Id) {
        if let Some(link) = self.table().links.get_mut(&link) {
            link.withdrawn(id);
        }
    }

    /// Sends a client a message.
    pub fn send(&self, id: LinkId, outgoing: OutboundMessage) {
        let mut table = self.table();
        let Some(link) = table.links.get_mut(&id) else {
            return;
        };
        match link.send(outgoing) {
            Fate::GoesOn => {}
            Fate::Over => self.end(&mut table, id),
            Fate::Flooded => {
                self.turned_away("it does not take what it is sent");
                for cut in link.cuts().filter_map(|cut| cut.upgrade()) {
                    cut.now();
                }
                self.end(&mut table, id);
            }
        }
    }

    /// Closes a link. Earlier messages are still delivered, if the client reads them.
    pub fn close(&self, link: LinkId) {
        self.end(&mut self.table(), link);
    }

    fn end(&self, table: &mut Table, id: LinkId) {
        let Some(link) = table.links.remove(&id) else {
            return;
        };
        if let Shape::Session { key, .. } = &link.shape {
            table.sessions.remove(key);
        }
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
        self.tell(table, Arrival::Closed { link: id }, None);
    }

    fn tell(
        &self,
        table: &mut Table,
        arrival: Arrival,
        room: Option<(OwnedSemaphorePermit, Charge)>,
    ) {
        table.news.push_back(News {
            arrival,
            _room: room,
        });
        self.came.notify_one();
    }

    /// The next arrival. Cancel safe.
    pub async fn next(&self) -> Arrival {
        loop {
            let news = {
                let mut table = self.table();
                let news = table.news.pop_front();
                let closed = |news: &News| matches!(news.arrival, Arrival::Closed { .. });
                table.closing -= usize::from(news.as_ref().is_some_and(closed));
                news
            };
            match news {
                Some(news) => return news.arrival,
                None => self.came.notified().await,
            }
        }
    }

    /// Logs that a client was turned away.
    pub fn turned_away(&self, why: &str) {
        match self.refusals.fetch_add(1, Ordering::Relaxed) {
            ..LOGGED => tracing::warn!("the bridge for MCP clients turned somebody away: {why}"),
            LOGGED => {
                tracing::warn!("the bridge for MCP clients turns away many: no more is logged");
            }
            _ => {}
        }
    }
}

impl Offered {
    fn takes(&self, transport: BridgeKind) -> bool {
        self.transports.contains(&transport)
    }
}
