//! What there is, and removing it.

use std::path::PathBuf;
use std::time::SystemTime;

use rusqlite::{Connection, Row, TransactionBehavior};

use crate::database::Database;
use crate::error::{Fault, StateError};
use crate::limits::LimitError;
use crate::namespace::{Namespace, folder};
use crate::values::time;

/// The values of one namespace together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Whose values they are.
    pub namespace: Namespace,
    /// How many there are. The proxy may have removed all.
    pub count: u64,
    /// Their size, by which they are limited.
    pub bytes: u64,
    /// When the first value was stored.
    pub since: SystemTime,
    /// When a value was last stored or removed.
    pub changed: SystemTime,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of namespaces.
    pub namespaces: u64,
    /// The number of different users of a server whose they are.
    pub users: u64,
    /// The number of values.
    pub values: u64,
    /// Their size, by which they are limited.
    pub bytes: u64,
}

/// The values of an extension under a key: those of a user of a server, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection<'s> {
    /// The name of the extension.
    pub extension: &'s str,
    /// The key.
    pub key: &'s str,
    /// The user.
    pub user: Option<&'s str>,
    /// The longest value, in bytes. Those that are longer are left out.
    pub longest: u64,
}

/// A selected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Whose it is.
    pub namespace: Namespace,
    /// The value.
    pub value: String,
    /// When a value of the namespace was last stored or removed.
    pub changed: SystemTime,
}

/// Some of the selected values, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// At most [`PAGE`].
    pub values: Vec<Selected>,
    /// Where the next ones begin; `None` if there are no more.
    pub next: Option<String>,
}

/// A value with its key, as it is stored.
#[cfg(feature = "replicas")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub key: String,
    pub value: String,
    pub version: u64,
}

/// How much is listed at once: what is in memory does not grow with what there is.
pub const PAGE: usize = 256;

/// Namespaces that have all of these properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The name of the extension.
    pub extension: Option<String>,
    /// The user of a server.
    pub user: Option<String>,
    /// The folder of the project.
    pub project: Option<PathBuf>,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of namespaces.
    pub namespaces: u64,
    /// The number of values.
    pub values: u64,
}

impl Filter {
    /// The parameters of [`LIST`], [`COUNT`] and [`REMOVE`].
    fn columns(&self) -> Result<[Option<&str>; 3], LimitError> {
        let project = self.project.as_deref().map(folder).transpose()?;
        Ok([self.extension.as_deref(), project, self.user.as_deref()])
    }
}

impl Database {
    /// All namespaces, sorted.
    pub fn namespaces(&self) -> Result<Vec<Summary>, StateError> {
        self.chosen(&Filter::default())
    }

    /// The namespaces that have all of these properties, sorted.
    pub fn chosen(&self, filter: &Filter) -> Result<Vec<Summary>, StateError> {
        chosen(&self.connection, filter).map_err(|fault| fault.at(&self.path))
    }

    /// Counts what there is for users of a server.
    pub fn of_users(&self) -> Result<Totals, StateError> {
        let counted = self.connection.query_row(OF_USERS, (), totals);
        counted.map_err(|error| Fault::from(error).at(&self.path))
    }

    /// Counts namespaces, those of a user of a server or all, and what they have.
    pub(crate) fn count(&self, user: Option<&str>) -> Result<Totals, StateError> {
        let counted = self.connection.query_row(TOTALS, (user,), totals);
        counted.map_err(|error| Fault::from(error).at(&self.path))
    }

    /// Some namespaces, of a user of a server or of all.
    pub(crate) fn first(&self, user: Option<&str>) -> Result<Vec<Summary>, StateError> {
        first(&self.connection, user).map_err(|fault| fault.at(&self.path))
    }

    /// Some of the selected values, behind those of an earlier page.
    pub(crate) fn page(&self, selection: &Selection<'_>, after: &str) -> Result<Page, StateError> {
        page(&self.connection, selection, after).map_err(|fault| fault.at(&self.path))
    }

    /// The values of a namespace, which are bounded.
    #[cfg(feature = "replicas")]
    pub(crate) fn values(&self, namespace: &Namespace) -> Result<Vec<Stored>, StateError> {
        values(&self.connection, namespace).map_err(|fault| fault.at(&self.path))
    }

    /// Removes a namespace, unless it has values.
    #[cfg(feature = "replicas")]
    pub(crate) fn forget(&mut self, namespace: &Namespace) -> Result<(), StateError> {
        forget(&mut self.connection, namespace).map_err(|fault| fault.at(&self.path))
    }

    /// Removes namespaces with their values.
    pub fn wipe(&mut self, filter: &Filter) -> Result<Removed, StateError> {
        wipe(&mut self.connection, filter).map_err(|fault| fault.at(&self.path))
    }
}

const LIST: &str = "
SELECT extension, source, user, project, count, bytes, since, changed FROM namespaces
WHERE extension = IFNULL(?1, extension) AND (?2 IS NULL OR project = ?2) AND (?3 IS NULL OR user = ?3)
ORDER BY extension, source, user, project
";

const FIRST: &str = "
SELECT extension, source, user, project, count, bytes, since, changed FROM namespaces
WHERE ?1 IS NULL OR user = ?1 ORDER BY extension, source, user, project LIMIT ?2
";

const TOTALS: &str = "
SELECT COUNT(*), COUNT(DISTINCT user), IFNULL(SUM(count), 0), IFNULL(SUM(bytes), 0) FROM namespaces
WHERE ?1 IS NULL OR user = ?1
";

const OF_USERS: &str = "
SELECT COUNT(*), COUNT(DISTINCT user), IFNULL(SUM(count), 0), IFNULL(SUM(bytes), 0) FROM namespaces
WHERE user IS NOT NULL AND count > 0
";

