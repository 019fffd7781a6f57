//! One end of a chain in this process: lines go out, and messages come in. Messages read but not yet looked at are
//! bounded; then the chain waits.

use std::sync::Arc;

use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::limits::LINE;
use crate::rpc::{self, Message};
use crate::transport::LineReader;

/// What a stream holds before its writer waits: more than any line.
const PIPE: usize = 2 * LINE;

/// How many messages are read before they are looked at; then the chain waits.
pub const READ: usize = 1024;

/// How much may come at once, in bytes; and how much is read before it is looked at.
const MOST: usize = 256 << 20;

/// What a message is counted in.
const UNIT: usize = 1024;

/// A message that is not looked at yet, and the room that it takes.
type Heard = (Message, OwnedSemaphorePermit);

/// One end, as whoever plays it has it.
pub struct Wire {
    writer: WriteHalf<DuplexStream>,
    lines: mpsc::Receiver<Heard>,
    /// The bytes that were heard since they were last let go.
    held: usize,
}

impl Wire {
    /// An end, and the host's side of its streams. Reads in a task of its own.
    pub fn new() -> (Self, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(ours);
        let (heard, lines) = mpsc::channel(READ);
        tokio::spawn(read(reader, heard));
        let wire = Self {
            writer,
            lines,
            held: 0,
        };
        (wire, theirs)
    }

    /// Says a line, which ends with a line feed. Whether the chain takes it.
    pub async fn say(&mut self, line: &str) -> bool {
        self.writer.write_all(line.as_bytes()).await.is_ok()
    }

    /// The next message that has come, if one has; none when what was heard is too much.
    pub fn hear(&mut self) -> Option<Message> {
        if self.is_full() {
            return None;
        }
        let (message, _) = self.lines.try_recv().ok()?;
        self.held += message.len();
        Some(message)
    }

    /// Whether nothing more is heard before what was is let go.
    pub fn is_full(&self) -> bool {
        self.held >= MOST
    }

    /// What was heard counts no more.
    pub fn let_go(&mut self) {
        self.held = 0;
    }
}

/// Reads until the chain is gone.
async fn read(reader: ReadHalf<DuplexStream>, heard: mpsc::Sender<Heard>) {
    let room = Arc::new(Semaphore::new(MOST / UNIT));
    let mut reader = LineReader::new(reader, 2 * LINE);
    while let Ok(true) = reader.fill().await {
        while let Some(frame) = reader.next_frame() {
            // Whatever the host sends is a message.
            let Ok(message) = rpc::read(frame) else {
                continue;
            };
            // No line takes more than all the room.
            let units = u32::try_from(message.len().div_ceil(UNIT)).unwrap_or(u32::MAX);
            let Ok(taken) = room.clone().acquire_many_owned(units).await else {
                return;
            };
            if heard.send((message, taken)).await.is_err() {
                return;
            }
        }
    }
}
