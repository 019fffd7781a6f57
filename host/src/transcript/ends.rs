//! The two ends of a chain that a transcript plays: what they say, and what they got and nothing has expected yet.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::act::{Kind, Said};
use super::json::{Json, plain};
use crate::limits::LINE;
use crate::rpc::{self, Id, Message};
use crate::transport::LineReader;

/// What a stream holds before its writer waits: more than any line.
const PIPE: usize = 2 * LINE;

/// How many messages are read before they are looked at; then the chain waits.
const READ: usize = 1024;

/// How much may come of one step, in bytes; and how much is read before it is looked at.
const MOST: usize = 256 << 20;

/// What a message is counted in.
const UNIT: usize = 1024;

/// A message that is not looked at yet, and the room that it takes.
type Heard = (Message, OwnedSemaphorePermit);

/// A message that came to an end.
#[derive(Clone, Debug)]
pub struct Came {
    /// What it is. The name of a request is not known yet.
    pub said: Said,
    /// What it says.
    pub body: Json,
    /// The id of a request.
    pub id: Option<Id>,
}

/// One end.
pub struct End {
    writer: WriteHalf<DuplexStream>,
    lines: mpsc::Receiver<Heard>,
    /// The bytes in the inbox.
    held: usize,
    /// The requests that it got, by their names.
    pub got: HashMap<String, Id>,
    /// What it got and nothing has expected yet.
    pub inbox: Vec<Came>,
}

impl End {
    /// An end, and the host's side of its streams. Reads in a task of its own.
    pub fn new() -> (Self, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(ours);
        let (heard, lines) = mpsc::channel(READ);
        tokio::spawn(read(reader, heard));
        let end = Self {
            writer,
            lines,
            held: 0,
            got: HashMap::new(),
            inbox: Vec::new(),
        };
        (end, theirs)
    }

    /// Says a message. Whether the chain takes it.
    pub async fn say(&mut self, head: &str, slot: &str, body: &Json) -> bool {
        let line = format!("{{\"jsonrpc\":\"2.0\",{head},\"{slot}\":{body}}}\n");
        self.writer.write_all(line.as_bytes()).await.is_ok()
    }

    /// Asks something, under the name that the transcript has for it.
    pub async fn ask(&mut self, name: &str, method: &str, params: &Json) -> bool {
        let head = format!("\"id\":{},\"method\":{}", plain(name), plain(method));
        self.say(&head, "params", params).await
    }

    /// Answers a request.
    pub async fn answer(&mut self, id: &Id, slot: &str, body: &Json) -> bool {
        self.say(&format!("\"id\":{}", id.as_str()), slot, body)
            .await
    }

    /// Takes in what has come meanwhile. Whether there may be more; nothing more is taken in when it is too much.
    pub fn hear(&mut self) -> bool {
        let before = self.inbox.len();
        while self.held < MOST
            && let Ok((message, _)) = self.lines.try_recv()
        {
            self.held += message.len();
            let came = self.understand(&message);
            self.inbox.push(came);
        }
        self.held < MOST && self.inbox.len() - before >= READ
    }

    /// All that has come and nothing has expected yet.
    pub fn take(&mut self) -> Vec<Came> {
        self.held = 0;
        std::mem::take(&mut self.inbox)
    }

    fn understand(&self, message: &Message) -> Came {
        let id = message.id();
        // What has no value of ours, such as a number past all bounds, is compared as the text that it is.
        let body = Json::read(message.body());
        let mut body = body.unwrap_or_else(|_| Json::Text(message.body().to_owned()));
        let method = message.method().to_string();
        let own_name = || serde_json::from_str::<Option<String>>(id.as_ref()?.as_str()).ok()?;
        let (kind, name) = match message.kind() {
            rpc::Kind::Request => (Kind::Request(method), None),
            rpc::Kind::Result => (Kind::Result, own_name()),
            rpc::Kind::Error => (Kind::Error, own_name()),
            rpc::Kind::Notification => match self.withdrawn(&method, &body) {
                Some(name) => {
                    body = Json::Null;
                    (Kind::Cancel, Some(name))
                }
                None => (Kind::Notification(method), None),
            },
        };
        let id = id.filter(|_| matches!(kind, Kind::Request(_)));
        let said = Said {
            kind,
            name,
            body: None,
        };
        Came { said, body, id }
    }

    /// The name of the request that a notification withdraws, if it does.
    fn withdrawn(&self, method: &str, body: &Json) -> Option<String> {
        let id = body.get("requestId").filter(|_| method == super::CANCEL)?;
        let id = Id::parse(&id.to_string())?;
        let mut got = self.got.iter();
        got.find_map(|(name, known)| (*known == id).then(|| name.clone()))
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
