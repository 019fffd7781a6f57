//! opencode: `~/.local/share/opencode/opencode.db`, a database of `SQLite` with a row for each part of a message.
//!
//! It is opened for reading, as opencode may have it open. If it does not, nothing is written beside the database,
//! either. Nothing in its schema is trusted: what is read has to be plain tables.
//!
//! Before version 1.2, sessions, messages and their parts were files: `storage/session/PROJECT/SESSION.json`,
//! `storage/message/SESSION/MESSAGE.json` and `storage/part/MESSAGE/PART.json`, with the same members. Those of a
//! session are put into a database in memory, so that all are read in one way.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use acp_chain_hooks::{self as hooks, recorded};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::{SeenIds, whole_call};
use super::{text_of, whole};
use crate::event::Event;
use crate::format::ends;
use crate::lines::LONGEST;
use crate::tokens::{Tokens, count, millionths};

const SETTINGS: &str = "
PRAGMA query_only = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;
";

/// How many of the tables that are read there are.
const TABLES: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'
    AND name IN ('session', 'message', 'part') AND sql LIKE 'CREATE TABLE%'";

/// The endings of the files beside a database that is open, or was not closed.
const UNFINISHED: [&str; 2] = ["-wal", "-journal"];

const SESSIONS: &str = "SELECT id, directory, parent_id IS NOT NULL FROM session
    WHERE octet_length(id) < 1024 AND octet_length(directory) < 4096 ORDER BY time_created, id LIMIT 100000";

const PARTS: &str =
    "SELECT rowid FROM part WHERE session_id = ?1 ORDER BY message_id, id LIMIT 10000000";

const PART: &str = "SELECT message.id, message.data, part.data FROM part
    JOIN message ON message.id = part.message_id WHERE part.rowid = ?1
    AND octet_length(message.id) < 1024 AND octet_length(message.data) <= ?2 AND octet_length(part.data) <= ?2";

/// The tables for the files of a session.
const MADE: &str = "
CREATE TABLE session (id, directory, parent_id, time_created);
CREATE TABLE message (id, session_id, data);
CREATE TABLE part (id, message_id, session_id, data);
CREATE INDEX messages ON message (id);
";

/// How much of the files of a session is kept, in bytes. Further ones count as too long.
const MOST_KEPT: u64 = 256 << 20;

/// A database.
pub(crate) struct Database(Connection);

/// A session in it.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) directory: String,
    /// Whether it is a subagent's.
    pub(crate) is_inner: bool,
}

/// A part of a message, with the message: JSON texts.
pub(crate) struct Row {
    message_id: String,
    message: String,
    part: String,
}

/// The file of a session.
#[derive(Deserialize)]
struct SessionFile {
    directory: String,
    #[serde(rename = "parentID")]
    parent: Option<String>,
}

/// Reads the parts of messages.
#[derive(Default)]
pub(crate) struct Opencode {
    /// The messages whose usage was counted.
    counted: SeenIds,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    role: String,
    #[serde(rename = "modelID")]
    model: Option<String>,
    cost: Option<f64>,
    tokens: Option<Usage>,
}

/// Tokens of the cache are not among those of the input.
#[serde_with::apply(u64 => #[serde(default, deserialize_with = "count")])]
#[derive(Deserialize)]
struct Usage {
    total: u64,
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Option<Cache>,
}

#[serde_with::apply(u64 => #[serde(default, deserialize_with = "count")])]
#[derive(Deserialize)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'p> {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    #[serde(default)]
    synthetic: bool,
    tool: Option<String>,
    #[serde(rename = "callID")]
    call_id: Option<String>,
    #[serde(borrow)]
    state: Option<State<'p>>,
}

/// The state of a call.
#[derive(Deserialize)]
struct State<'s> {
    #[serde(default)]
    status: String,
    #[serde(borrow)]
    input: Option<&'s RawValue>,
    output: Option<String>,
    error: Option<String>,
}

impl Database {
    /// Opens the database at a path; `None` if it is not one of opencode's.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Option<Self>> {
        if ends(path, "json") {
            return Self::of_files(path);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if is_unfinished(path) {
            Connection::open_with_flags(path, flags)?
        } else {
            Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?
        };
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.execute_batch(SETTINGS)?;
        let tables: i64 = connection.query_row(TABLES, [], |row| row.get(0))?;
        Ok((tables == 3).then_some(Self(connection)))
    }

    /// Of the session in this file; `None` if that is none.
    fn of_files(path: &Path) -> rusqlite::Result<Option<Self>> {
        let mut room = MOST_KEPT;
        let about = text(path, &mut room);
        let read = about.and_then(|json| serde_json::from_str::<SessionFile>(&json).ok());
        let (Some(session), Some(id), Some(storage)) = (read, stem(path), path.ancestors().nth(3))
        else {
            return Ok(None);
        };
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(MADE)?;
        let values = (&id, session.directory, session.parent);
        connection.execute("INSERT INTO session VALUES (?1, ?2, ?3, 0)", values)?;
        {
            let mut message = connection.prepare("INSERT INTO message VALUES (?1, ?2, ?3)")?;
            let mut part = connection.prepare("INSERT INTO part VALUES (?1, ?2, ?3, ?4)")?;
            for (name, file) in files(&storage.join("message").join(&id)) {
                message.execute((&name, &id, text(&file, &mut room)))?;
                for (of, file) in files(&storage.join("part").join(&name)) {
                    part.execute((of, &name, &id, text(&file, &mut room)))?;
                }
            }
        }
        connection.execute_batch(SETTINGS)?;
        Ok(Some(Self(connection)))
    }

