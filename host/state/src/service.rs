//! The process that has the database.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use acp_chain_rpc::json_lines::{receive, send};
use acp_chain_rpc::worker::{Reply, Request};

use crate::database::Database;
use crate::error::StateError;
use crate::namespace::Namespace;
use crate::protocol::{Answer, Call, LINE};

/// Serves requests until their stream ends. The database at this absolute path is opened for the first one, and again
/// when that failed, or somebody has removed it. `resolve` returns the namespace whose values are meant, or why there
/// are none.
///
/// # Errors
/// If the stream cannot be read or written, or has anything but requests.
pub fn serve(
    mut requests: impl BufRead,
    mut replies: impl Write,
    path: &Path,
    resolve: impl Fn(Namespace) -> Result<Namespace, String>,
) -> io::Result<()> {
    let mut service = Service {
        path: path.to_owned(),
        database: None,
    };
    while let Some(Request { id, call }) = receive(&mut requests, LINE)? {
        let answer = match resolved(call, &resolve) {
            Ok(call) => service.answer(call),
            Err(why) => Answer::Unavailable(why),
        };
        send(&mut replies, &Reply { id, answer })?;
    }
    Ok(())
}

struct Service {
    path: PathBuf,
    database: Option<Database>,
}

impl Service {
    fn answer(&mut self, call: Call) -> Answer {
        match self.database() {
            Ok(database) => answer(database, call),
            Err(error) => failed(error),
        }
    }

    fn database(&mut self) -> Result<&mut Database, StateError> {
        let database = match self.database.take() {
            Some(database) if database.is_current() => database,
            _ => Database::open(&self.path)?,
        };
        Ok(self.database.insert(database))
    }
}

/// The answer to a call, by this database.
pub(crate) fn answer(database: &mut Database, call: Call) -> Answer {
    run(database, call).unwrap_or_else(failed)
}

fn failed(error: StateError) -> Answer {
    match error {
        StateError::Limit(limit) => Answer::Limit(limit),
        error => Answer::Unavailable(error.to_string()),
    }
}

fn run(database: &mut Database, call: Call) -> Result<Answer, StateError> {
    Ok(match call {
        Call::Load { namespace, key } => Answer::Load(database.load(&namespace, &key)?),
        Call::Store {
            namespace,
            key,
            version,
            value,
        } => Answer::Store(database.store(&namespace, &key, version, value.as_deref())?),
    })
}

/// The request about the namespace that is meant.
pub(crate) fn resolved(
    mut call: Call,
    resolve: impl Fn(Namespace) -> Result<Namespace, String>,
) -> Result<Call, String> {
    let (Call::Load { namespace, .. } | Call::Store { namespace, .. }) = &mut call;
    *namespace = resolve(namespace.clone())?;
    Ok(call)
}
