//! The open connections, and their limits.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acp_chain_rpc::Mutex;
use data_encoding::HEXLOWER;
use tokio::sync::watch;
use tokio::time::Instant;

use super::access_log::{AccessLog, LogContext};
use super::account::Account;
use super::connection::{Connection, Ending};
use super::fair::FairTurns;
use super::limits::Limits;
use super::metrics::{Figures, Page, Refusal, TransportKind};
use super::names::Node;
use super::owners::Owners;
use super::routes::{Gauges, Routes};
use super::shared::Shared;
use super::shares::{TurnLimits, TurnShares};
use crate::User;

/// How long the last messages may take to be sent.
const CLOSING: Duration = Duration::from_secs(5);

/// How many accounts without a connection are kept, before unused ones are dropped.
const STRANGERS: usize = 1024;

/// How many TCP connections there may be for each ACP connection.
const SOCKETS: usize = 4;

#[derive(Debug)]
pub struct Registry {
    node: Node,
    limits: Limits,
    open: Mutex<OpenConnections>,
    turns: Arc<FairTurns>,
    shares: Arc<TurnShares>,
    /// The owners of sessions, as far as this server alone knows them: unless there is a store of replicas.
    pub owners: Arc<Owners>,
    /// What is shared with other replicas, if there is a store.
    shared: OnceLock<Arc<Shared>>,
    /// The counters.
    pub figures: Arc<Figures>,
    pub access: Option<AccessLog>,
    /// The number of open connections.
    count: watch::Sender<usize>,
    /// Whether new connections are rejected, and open ones end when they are idle. Set while `open` is locked.
    is_draining: Arc<AtomicBool>,
    /// Whether all connections have ended, and no more are accepted.
    over: watch::Sender<bool>,
    /// The number of open sockets.
    sockets: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    connections: HashMap<String, Arc<Connection>>,
    /// By name: a user may have tokens with different groups.
    of_users: HashMap<String, UserShare>,
}

#[derive(Debug)]
struct UserShare {
    connections: usize,
    account: Arc<Account>,
}

impl UserShare {
    /// Whether the account is in use, or still delays its user: reconnecting does not reset the rate limit.
    fn is_needed(&self) -> bool {
        self.connections > 0 || Arc::strong_count(&self.account) > 1 || !self.account.is_even()
    }
}

impl Registry {
    /// An empty registry. The node's name prefixes the ids of connections.
    pub fn new(
        node: Node,
        limits: Limits,
        turn_limits: TurnLimits,
        access: Option<AccessLog>,
    ) -> Self {
        Self {
            node,
            limits,
            open: Mutex::default(),
            turns: Arc::new(FairTurns::new(limits.turns)),
            shares: Arc::new(TurnShares::new(turn_limits)),
            owners: Arc::default(),
            shared: OnceLock::new(),
            figures: Arc::default(),
            access,
            count: watch::Sender::new(0),
            is_draining: Arc::default(),
            over: watch::Sender::new(false),
            sockets: watch::Sender::new(0),
        }
    }

    /// Shares what replicas must know together. Must be called before there are connections.
    pub fn share(&self, shared: Arc<Shared>) {
        // There is one store.
        let _ = self.shared.set(shared);
    }

    /// What is shared with other replicas, if anything.
    pub fn shared(&self) -> Option<&Arc<Shared>> {
        self.shared.get()
    }

    /// The name of this replica.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// A new connection of this user, over this transport; or the limit that is reached.
    pub fn begin(
        &self,
        id: String,
        user: &Arc<User>,
        way: TransportKind,
        peer: SocketAddr,
    ) -> Result<Arc<Connection>, Refusal> {
        let mut open = self.open.lock();
        let of_user = self.share_with_room(&mut open, user)?;
        of_user.connections += 1;
        let account = of_user.account.clone();
        let log = LogContext {
            access: self.access.clone(),
            figures: self.figures.clone(),
            connection: Some(id.clone()),
            user: user.clone(),
            way,
            peer,
        };
        let (owners, draining) = (self.owners.clone(), self.is_draining.clone());
        let shared = self.shared.get().cloned();
        let connection = Connection::new(id.clone(), log, account, owners, shared, draining);
        open.connections.insert(id, connection.clone());
        self.count.send_replace(open.connections.len());
        Ok(connection)
    }

