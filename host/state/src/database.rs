//! The file of a database: found, created, checked, reset.
//!
//! It is created under another name, and complete when it gets its own. So an empty file is a damaged one. It has a
//! rollback journal beside it while values are stored, and locks of the system, which end with their process.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::Builder;

use acp_chain_disk as disk;
use acp_chain_system::files::{self, Identity};

use crate::error::{Fault, StateError, at};

/// How long a request waits for other processes. Each has the database for milliseconds, unless it is stopped.
pub(crate) const WAIT: Duration = Duration::from_secs(5);

/// The mark of our databases in their header: `acps`.
const APPLICATION: i64 = 0x6163_7073;

/// The version of the tables.
const SCHEMA: i64 = 1;

/// What each connection sets. A value that was stored survives a loss of power, and one that was removed is
/// overwritten; neither gets into another folder.
const SETTINGS: &str = "
PRAGMA foreign_keys = ON;
PRAGMA synchronous = EXTRA;
PRAGMA fullfsync = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cell_size_check = ON;
PRAGMA trusted_schema = OFF;
";

/// The tables. Times are in microseconds since 1970. `bytes` is the size of all values of a namespace, and `version`
/// the newest one that it has given; `last` is the newest one of namespaces that were removed.
const TABLES: &str = "
CREATE TABLE namespaces (
    id INTEGER PRIMARY KEY,
    extension TEXT NOT NULL,
    source TEXT NOT NULL,
    user TEXT,
    project TEXT,
    since INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    version INTEGER NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX namespaces_by_owner ON namespaces (extension, source, user, project);
CREATE TABLE entries (
    namespace INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT;
CREATE TABLE versions (last INTEGER NOT NULL) STRICT;
";

/// The stored values of a user. Other processes may have the same open.
#[derive(Debug)]
pub struct Database {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
    file: Option<Identity>,
}

impl Database {
    /// Opens the database at an absolute path. If there is none, it is created, with its folder.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        if let Some(database) = Self::find(path)? {
            return Ok(database);
        }
        create(path)?;
        let found = Self::find(path)?;
        found.ok_or_else(|| at(path)(io::ErrorKind::NotFound.into()))
    }

    /// An empty database that ends with this value. Its versions begin at 1.
    pub(crate) fn in_memory() -> Result<Self, StateError> {
        let path = PathBuf::from(":memory:");
        let connection = Connection::open_in_memory().map_err(Fault::from);
        let connection = connection.and_then(|connection| {
            fill(&connection, 0)?;
            Ok(connection)
        });
        Ok(Self {
            connection: connection.map_err(|fault| fault.at(&path))?,
            path,
            file: None,
        })
    }

    /// Opens the database at an absolute path, if there is one.
    pub fn find(path: &Path) -> Result<Option<Self>, StateError> {
        // First: a database that another process creates now has no journal before it has its name.
        let has_journal = exists(path, &journal(path))?;
        if exists(path, path)? {
            let folder = path.parent().unwrap_or(path);
            check_owner(folder)?;
            check_owner(path)?;
            // A link may lead into a folder where others replace the file, or its journal.
            let real = files::real(path).map_err(at(path))?;
            check_owner(real.parent().unwrap_or(&real))?;
            let database = Self {
                path: path.to_owned(),
                // First, too: then `is_current` notices if the file is replaced now.
                file: Identity::of(path),
                connection: connect(path).map_err(|fault| fault.at(path))?,
            };
            database.check()?;
            Ok(Some(database))
        } else if has_journal {
            let what = "only its journal is left of it";
            Err(StateError::damaged(path, what))
        } else {
            Ok(None)
        }
    }

    /// Whether a value is being stored in the database at this path, or was when that was interrupted. Then opening it
    /// undoes that.
    #[must_use]
    pub fn is_changing(path: &Path) -> bool {
        journal(path).exists()
    }

    /// Copies the database at an absolute path, if there is one, into a folder, and returns the path there: what is
    /// stored in the copy leaves the database as it is.
    pub fn copy(path: &Path, folder: &Path) -> Result<PathBuf, StateError> {
        let copy = folder.join("state.db");
        if let Some(database) = Self::find(path)? {
            let file = Builder::new()
                .prefix(".unfinished-")
                .make_in(folder, files::create_private);
            let unfinished = file.map_err(at(folder))?.into_temp_path();
            // The engine takes no other paths.
            let name = unfinished.to_str();
            let name = name.ok_or_else(|| at(folder)(io::ErrorKind::InvalidInput.into()))?;
            let copied = database.connection.execute("VACUUM INTO ?1", (name,));
            copied.map_err(|error| Fault::from(error).at(path))?;
            let named = unfinished.persist_noclobber(&copy);
            named.map_err(|failed| at(&copy)(failed.error))?;
        }
        Ok(copy)
    }

    /// Replaces whatever is at this path by an empty database, also while other processes have it open.
    pub fn reset(path: &Path) -> Result<(), StateError> {
        if exists(path, path)? {
            return reset(path).map_err(|fault| fault.at(path));
        }
        let journal = journal(path);
        disk::remove(&journal).map_err(at(&journal))
    }

    /// Whether this is still the file at its path. It is not if somebody has removed it.
    pub(crate) fn is_current(&self) -> bool {
        Identity::of(&self.path) == self.file
    }

    /// Checks whose database it is, and that its pages fit together. It reads the whole file.
    fn check(&self) -> Result<(), StateError> {
        let path = &self.path;
        let [application, schema] = self.numbers().map_err(|fault| fault.at(path))?;
        if application != APPLICATION || schema < 1 {
            let what = "it is not a database of acp-chain";
            return Err(StateError::damaged(path, what));
        }
        if schema > SCHEMA {
            let path = path.clone();
            return Err(StateError::Newer { path });
        }
        let found = self.integrity().map_err(|fault| fault.at(path))?;
        if found == "ok" {
            Ok(())
        } else {
            Err(StateError::damaged(path, &found))
        }
    }

    /// The mark of the application, and the version of the tables.
    fn numbers(&self) -> Result<[i64; 2], Fault> {
        let number = |pragma| {
            let read = |row: &rusqlite::Row<'_>| row.get(0);
            self.connection.pragma_query_value(None, pragma, read)
        };
        Ok([number("application_id")?, number("user_version")?])
    }

    fn integrity(&self) -> Result<String, Fault> {
        let check = "PRAGMA integrity_check(1)";
        Ok(self.connection.query_row(check, (), |row| row.get(0))?)
    }
}

