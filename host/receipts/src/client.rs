//! The host's side: hands records over to the process that has the log, and waits for it.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use acp_chain_rpc::Mutex;
use acp_chain_rpc::json_lines::{self, read_line};

use crate::keys::DigestKey;
use crate::service::{Reply, SYNC, Start};

/// The longest reply, in bytes.
const REPLY: usize = 64 << 10;

/// The connection to the process that has the log. The process ends when this is dropped.
pub struct Client {
    records: Box<dyn Write + Send>,
    replies: Box<dyn BufRead + Send>,
    digests: DigestKey,
    last: LastCheckpoint,
}

/// The last checkpoint that the process has signed, as the line that is printed.
#[derive(Clone, Debug, Default)]
pub struct LastCheckpoint(Arc<Mutex<Option<String>>>);

impl LastCheckpoint {
    /// The line, if there is one.
    pub fn line(&self) -> Option<String> {
        self.0.lock().clone()
    }

    fn set(&self, line: String) {
        *self.0.lock() = Some(line);
    }
}

impl Client {
    /// Lets the process that reads `records` and writes `replies` open its log, and waits until it has.
    ///
    /// # Errors
    /// If the log cannot be opened, or the process has ended.
    pub fn start(
        mut records: impl Write + Send + 'static,
        mut replies: impl BufRead + Send + 'static,
        start: &Start,
    ) -> io::Result<Self> {
        json_lines::send(&mut records, start)?;
        let Reply::Open { digests } = read(&mut replies)? else {
            return Err(malformed());
        };
        Ok(Self {
            records: Box::new(records),
            replies: Box::new(replies),
            digests: DigestKey::parse(&digests).ok_or_else(malformed)?,
            last: LastCheckpoint::default(),
        })
    }

    /// The last checkpoint, as it changes.
    pub fn last(&self) -> LastCheckpoint {
        self.last.clone()
    }

    pub(crate) fn digests(&self) -> &DigestKey {
        &self.digests
    }

    /// Hands over the line of a record.
    pub(crate) fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.records.write_all(line).map_err(|error| ended(&error))
    }

    /// Waits until all records are on disk, and a checkpoint covers them.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.send(SYNC)?;
        self.records.flush()?;
        match read(&mut *self.replies)? {
            Reply::Synced { checkpoint } => {
                self.last.set(checkpoint);
                Ok(())
            }
            _ => Err(malformed()),
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Reads a reply. One that says what has failed is an error.
fn read(mut replies: &mut dyn BufRead) -> io::Result<Reply> {
    let line = read_line(&mut replies, REPLY)?;
    if line.is_empty() {
        return Err(ended(&io::ErrorKind::UnexpectedEof.into()));
    }
    match serde_json::from_slice(&line) {
        Ok(Reply::Failed { why }) => Err(io::Error::other(why)),
        Ok(reply) => Ok(reply),
        Err(_) => Err(malformed()),
    }
}

fn ended(error: &io::Error) -> io::Error {
    let why = "the process that writes them has ended; its log may say why";
    io::Error::new(error.kind(), why)
}

fn malformed() -> io::Error {
    io::Error::other("the process that writes them does not answer as it should")
}
