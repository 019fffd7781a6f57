//! Loading and storing a value.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use acp_chain_channel::limits::{
    STORED_BYTES, STORED_FOR, STORED_FOR_USER, STORED_IN_ALL, STORED_OF_USER, STORED_VALUES,
};

use crate::database::{Database, now};
use crate::error::{Fault, StateError};
use crate::limits::{LimitError, check};
use crate::namespace::Namespace;
use crate::protocol::{Loaded, StoreOutcome};

/// What a value counts beside its text and its key, in bytes: about what its row takes.
const ROW: u64 = 64;

const LOAD: &str = "
SELECT entries.value, entries.version, namespaces.since
FROM namespaces LEFT JOIN entries ON entries.namespace = namespaces.id AND entries.key = ?5
WHERE extension = ?1 AND source = ?2 AND user IS ?3 AND project IS ?4
";

const FIND: &str = "
SELECT id, version, count, bytes FROM namespaces
WHERE extension = ?1 AND source = ?2 AND user IS ?3 AND project IS ?4
";

const ADD: &str = "
INSERT INTO namespaces (extension, source, user, project, since, changed, version, count, bytes)
SELECT ?1, ?2, ?3, ?4, ?5, ?5, last, 0, 0 FROM versions
";

const LAST: &str = "SELECT last FROM versions";

const NAMESPACES: &str = "SELECT COUNT(*) FROM namespaces";

const ALL_BYTES: &str = "SELECT IFNULL(SUM(bytes), 0) FROM namespaces";

/// Namespaces that are added again give larger versions.
const OUTLIVE: &str = "
UPDATE versions SET last = MAX(last, IFNULL(
    (SELECT MAX(version) FROM namespaces WHERE count = 0 AND (?1 IS NULL OR user = ?1)), 0))
";

const FORGET: &str = "DELETE FROM namespaces WHERE count = 0 AND (?1 IS NULL OR user = ?1)";

const OF_USER: &str = "SELECT COUNT(*), IFNULL(SUM(bytes), 0) FROM namespaces WHERE user = ?1";

const GET: &str = "SELECT value, version FROM entries WHERE namespace = ?1 AND key = ?2";

const REMOVE: &str = "DELETE FROM entries WHERE namespace = ?1 AND key = ?2";

const PUT: &str = "
INSERT INTO entries (namespace, key, value, version) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, version = excluded.version
";

const UPDATE: &str = "
UPDATE namespaces SET changed = ?2, version = ?3, count = ?4, bytes = ?5 WHERE id = ?1
";

impl Database {
    /// Loads the value under a key.
    pub fn load(&self, namespace: &Namespace, key: &str) -> Result<Loaded, StateError> {
        load(&self.connection, namespace, key).map_err(|fault| fault.at(&self.path))
    }