/// The time in microseconds since 1970: a number that JSON can have everywhere.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    u64::try_from(micros).unwrap_or_default()
}

/// The journal beside a database, by the engine's rule.
fn journal(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-journal");
    name.into()
}

/// Whether the database at `path`, or a file beside it, exists.
fn exists(path: &Path, file: &Path) -> Result<bool, StateError> {
    file.try_exists().map_err(|error| StateError::Unreachable {
        path: path.to_owned(),
        error,
    })
}

fn check_owner(path: &Path) -> Result<(), StateError> {
    files::check_owner(path).map_err(|exposed| StateError::Exposed(exposed.to_string()))
}

/// Connects to an existing file, whatever is in it.
fn connect_to_any(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(WAIT)?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let connection = connect_to_any(path)?;
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// Creates an empty database. If another process is faster, its database stays.
fn create(path: &Path) -> Result<(), StateError> {
    let folder = path.parent().unwrap_or(path);
    files::make_private(folder).map_err(at(folder))?;
    check_owner(folder)?;
    let file = Builder::new()
        .prefix(".unfinished-")
        .make_in(folder, files::create_private);
    // Closed before it has its name: closing a file ends all locks that our process has on it.
    let unfinished = file.map_err(at(folder))?.into_temp_path();
    let filled = connect(&unfinished).and_then(|connection| fill(&connection, now()));
    filled.map_err(|fault| fault.at(path))?;
    match unfinished.persist_noclobber(path) {
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map_err(|failed| at(path)(failed.error)),
    }
}

/// Makes the tables in an empty file, all or none. Versions begin after the last one: for files, at the time, so that
/// they are larger than those of a database that was here before.
fn fill(connection: &Connection, last: u64) -> Result<(), Fault> {
    // Outside of the transaction, where it would have no effect: space of removed values is given back.
    connection.execute_batch("PRAGMA auto_vacuum = FULL; BEGIN IMMEDIATE")?;
    connection.execute_batch(TABLES)?;
    connection.execute("INSERT INTO versions VALUES (?1)", (last,))?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", SCHEMA)?;
    connection.execute_batch("COMMIT")?;
    Ok(())
}

/// Replaces the content of a file by an empty database, under the locks of the engine, and without reading it.
fn reset(path: &Path) -> Result<(), Fault> {
    let connection = connect_to_any(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
    connection.execute_batch(SETTINGS)?;
    connection.execute_batch("PRAGMA auto_vacuum = FULL; VACUUM")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    fill(&connection, now())
}
