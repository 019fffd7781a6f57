//! What there is, and removing it.

use std::path::PathBuf;
use std::time::SystemTime;

use rusqlite::{Connection, Row, TransactionBehavior};

use crate::database::Database;
use crate::error::{Fault, StateError};
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

/// Namespaces that have all of these properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The name of the extension.
    pub extension: Option<String>,
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
    /// Whether a namespace has all of the properties.
    #[must_use]
    pub fn matches(&self, namespace: &Namespace) -> bool {
        let extension = self.extension.as_ref();
        extension.is_none_or(|extension| namespace.extension == *extension)
            && (self.project.is_none() || namespace.project == self.project)
    }
}

impl Database {
    /// All namespaces, sorted.
    pub fn namespaces(&self) -> Result<Vec<Summary>, StateError> {
        namespaces(&self.connection).map_err(|fault| fault.at(&self.path))
    }

    /// Removes namespaces with their values.
    pub fn wipe(&mut self, filter: &Filter) -> Result<Removed, StateError> {
        wipe(&mut self.connection, filter).map_err(|fault| fault.at(&self.path))
    }
}

const LIST: &str = "
SELECT extension, source, user, project, count, bytes, since, changed FROM namespaces
ORDER BY extension, source, user, project
";

const COUNT: &str = "
SELECT COUNT(*), IFNULL(SUM(count), 0), IFNULL(MAX(version), 0) FROM namespaces
WHERE extension = IFNULL(?1, extension) AND (?2 IS NULL OR project = ?2)
";

const REMOVE: &str = "
DELETE FROM namespaces
WHERE extension = IFNULL(?1, extension) AND (?2 IS NULL OR project = ?2)
";

fn namespaces(connection: &Connection) -> Result<Vec<Summary>, Fault> {
    let mut list = connection.prepare(LIST)?;
    let rows = list.query_map((), summary)?;
    let summaries: rusqlite::Result<Vec<_>> = rows.collect();
    Ok(summaries?)
}

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let project: Option<String> = row.get(3)?;
    Ok(Summary {
        namespace: Namespace {
            extension: row.get(0)?,
            source: row.get(1)?,
            user: row.get(2)?,
            project: project.map(PathBuf::from),
        },
        count: row.get(4)?,
        bytes: row.get(5)?,
        since: time(row.get(6)?),
        changed: time(row.get(7)?),
    })
}

fn wipe(connection: &mut Connection, filter: &Filter) -> Result<Removed, Fault> {
    let project = filter.project.as_deref().map(folder).transpose()?;
    let columns = [filter.extension.as_deref(), project];
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