    /// The sessions, the oldest first.
    pub(crate) fn sessions(&self) -> rusqlite::Result<Vec<Session>> {
        let mut statement = self.0.prepare(SESSIONS)?;
        let sessions = statement.query_map([], |row| {
            Ok(Session {
                id: row.get(0)?,
                directory: row.get(1)?,
                is_inner: row.get(2)?,
            })
        })?;
        sessions.collect()
    }

    /// The numbers of the parts of a session, in their order.
    pub(crate) fn parts(&self, session: &Session) -> rusqlite::Result<Vec<i64>> {
        let mut statement = self.0.prepare(PARTS)?;
        let parts = statement.query_map([&session.id], |row| row.get(0))?;
        parts.collect()
    }

    /// The part with this number; `None` if it is too long.
    pub(crate) fn part(&self, number: i64) -> rusqlite::Result<Option<Row>> {
        let longest = i64::try_from(LONGEST).unwrap_or(i64::MAX);
        let row = self.0.query_row(PART, [number, longest], |row| {
            Ok(Row {
                message_id: row.get(0)?,
                message: row.get(1)?,
                part: row.get(2)?,
            })
        });
        row.optional()
    }
}

/// The name of a file without its ending, if it is text.
fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}

/// The files of JSON in a folder, with their names without endings, in the order of these. Links are passed over.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let paths = plain
        .map(|entry| entry.path())
        .filter(|path| ends(path, "json"));
    let mut named: Vec<_> = paths
        .filter_map(|path| Some((stem(&path)?, path)))
        .collect();
    named.sort();
    named
}

/// The text of a file, which takes from the room; `None` if it is too long for that, or cannot be read.
fn text(path: &Path, room: &mut u64) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    *room = room.checked_sub(about.len()).filter(|_| about.is_file())?;
    // The file may grow meanwhile.
    let mut file = File::open(path).ok()?.take(about.len());
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_unfinished(path: &Path) -> bool {
    let beside = UNFINISHED.map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name
    });
    beside.iter().any(|name| Path::new(name).exists())
}

/// The address of a database that does not change. `SQLite` would else create the files that share it with others, and
/// leave them.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() {
            address.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address + "?immutable=1"
}

impl Row {
    /// Its size, in bytes.
    pub(crate) fn size(&self) -> u64 {
        (self.message.len() + self.part.len()) as u64
    }
}

impl Opencode {
    /// Appends the events of a part of a session.
    ///
    /// # Errors
    /// If it is not JSON, or has another form than opencode writes.
    pub(crate) fn read(
        &mut self,
        session: &Session,
        row: &Row,
        events: &mut Vec<Event>,
    ) -> serde_json::Result<()> {
        let [message, part] = [&row.message, &row.part].map(|json| whole(json.as_bytes()));
        let message: Message = serde_json::from_slice(&message)?;
        let part: Part = serde_json::from_slice(&part)?;
        if self.counted.is_new(&row.message_id) {
            used(&message, events);
        }
        match (&*part.kind, part.text, part.tool) {
            ("text", Some(text), _) => {
                let is_prompt = message.role == "user" && !session.is_inner && !part.synthetic;
                events.extend(is_prompt.then(|| Event::Prompt(vec![text])));
            }
            ("tool", _, Some(tool)) => {
                let Some(state) = part.state else {
                    return Ok(());
                };
                let begun = hooks::Event {
                    call: part.call_id,
                    cwd: Some(session.directory.clone()),
                    ..recorded("opencode", &tool, text_of(state.input))
                };
                let failed = state.status == "error";
                if failed || state.status == "completed" {
                    let output = state.output.into_iter().chain(state.error).collect();
                    events.extend(whole_call(begun, output, failed));
                } else {
                    events.push(Event::tool(begun));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// What the model has used for a message.
fn used(message: &Message, events: &mut Vec<Event>) {
    if let Some(used) = &message.tokens {
        events.push(Event::Used {
            model: message.model.clone().unwrap_or_default(),
            tokens: Tokens::from(used),
        });
    }
    let amount = message.cost.map(millionths).filter(|amount| *amount > 0);
    events.extend(amount.map(|amount| Event::Cost {
        currency: "USD".to_owned(),
        amount,
    }));
}

impl From<&Usage> for Tokens {
    fn from(used: &Usage) -> Self {
        let cache = used.cache.as_ref();
        let [read, write] = cache.map_or([0, 0], |cache| [cache.read, cache.write]);
        let parts = [used.input, used.output, read, write];
        let others = parts.into_iter().fold(0, u64::saturating_add);
        // Of some providers, thoughts are in the output.
        let beside = used.total.saturating_sub(others);
        Self {
            input: used.input,
            output: used.output.saturating_add(used.reasoning.min(beside)),
            cached_read: read,
            cached_write: write,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn no_more_of_a_file_is_read_than_its_size_was() {
        // It has more than the system says.
        let path = Path::new("/proc/self/status");
        assert!(!fs::read(path).unwrap().is_empty());
        let mut room = 1;
        assert_eq!(text(path, &mut room).as_deref(), Some(""));
        assert_eq!(room, 1);
    }
}
