//! The connections that are open, and how many there may be.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use super::connection::{Connection, Ending};
use super::names::Node;
use super::owners::Owners;
use crate::User;

/// How long what was said last may take to leave.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why there is no room for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// This user has as many as one may have.
    OfUser,
    /// There are as many as there may be.
    OfAll,
    /// We are about to stop.
    Draining,
    /// The system gives no random bytes.
    NoRandom,
}

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of all users.
    pub connections: usize,
    /// Of one.
    pub connections_per_user: usize,
}

#[derive(Debug)]
pub struct Registry {
    node: Node,
    limits: Limits,
    open: Mutex<Open>,
    /// Whose the sessions are.
    pub owners: Arc<Owners>,
    /// A connection is over, or has nothing to do.
    changed: Arc<Notify>,
    /// Whether all are over, and nobody comes in any more.
    over: watch::Sender<bool>,
    /// How many sockets still have something to say.
    sockets: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Open {
    connections: HashMap<String, Arc<Connection>>,
    of_users: HashMap<Arc<User>, usize>,
    is_draining: bool,
}

impl Registry {
    /// Connections of this node, whose name begins each of their ids.
    pub fn new(node: Node, limits: Limits) -> Self {
        Self {
            node,
            limits,
            open: Mutex::default(),
            owners: Arc::default(),
            changed: Arc::default(),
            over: watch::Sender::new(false),
            sockets: watch::Sender::new(0),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing in there is left half done.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection, with a stream for each session, or one for all.
    pub fn begin(&self, user: &Arc<User>, is_one: bool) -> Result<Arc<Connection>, NoRoom> {
        let id = self.id().map_err(|_| NoRoom::NoRandom)?;
        let mut open = self.open();
        if open.is_draining {
            return Err(NoRoom::Draining);
        }
        if open.connections.len() >= self.limits.connections {
            return Err(NoRoom::OfAll);
        }
        let of_user = open.of_users.entry(user.clone()).or_default();
        if *of_user >= self.limits.connections_per_user {
            return Err(NoRoom::OfUser);
        }
        *of_user += 1;
        let (owners, idle) = (self.owners.clone(), self.changed.clone());
        let connection = Connection::new(id.clone(), user.clone(), is_one, owners, idle);
        open.connections.insert(id, connection.clone());
        Ok(connection)
    }

    /// A name that nobody can guess, with that of the node in front, by which balancers find it.
    fn id(&self) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let mut id = format!("{}.", self.node);
        for byte in bytes {
            let _ = write!(id, "{byte:02x}");
        }
        Ok(id)
    }

    /// The connection of this user.
    pub fn find(&self, id: &str, user: &User) -> Option<Arc<Connection>> {
        let open = self.open();
        let found = open.connections.get(id)?;
        (*found.user == *user).then(|| found.clone())
    }

    /// It is over.
    pub fn remove(&self, connection: &Connection) {
        let mut open = self.open();
        if open.connections.remove(&connection.id).is_some()
            && let Some(count) = open.of_users.get_mut(&connection.user)
        {
            *count -= 1;
            if *count == 0 {
                open.of_users.remove(&connection.user);
            }
        }
        drop(open);
        self.changed.notify_waiters();
    }

    /// A socket is open, as long as this is kept.
    pub fn socket(self: &Arc<Self>) -> Socket {
        self.sockets.send_modify(|count| *count += 1);
        Socket(self.clone())
    }

    /// Becomes true when sockets are to say what is left, and close.
    pub fn over(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }

    /// How many connections are open.
    pub fn len(&self) -> usize {
        self.open().connections.len()
    }

    /// Whether there are new ones no more.
    pub fn is_draining(&self) -> bool {
        self.open().is_draining
    }

    fn all(&self) -> Vec<Arc<Connection>> {
        self.open().connections.values().cloned().collect()
    }

    /// Ends connections of which nothing is heard any more, and forgets what they could ask for once more.
    pub fn sweep(&self, patience: Duration) {
        let now = Instant::now();
        for connection in self.all() {
            connection.with_routes(|routes| routes.trim(now, patience));
            if connection.deserted(now).is_some_and(|age| age > patience) {
                tracing::info!(connection = connection.id, "the client does not come back");
                connection.end(Ending::Gently);
            }
        }
    }

    /// Lets in nobody any more, and ends each connection when nothing is open in it; those that are left after a while
    /// at once. Done when there is none, and what was said last has left.
    pub async fn drain(&self, patience: Duration) {
        self.end_all(patience).await;
        self.over.send_replace(true);
        let mut sockets = self.sockets.subscribe();
        let _ = tokio::time::timeout(FAREWELL, sockets.wait_for(|count| *count == 0)).await;
    }

    async fn end_all(&self, patience: Duration) {
        self.open().is_draining = true;
        let finish = async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                let all = self.all();
                if all.is_empty() {
                    return;
                }
                for connection in all {
                    if connection.is_idle() {
                        connection.end(Ending::Gently);
                    }
                }
                changed.await;
            }
        };
        if tokio::time::timeout(patience, finish).await.is_ok() {
            return;
        }
        for connection in self.all() {
            connection.end(Ending::AtOnce);
        }
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.len() == 0 {
                return;
            }
            changed.await;
        }
    }
}

/// A socket that is open.
#[derive(Debug)]
pub struct Socket(Arc<Registry>);

impl Drop for Socket {
    fn drop(&mut self) {
        self.0.sockets.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> Arc<User> {
        Arc::new(User {
            name: name.to_owned(),
            groups: Vec::new(),
        })
    }

    fn registry() -> Registry {
        let limits = Limits {
            connections: 3,
            connections_per_user: 2,
        };
        Registry::new("here".parse().unwrap(), limits)
    }

    #[test]
    fn what_is_somebody_elses_is_not_there() {
        let registry = registry();
        let (ann, bob) = (user("ann"), user("bob"));
        let connection = registry.begin(&ann, false).unwrap();
        assert!(connection.id.starts_with("here.") && connection.id.len() == 5 + 32);
        assert!(registry.find(&connection.id, &ann).is_some());
        assert!(registry.find(&connection.id, &bob).is_none());
        registry.remove(&connection);
        assert!(registry.find(&connection.id, &ann).is_none());
    }

    #[test]
    fn nobody_has_more_connections_than_there_may_be() {
        let registry = registry();
        let (ann, bob) = (user("ann"), user("bob"));
        let first = registry.begin(&ann, false).unwrap();
        let _second = registry.begin(&ann, true).unwrap();
        assert_eq!(registry.begin(&ann, false).unwrap_err(), NoRoom::OfUser);
        let _third = registry.begin(&bob, false).unwrap();
        assert_eq!(registry.begin(&bob, false).unwrap_err(), NoRoom::OfAll);
        registry.remove(&first);
        registry.remove(&first);
        registry.begin(&ann, false).unwrap();
        assert_eq!(registry.begin(&bob, false).unwrap_err(), NoRoom::OfAll);
    }
}