    /// The limit that one more connection of this user would exceed, as far as this server knows.
    pub fn check(&self, user: &User) -> Result<(), Refusal> {
        let mut open = self.open.lock();
        self.share_with_room(&mut open, user).map(drop)
    }

    /// The share of a user who may have one more connection.
    fn share_with_room<'o>(
        &self,
        open: &'o mut OpenConnections,
        user: &User,
    ) -> Result<&'o mut UserShare, Refusal> {
        if self.is_draining() {
            return Err(Refusal::Draining);
        }
        let count = open.connections.len();
        let files = self.limits.files;
        if count >= self.limits.connections
            || !files.suffice_for_one_more(*self.sockets.borrow(), count)
        {
            return Err(Refusal::NoRoom);
        }
        let of_user = self.share_of(open, user);
        if of_user.connections >= self.limits.connections_per_user {
            return Err(Refusal::Connections);
        }
        Ok(of_user)
    }

    /// The share of a user.
    fn share_of<'o>(&self, open: &'o mut OpenConnections, user: &User) -> &'o mut UserShare {
        let of_user = open.of_users.entry(user.name.clone());
        of_user.or_insert_with(|| {
            let account = Account::new(&self.limits, self.turns.clone(), self.shares.clone());
            UserShare {
                connections: 0,
                account: Arc::new(account),
            }
        })
    }

    /// The account of a user who may not have a connection yet.
    pub fn account(&self, user: &User) -> Arc<Account> {
        let mut open = self.open.lock();
        if open.of_users.len() >= open.connections.len() + STRANGERS {
            open.of_users.retain(|_, of_user| of_user.is_needed());
        }
        self.share_of(&mut open, user).account.clone()
    }

    /// An unguessable id, prefixed with the node's name, by which balancers route.
    pub fn id(&self) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(format!("{}.{}", self.node, HEXLOWER.encode(&bytes)))
    }

    /// The connection with this id, if it belongs to this user with the same groups: its chain was chosen for those.
    pub fn find(&self, id: &str, user: &User) -> Option<Arc<Connection>> {
        let open = self.open.lock();
        let found = open.connections.get(id)?;
        (*found.user == *user).then(|| found.clone())
    }

    /// Removes a connection that has ended.
    pub fn remove(&self, connection: &Connection) {
        let mut open = self.open.lock();
        if open.connections.remove(&connection.id).is_some()
            && let Some(of_user) = open.of_users.get_mut(&connection.user.name)
        {
            self.figures.ended(connection.log.way);
            of_user.connections -= 1;
        }
        self.count.send_replace(open.connections.len());
    }

    /// Counts a socket as open while this is kept.
    pub fn socket(self: &Arc<Self>) -> Socket {
        self.sockets.send_modify(|count| *count += 1);
        Socket(self.clone())
    }

    pub fn sockets(&self) -> usize {
        *self.sockets.borrow()
    }

    /// The maximum number of sockets.
    pub fn most_sockets(&self) -> usize {
        self.limits.connections.saturating_mul(SOCKETS)
    }

    /// A socket, if one more is allowed.
    pub fn one_more_socket(self: &Arc<Self>) -> Option<Socket> {
        let sockets = *self.sockets.borrow() + 1;
        let has_files = self.limits.files.suffice(sockets, self.len());
        (sockets <= self.most_sockets() && has_files).then(|| self.socket())
    }

    /// Becomes true when sockets must send the rest, and close.
    pub fn over(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }

    /// How many connections are open.
    pub fn len(&self) -> usize {
        *self.count.borrow()
    }

    /// Whether no more connections are accepted.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    fn all(&self) -> Vec<Arc<Connection>> {
        self.open.lock().connections.values().cloned().collect()
    }

    /// Writes the open connections and the counters.
    pub fn write(&self, page: &mut Page) {
        let (mut open, mut all) = ([0; 2], Gauges::default());
        for connection in self.all() {
            open[connection.log.way as usize] += 1;
            let gauges = connection.with_routes(Routes::gauges);
            all.sessions += gauges.sessions;
            all.turns += gauges.turns;
            all.waiting += gauges.waiting;
            all.kept += gauges.kept;
        }
        page.values(
            "acp_chain_connections",
            "Open connections.",
            "transport",
            [TransportKind::Http, TransportKind::WebSocket]
                .map(|way| (way.name(), open[way as usize])),
        );
        page.value("acp_chain_sessions", "Open sessions.", all.sessions);
        page.value("acp_chain_turns", "Running turns.", all.turns);
        page.value(
            "acp_chain_users_waiting",
            "Users who wait for a turn.",
            self.turns.waiting(Instant::now()),
        );
        page.values(
            "acp_chain_stream_bytes",
            "Bytes of messages to clients: unsent ones, and sent ones that are kept for clients that resume.",
            "state",
            [("waiting", all.waiting), ("kept", all.kept)],
        );
        page.value(
            "acp_chain_draining",
            "Whether the server is about to stop.",
            u8::from(self.is_draining()),
        );
        if let Some(shared) = self.shared() {
            shared.write(page);
        }
        self.figures.write(page);
        if let Some(access) = &self.access {
            access.write(page);
        }
    }

    /// Ends all connections that another replica may soon count or serve, and returns how many.
    pub fn end_leased(&self) -> usize {
        self.end_those(Connection::is_leased)
    }

    /// Ends all connections of a user.
    pub fn end_user(&self, name: &str) {
        self.end_those(|connection| connection.user.name == name);
    }

    /// Ends all connections that serve this session.
    pub fn end_session(&self, session: &str) {
        self.end_those(|connection| connection.lease(session).is_some());
    }

    fn end_those(&self, fits: impl Fn(&Connection) -> bool) -> usize {
        let all = self.all();
        let ended = all.iter().filter(|connection| fits(connection));
        ended
            .inspect(|connection| connection.end(Ending::AtOnce))
            .count()
    }

    /// Ends silent connections, and drops old sent messages of the others.
    pub fn sweep(&self, patience: Duration) {
        let now = Instant::now();
        self.open
            .lock()
            .of_users
            .retain(|_, of_user| of_user.is_needed());
        for connection in self.all() {
            connection.trim(now, patience);
            let is_deserted = connection.deserted(now).is_some_and(|age| age > patience);
            if is_deserted && !connection.is_ending() {
                tracing::info!(connection = connection.id, "the client has not reconnected");
                connection.end(Ending::Gently);
            }
        }
    }

    /// Rejects new connections, and ends each open one when it is idle; after `patience`, ends the rest at once.
    /// Resolves when all have ended, and the last messages are sent or `CLOSING` is over.
    pub async fn drain(&self, patience: Duration) {
        self.end_all(patience).await;
        self.over.send_replace(true);
        let mut sockets = self.sockets.subscribe();
        let _ = tokio::time::timeout(CLOSING, sockets.wait_for(|count| *count == 0)).await;
    }

    async fn end_all(&self, patience: Duration) {
        let open = self.open.lock();
        self.is_draining.store(true, Ordering::Release);
        drop(open);
        // A connection that is busy now ends as soon as it is idle.
        for connection in self.all() {
            connection.end_if_idle();
        }
        let ended = tokio::time::timeout(patience, self.all_ended()).await;
        if ended.is_ok() {
            return;
        }
        for connection in self.all() {
            connection.end(Ending::AtOnce);
        }
        self.all_ended().await;
    }

    async fn all_ended(&self) {
        let mut count = self.count.subscribe();
        // The sender is not dropped meanwhile.
        let _ = count.wait_for(|count| *count == 0).await;
    }
}