    /// Stores a value, or removes it, if its version is still the given one: 0 if there is none.
    pub fn store(
        &mut self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> Result<StoreOutcome, StateError> {
        let stored = store(&mut self.connection, namespace, key, version, value);
        stored.map_err(|fault| fault.at(&self.path))
    }
}

fn load(connection: &Connection, namespace: &Namespace, key: &str) -> Result<Loaded, Fault> {
    check(namespace, key, None)?;
    let [extension, source, user, project] = namespace.columns()?;
    let columns = [extension, source, user, project, Some(key)];
    let loaded = connection.query_row(LOAD, columns, |row| {
        let version: Option<u64> = row.get(1)?;
        Ok(Loaded {
            value: row.get(0)?,
            version: version.unwrap_or_default(),
            since: Some(time(row.get(2)?)),
        })
    });
    Ok(loaded.optional()?.unwrap_or_default())
}

fn store(
    connection: &mut Connection,
    namespace: &Namespace,
    key: &str,
    version: u64,
    value: Option<&str>,
) -> Result<StoreOutcome, Fault> {
    check(namespace, key, value)?;
    // No other process changes anything until its end; an early return changes nothing.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = Found::find(&transaction, namespace)?;
    let old = match &found {
        Some(found) => found.entry(&transaction, key)?,
        None => None,
    };
    let current = old.as_ref().map_or(0, |old| old.version);
    if current != version {
        let found = load(&transaction, namespace, key)?;
        return Ok(StoreOutcome::Conflict(found));
    }
    let stored = match (value, found, old) {
        (Some(value), found, old) => {
            let found = found.map_or_else(|| Found::add(&transaction, namespace), Ok)?;
            let user = namespace.user.as_deref();
            found.put(&transaction, user, key, value, old.as_ref())?
        }
        (None, Some(found), Some(old)) => {
            found.remove(&transaction, key, &old)?;
            0
        }
        (None, _, _) => 0,
    };
    transaction.commit()?;
    Ok(StoreOutcome::Stored { version: stored })
}

/// How many namespaces a user of a server has, and the size of all their values.
fn holding(connection: &Connection, user: &str) -> Result<(u64, u64), Fault> {
    let held = connection.query_row(OF_USER, (user,), |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(held?)
}

/// Forgets the namespaces that have no values any more, of a user or of all. Until there is no room, they are kept: a
/// proxy that has removed its last value keeps the time since which it has had some. Returns whether there were any.
fn forget_emptied(connection: &Connection, user: Option<&str>) -> Result<bool, Fault> {
    connection.execute(OUTLIVE, (user,))?;
    Ok(connection.execute(FORGET, (user,))? > 0)
}

/// What a value counts.
pub(crate) fn size(key: &str, value: &str) -> u64 {
    ROW + key.len() as u64 + value.len() as u64
}

/// A time of the database.
pub(crate) fn time(micros: u64) -> SystemTime {
    UNIX_EPOCH
        .checked_add(Duration::from_micros(micros))
        .unwrap_or(UNIX_EPOCH)
}

/// A namespace that has values, or had them.
struct Found {
    id: i64,
    /// The newest version that it has given.
    version: u64,
    /// How many values it has.
    count: u64,
    /// The size of its values.
    bytes: u64,
}

struct Entry {
    value: String,
    version: u64,
}

impl Found {
    fn find(connection: &Connection, namespace: &Namespace) -> Result<Option<Self>, Fault> {
        let columns = namespace.columns()?;
        let found = connection.query_row(FIND, columns, |row| {
            Ok(Self {
                id: row.get(0)?,
                version: row.get(1)?,
                count: row.get(2)?,
                bytes: row.get(3)?,
            })
        });
        Ok(found.optional()?)
    }

    fn add(connection: &Connection, namespace: &Namespace) -> Result<Self, Fault> {
        if let Some(user) = namespace.user.as_deref() {
            let (of_user, _) = holding(connection, user)?;
            if of_user >= STORED_FOR_USER && !forget_emptied(connection, Some(user))? {
                return Err(LimitError::NamespacesOfUser.into());
            }
        }
        let namespaces: u64 = connection.query_row(NAMESPACES, (), |row| row.get(0))?;
        if namespaces >= STORED_FOR && !forget_emptied(connection, None)? {
            return Err(LimitError::Namespaces.into());
        }
        let [extension, source, user, project] = namespace.columns()?;
        connection.execute(ADD, (extension, source, user, project, now()))?;
        Ok(Self {
            id: connection.last_insert_rowid(),
            version: connection.query_row(LAST, (), |row| row.get(0))?,
            count: 0,
            bytes: 0,
        })
    }

    fn entry(&self, connection: &Connection, key: &str) -> Result<Option<Entry>, Fault> {
        let entry = connection.query_row(GET, (self.id, key), |row| {
            Ok(Entry {
                value: row.get(0)?,
                version: row.get(1)?,
            })
        });
        Ok(entry.optional()?)
    }

    /// Puts a value, in place of an old one if there is one. Returns its version.
    fn put(
        self,
        connection: &Connection,
        user: Option<&str>,
        key: &str,
        value: &str,
        old: Option<&Entry>,
    ) -> Result<u64, Fault> {
        let freed = old.map_or(0, |old| size(key, &old.value));
        let taken = size(key, value);
        let count = self.count + u64::from(old.is_none());
        let bytes = self.bytes.saturating_sub(freed) + taken;
        if old.is_none() && count > STORED_VALUES {
            return Err(LimitError::Values.into());
        }
        // A value may become shorter in any case.
        if taken > freed {
            if bytes > STORED_BYTES {
                return Err(LimitError::Bytes.into());
            }
            if let Some(user) = user {
                let (_, of_user) = holding(connection, user)?;
                if of_user + (taken - freed) > STORED_OF_USER {
                    return Err(LimitError::AllOfUser.into());
                }
            }
            let all: u64 = connection.query_row(ALL_BYTES, (), |row| row.get(0))?;
            if all + (taken - freed) > STORED_IN_ALL {
                return Err(LimitError::All.into());
            }
        }
        let version = self.version + 1;
        connection.execute(PUT, (self.id, key, value, version))?;
        let updated = Self {
            version,
            count,
            bytes,
            ..self
        };
        updated.update(connection)?;
        Ok(version)
    }

    fn remove(self, connection: &Connection, key: &str, old: &Entry) -> Result<(), Fault> {
        connection.execute(REMOVE, (self.id, key))?;
        let updated = Self {
            count: self.count.saturating_sub(1),
            bytes: self.bytes.saturating_sub(size(key, &old.value)),
            ..self
        };
        updated.update(connection)
    }

    fn update(&self, connection: &Connection) -> Result<(), Fault> {
        let columns = (self.id, now(), self.version, self.count, self.bytes);
        connection.execute(UPDATE, columns)?;
        Ok(())
    }
}