const SELECT: &str = "
SELECT extension, source, user, project, entries.value, changed, namespaces.id
FROM namespaces JOIN entries ON entries.namespace = namespaces.id AND entries.key = ?1
WHERE extension = ?2 AND (?3 IS NULL OR user = ?3) AND LENGTH(CAST(entries.value AS BLOB)) <= ?4
    AND namespaces.id > ?5
ORDER BY namespaces.id LIMIT ?6
";

#[cfg(feature = "replicas")]
const VALUES: &str = "
SELECT key, value, entries.version FROM entries JOIN namespaces ON namespaces.id = entries.namespace
WHERE extension = ?1 AND source = ?2 AND user IS ?3 AND project IS ?4 ORDER BY key
";

#[cfg(feature = "replicas")]
const KEEP_VERSION: &str = "
UPDATE versions SET last = MAX(last, IFNULL((
    SELECT MAX(version) FROM namespaces
    WHERE extension = ?1 AND source = ?2 AND user IS ?3 AND project IS ?4 AND count = 0
), 0))
";

#[cfg(feature = "replicas")]
const FORGET: &str = "
DELETE FROM namespaces WHERE extension = ?1 AND source = ?2 AND user IS ?3 AND project IS ?4 AND count = 0
";

const COUNT: &str = "
SELECT COUNT(*), IFNULL(SUM(count), 0), IFNULL(MAX(version), 0) FROM namespaces
WHERE extension = IFNULL(?1, extension) AND (?2 IS NULL OR project = ?2) AND (?3 IS NULL OR user = ?3)
";

const REMOVE: &str = "
DELETE FROM namespaces
WHERE extension = IFNULL(?1, extension) AND (?2 IS NULL OR project = ?2) AND (?3 IS NULL OR user = ?3)
";

fn chosen(connection: &Connection, filter: &Filter) -> Result<Vec<Summary>, Fault> {
    let mut list = connection.prepare(LIST)?;
    let rows = list.query_map(filter.columns()?, summary)?;
    let summaries: rusqlite::Result<Vec<_>> = rows.collect();
    Ok(summaries?)
}

fn first(connection: &Connection, user: Option<&str>) -> Result<Vec<Summary>, Fault> {
    let mut list = connection.prepare(FIRST)?;
    let rows = list.query_map((user, PAGE as u64), summary)?;
    let summaries: rusqlite::Result<Vec<_>> = rows.collect();
    Ok(summaries?)
}

fn page(connection: &Connection, selection: &Selection<'_>, after: &str) -> Result<Page, Fault> {
    let mut select = connection.prepare(SELECT)?;
    let (key, extension, user) = (selection.key, selection.extension, selection.user);
    // Ids begin at 1.
    let begin: i64 = after.parse().unwrap_or_default();
    let parameters = (key, extension, user, selection.longest, begin, PAGE as u64);
    let rows = select.query_map(parameters, |row| {
        let id: i64 = row.get(6)?;
        let found = Selected {
            namespace: namespace(row)?,
            value: row.get(4)?,
            changed: time(row.get(5)?),
        };
        Ok((id, found))
    })?;
    let mut page = Page::default();
    for row in rows {
        let (id, found) = row?;
        page.next = Some(id.to_string());
        page.values.push(found);
    }
    Ok(page)
}

#[cfg(feature = "replicas")]
fn values(connection: &Connection, namespace: &Namespace) -> Result<Vec<Stored>, Fault> {
    let columns = namespace.columns()?;
    let mut list = connection.prepare(VALUES)?;
    let rows = list.query_map(columns, |row| {
        Ok(Stored {
            key: row.get(0)?,
            value: row.get(1)?,
            version: row.get(2)?,
        })
    })?;
    let stored: rusqlite::Result<Vec<_>> = rows.collect();
    Ok(stored?)
}

#[cfg(feature = "replicas")]
fn forget(connection: &mut Connection, namespace: &Namespace) -> Result<(), Fault> {
    let columns = namespace.columns()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // If it is added again, it gives larger versions.
    transaction.execute(KEEP_VERSION, columns)?;
    transaction.execute(FORGET, columns)?;
    transaction.commit()?;
    Ok(())
}

fn totals(row: &Row<'_>) -> rusqlite::Result<Totals> {
    Ok(Totals {
        namespaces: row.get(0)?,
        users: row.get(1)?,
        values: row.get(2)?,
        bytes: row.get(3)?,
    })
}

/// The namespace in the first columns.
fn namespace(row: &Row<'_>) -> rusqlite::Result<Namespace> {
    let project: Option<String> = row.get(3)?;
    Ok(Namespace {
        extension: row.get(0)?,
        source: row.get(1)?,
        user: row.get(2)?,
        project: project.map(PathBuf::from),
    })
}

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    Ok(Summary {
        namespace: namespace(row)?,
        count: row.get(4)?,
        bytes: row.get(5)?,
        since: time(row.get(6)?),
        changed: time(row.get(7)?),
    })
}

fn wipe(connection: &mut Connection, filter: &Filter) -> Result<Removed, Fault> {
    let columns = filter.columns()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (removed, version) = transaction.query_row(COUNT, columns, |row| {
        let removed = Removed {
            namespaces: row.get(0)?,
            values: row.get(1)?,
        };
        let version: u64 = row.get(2)?;
        Ok((removed, version))
    })?;
    // Namespaces that are added again give larger versions.
    transaction.execute("UPDATE versions SET last = MAX(last, ?1)", (version,))?;
    transaction.execute(REMOVE, columns)?;
    transaction.commit()?;
    Ok(removed)
}