/// An open socket.
#[derive(Debug)]
pub struct Socket(Arc<Registry>);

impl Drop for Socket {
    fn drop(&mut self) {
        self.0.sockets.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::Files;
    use super::*;

    fn user(name: &str) -> Arc<User> {
        Arc::new(User {
            name: name.to_owned(),
            groups: Vec::new(),
        })
    }

    fn begin(
        registry: &Registry,
        user: &Arc<User>,
        way: TransportKind,
    ) -> Result<Arc<Connection>, Refusal> {
        registry.begin(
            registry.id().unwrap(),
            user,
            way,
            ([127, 0, 0, 1], 9).into(),
        )
    }

    fn registry() -> Registry {
        let limits = Limits {
            connections: 3,
            connections_per_user: 2,
            sessions_per_user: 2,
            bodies_per_user: 2,
            turns: usize::MAX,
            pace: None,
            files: Files {
                all: 64,
                of_chain: 3,
            },
        };
        let node = "here".parse().unwrap();
        Registry::new(node, limits, TurnLimits::default(), None)
    }

    #[test]
    fn a_connection_of_another_user_is_not_found() {
        let registry = registry();
        let (ann, bob) = (user("ann"), user("bob"));
        let connection = begin(&registry, &ann, TransportKind::Http).unwrap();
        assert!(connection.id.starts_with("here.") && connection.id.len() == 5 + 32);
        assert!(registry.find(&connection.id, &ann).is_some());
        assert!(registry.find(&connection.id, &bob).is_none());
        registry.remove(&connection);
        assert!(registry.find(&connection.id, &ann).is_none());
    }

    #[test]
    fn connections_beyond_a_limit_are_rejected() {
        let registry = registry();
        let (ann, bob) = (user("ann"), user("bob"));
        let first = begin(&registry, &ann, TransportKind::Http).unwrap();
        let _second = begin(&registry, &ann, TransportKind::WebSocket).unwrap();
        assert_eq!(
            begin(&registry, &ann, TransportKind::Http).unwrap_err(),
            Refusal::Connections
        );
        let _third = begin(&registry, &bob, TransportKind::Http).unwrap();
        assert_eq!(
            begin(&registry, &bob, TransportKind::Http).unwrap_err(),
            Refusal::NoRoom
        );
        registry.remove(&first);
        registry.remove(&first);
        begin(&registry, &ann, TransportKind::Http).unwrap();
        assert_eq!(
            begin(&registry, &bob, TransportKind::Http).unwrap_err(),
            Refusal::NoRoom
        );
    }

    #[test]
    fn a_user_has_one_share_whatever_the_groups() {
        let registry = registry();
        let (ann, of_staff) = (
            user("ann"),
            User {
                name: "ann".to_owned(),
                groups: vec!["staff".to_owned()],
            },
        );
        let of_staff = Arc::new(of_staff);
        begin(&registry, &ann, TransportKind::Http).unwrap();
        let second = begin(&registry, &of_staff, TransportKind::Http).unwrap();
        assert_eq!(
            begin(&registry, &of_staff, TransportKind::Http).unwrap_err(),
            Refusal::Connections
        );
        assert!(registry.find(&second.id, &ann).is_none());
        registry.owners.own(&"s".into(), &ann);
        registry.owners.own(&"t".into(), &user("bob"));
        assert!(!registry.owners.is_foreign("s", &of_staff));
        assert!(registry.owners.is_foreign("t", &of_staff));
    }

    #[test]
    fn existing_clients_keep_files_when_new_ones_are_rejected() {
        let mut registry = registry();
        registry.limits.connections = 100;
        registry.limits.connections_per_user = 100;
        let registry = Arc::new(registry);
        let ann = user("ann");
        let mut sockets = Vec::new();
        let mut connections = Vec::new();
        loop {
            sockets.extend(registry.one_more_socket());
            match begin(&registry, &ann, TransportKind::WebSocket) {
                Ok(connection) => connections.push(connection),
                Err(why) => break assert_eq!(why, Refusal::NoRoom),
            }
        }
        // A sixteenth is reserved, and one of those has a socket already.
        assert_eq!((connections.len(), sockets.len()), (15, 16));
        sockets.extend(std::iter::from_fn(|| registry.one_more_socket()));
        assert_eq!(sockets.len() + 3 * connections.len(), 64);
    }
}
