//! The process that has the log. Only it has the key by which checkpoints are signed.
//!
//! It reads lines: a [`Start`], then records, and [`SYNC`] where the host waits until they are on disk. It replies to
//! the first one and to each `SYNC`, with a line of JSON each.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use acp_chain_rpc::json_lines::{read_line, send};
use serde::{Deserialize, Serialize};

use crate::error::LogError;
use crate::log::Log;
use crate::record::LONGEST;

/// The line by which the host waits.
pub(crate) const SYNC: &[u8] = b"sync\n";

/// The longest first line, in bytes.
const START: usize = 64 << 10;

/// How often records are synced that nobody waits for.
const PERIOD: Duration = Duration::from_secs(1);

/// The most records that are appended at once.
const BATCH: usize = 1024;

/// The first line: which log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The folder.
    pub folder: PathBuf,
    /// How long records are kept; `None` for ever.
    pub keep: Option<Duration>,
}

/// A line of the process.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    /// The log is open. Contents get digests with this key.
    Open { digests: String },
    /// All records so far are on disk, and this checkpoint covers them, as the line that is printed.
    Synced { checkpoint: String },
    /// Something has failed, for this reason. Nothing more is written.
    Failed { why: String },
}

/// Why the process ends early.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The host does not speak as it should.
    #[error("the first line does not say which log is meant")]
    Misused,
    /// The log cannot be written. The host was told.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The host cannot be read or answered.
    #[error("the host cannot be reached: {0}")]
    Streams(#[from] io::Error),
}

/// Serves a host until its stream ends.
///
/// # Errors
/// If the log cannot be written, or the streams cannot be used.
pub fn serve(input: impl Read, mut replies: impl Write) -> Result<(), ServiceError> {
    let mut records = BufReader::new(input);
    let first = read_line(&mut records, START)?;
    let start: Start = serde_json::from_slice(&first).map_err(|_| ServiceError::Misused)?;
    let opened = Log::open(&start.folder, start.keep);
    let mut service = Service {
        log: told(opened, &mut replies)?,
        synced: Instant::now(),
        is_awaited: false,
        replies,
    };
    let digests = service.log.digests().text();
    send(&mut service.replies, &Reply::Open { digests })?;
    let served = service.take(&mut records);
    if let Err(ServiceError::Log(error)) = &served {
        // The host learns of it when it waits.
        let why = error.of_writing();
        tracing::error!("receipts cannot be written: {why}");
        if !service.is_awaited {
            until_sync(&mut records)?;
        }
        send(&mut service.replies, &Reply::Failed { why })?;
    }
    served
}

struct Service<W> {
    log: Log,
    synced: Instant,
    /// Whether the host waits for a reply.
    is_awaited: bool,
    replies: W,
}

impl<W: Write> Service<W> {
    /// Takes lines until there are no more.
    fn take(&mut self, lines: &mut BufReader<impl Read>) -> Result<(), ServiceError> {
        let mut batch = Vec::new();
        loop {
            let read = line(lines)?;
            let is_sync = read.as_deref() == Some(SYNC.trim_ascii_end());
            let is_over = read.is_none();
            self.is_awaited = is_sync;
            batch.extend(read.filter(|_| !is_sync));
            // What has arrived already is appended at once.
            let is_more = lines.buffer().contains(&b'\n') && batch.len() < BATCH;
            if is_more && !is_sync && !is_over {
                continue;
            }
            self.log.append(&batch)?;
            batch.clear();
            if is_sync || is_over || self.synced.elapsed() >= PERIOD {
                let checkpoint = self.log.sync()?.to_string();
                self.synced = Instant::now();
                if is_sync {
                    send(&mut self.replies, &Reply::Synced { checkpoint })?;
                }
            }
            if is_over {
                return Ok(());
            }
        }
    }
}

/// The next line, without its end; `None` at the end of the stream, also if the host was killed while it wrote.
fn line(lines: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = read_line(lines, LONGEST + 1)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Some(line));
    }
    if line.len() > LONGEST {
        return Err(io::Error::other("a line is too long"));
    }
    Ok(None)
}

/// Passes over records that cannot be written, until the host waits.
fn until_sync(lines: &mut impl BufRead) -> io::Result<()> {
    while let Some(line) = line(lines)? {
        if line == SYNC.trim_ascii_end() {
            break;
        }
    }
    Ok(())
}

/// A result of which the host is told if it is an error.
fn told<T>(result: Result<T, LogError>, replies: &mut impl Write) -> Result<T, ServiceError> {
    if let Err(error) = &result {
        let why = error.of_writing();
        send(replies, &Reply::Failed { why })?;
    }
    Ok(result?)
}
