//! The store in a file of this machine: `SQLite`. Several servers of one machine may have the same open.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

use super::{Cell, Dialect, Engine, Row, Store, Unusable, Value, ValueStore};
use crate::call::{Answer, Call};
use crate::limits::check_values;
use crate::migrations::{MIGRATIONS, NEEDED, VERSION, VERSIONS};
use crate::rules::{Rules, Step};
use crate::values::{ValueAnswer, ValueCall};

/// How long a call waits for other processes.
const WAIT: Duration = Duration::from_secs(3);

/// What each connection sets: what was stored survives a loss of power.
const SETTINGS: &str = "
PRAGMA synchronous = EXTRA;
PRAGMA fullfsync = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cell_size_check = ON;
PRAGMA trusted_schema = OFF;
";

/// The counter. `PostgreSQL` has a sequence.
const NUMBERS: &str = "CREATE TABLE acp_chain_numbers (last INTEGER NOT NULL) STRICT; INSERT INTO acp_chain_numbers VALUES (0)";

/// A store in a file.
#[derive(Debug)]
pub struct Embedded {
    path: PathBuf,
    connection: Connection,
}

impl Embedded {
    /// Opens the store at an absolute path. If there is none, it is created, with its folder; an older one is brought
    /// up to date.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        let at = |error: &dyn Display| about(path, error);
        let folder = path.parent().unwrap_or(path);
        files::make_private(folder).map_err(|error| at(&error))?;
        files::check_owner(folder).map_err(|error| at(&error))?;
        // Created for its owner alone, which the engine would not do.
        let created = files::append_private(path);
        drop(created.map_err(|error| at(&error))?);
        files::check_owner(path).map_err(|error| at(&error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags);
        let connection = connection.and_then(|connection| {
            connection.busy_timeout(WAIT)?;
            connection.execute_batch(SETTINGS)?;
            Ok(connection)
        });
        let store = Self {
            path: path.to_owned(),
            connection: connection.map_err(|error| at(&error))?,
        };
        store.migrate()?;
        Ok(store)
    }

    /// Carries out the migrations that it lacks, all or none.
    fn migrate(&self) -> Result<(), Unusable> {
        let read = |statement: &str| {
            let statement = statement.replace("BIGINT", "INTEGER");
            let statement = statement.replace("{numbers}", NUMBERS);
            statement.replace("{strict}", " STRICT")
        };
        self.batch("BEGIN IMMEDIATE")?;
        let migrated = || -> Result<(), Unusable> {
            self.batch(&read(VERSIONS))?;
            let version = self.query(VERSION, &[])?;
            let version = version.first().map_or(Ok(0), |row| row.number(0))?;
            if version > NEEDED {
                return Err(about(
                    &self.path,
                    &"it is of a newer acp-chain; use that one",
                ));
            }
            let lacking = MIGRATIONS
                .iter()
                .skip(usize::try_from(version).unwrap_or(usize::MAX));
            for migration in lacking {
                self.batch(&read(migration))?;
            }
            self.batch(&format!("UPDATE acp_chain_schema SET version = {NEEDED}"))
        };
        self.finish(migrated())
    }

    /// Carries out a step within a transaction.
    async fn run<S: Step>(&mut self, step: &S) -> Result<S::Answer, Unusable> {
        if !fs::exists(&self.path).unwrap_or_default() {
            return Err(about(&self.path, &"it was removed; restart acp-chain"));
        }
        self.batch("BEGIN IMMEDIATE")?;
        let done = step.carry_out(&mut Rules(&mut *self)).await;
        self.finish(done)
    }

    /// Ends a transaction: what it has changed stays if it succeeded.
    fn finish<T>(&self, done: Result<T, Unusable>) -> Result<T, Unusable> {
        let ended = match &done {
            Ok(_) => self.batch("COMMIT"),
            Err(_) => Ok(()),
        };
        if done.is_err() || ended.is_err() {
            // The error says more than one about this.
            let _ = self.batch("ROLLBACK");
        }
        ended.and(done)
    }

    fn batch(&self, statements: &str) -> Result<(), Unusable> {
        let ran = self.connection.execute_batch(statements);
        ran.map_err(|error| self.failed(&error))
    }

    fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Unusable> {
        let statement = statement.replace('$', "?");
        let queried = || -> rusqlite::Result<Vec<Row>> {
            let mut prepared = self.connection.prepare(&statement)?;
            let columns = prepared.column_count();
            let mut found = prepared.query(params_from_iter(values))?;
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                let cells = (0..columns).map(|at| row.get_ref(at).map(cell));
                rows.push(Row(cells.collect::<rusqlite::Result<_>>()?));
            }
            Ok(rows)
        };
        queried().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &rusqlite::Error) -> Unusable {
        let next = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program has locked it; end that, or retry"
            }
            Some(ErrorCode::DiskFull) => "the disk is full; free some space",
            Some(ErrorCode::ReadOnly) => "it is read-only; make it and its folder writable",
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                "it is damaged; restore it from a backup, or remove it, which forgets who owns which session"
            }
            _ => return about(&self.path, error),
        };
        about(&self.path, &next)
    }
}

/// An error about the file at a path.
fn about(path: &Path, error: &dyn Display) -> Unusable {
    Unusable(format!("{}: {error}", Untrusted::new(path.display())))
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Cell::Nothing,
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Number(number) => ValueRef::Integer(*number),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl Engine for Embedded {
    const DIALECT: Dialect = Dialect {
        now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
        next: "UPDATE acp_chain_numbers SET last = last + 1 RETURNING last",
        last: "SELECT n.last, '', o.history FROM acp_chain_numbers n, acp_chain_origin o",
        raise: "UPDATE acp_chain_numbers SET last = MAX(last, $1) RETURNING last",
        lock: None,
        keeps_row: "",
        keeps_lease: "",
    };

    async fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Unusable> {
        self.query(statement, values)
    }
}

impl Store for Embedded {
    async fn carry_out(&mut self, call: &Call) -> Result<Answer, Unusable> {
        self.run(call).await
    }
}

impl ValueStore for Embedded {
    async fn values(&mut self, call: &ValueCall) -> Result<ValueAnswer, Unusable> {
        check_values(call).map_err(|limit| Unusable(limit.to_string()))?;
        self.run(call).await
    }
}
