//! The host's side: requests to the process that has the database.

#[cfg(feature = "database")]
mod in_memory;

use std::collections::HashMap;
use std::future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::limits::{LimitError, check};
use crate::namespace::Namespace;
use crate::protocol::{Answer, Call, LINE, Loaded, Reply, Request, StoreOutcome, line, parse};

/// How many requests may wait for their answers.
const WAITING: usize = acp_chain_channel::limits::STORED_WAITING;

/// Loads and stores values in another process, which ends when the last clone of this is dropped.
#[derive(Clone, Debug)]
pub struct Keeper {
    lines: mpsc::Sender<Vec<u8>>,
    open: Arc<Mutex<Open>>,
}

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeeperError {
    /// A limit would be exceeded. The text is for the proxy.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The database cannot be used. The text is for the user: it names files.
    #[error("{0}")]
    Unavailable(String),
    /// Too many requests wait for their answers.
    #[error("too many requests for stored values wait for their answers")]
    Busy,
    /// The process has ended, or broken the protocol.
    #[error("the process that has the stored values has ended")]
    Gone,
}

/// The requests that wait for their answers.
#[derive(Debug, Default)]
struct Open {
    last: u64,
    answers: HashMap<u64, oneshot::Sender<Answer>>,
    has_ended: bool,
}

impl Keeper {
    /// Uses the process that reads `requests` and writes `replies`. Must be called within a runtime of tokio.
    pub fn start(
        replies: impl AsyncRead + Send + Unpin + 'static,
        requests: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        // As many lines as requests: there is always room.
        let (lines, unsent) = mpsc::channel(WAITING);
        let open = Arc::<Mutex<Open>>::default();
        let waiting = Arc::clone(&open);
        tokio::spawn(async move {
            tokio::select! {
                () = write(requests, unsent) => {}
                () = read(replies, &waiting) => {}
            }
            let mut ended = lock(&waiting);
            ended.has_ended = true;
            ended.answers.clear();
        });
        Self { lines, open }
    }

    /// Loads the value under a key. The request is sent before this returns, in the order of calls.
    pub fn load(
        &self,
        namespace: &Namespace,
        key: &str,
    ) -> impl Future<Output = Result<Loaded, KeeperError>> + Send + use<> {
        let sent = check(namespace, key, None).map_err(KeeperError::from);
        let sent = sent.and_then(|()| {
            self.send(Call::Load {
                namespace: namespace.clone(),
                key: key.to_owned(),
            })
        });
        async move {
            match answer(sent).await? {
                Answer::Load(loaded) => Ok(loaded),
                _ => Err(KeeperError::Gone),
            }
        }
    }

    /// Stores a value, or removes it, if its version is still the given one: 0 if there is none. The request is sent
    /// before this returns, in the order of calls.
    pub fn store(
        &self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> impl Future<Output = Result<StoreOutcome, KeeperError>> + Send + use<> {
        let sent = check(namespace, key, value).map_err(KeeperError::from);
        let sent = sent.and_then(|()| {
            self.send(Call::Store {
                namespace: namespace.clone(),
                key: key.to_owned(),
                version,
                value: value.map(str::to_owned),
            })
        });
        async move {
            match answer(sent).await? {
                Answer::Store(outcome) => Ok(outcome),
                _ => Err(KeeperError::Gone),
            }
        }
    }

    fn send(&self, call: Call) -> Result<oneshot::Receiver<Answer>, KeeperError> {
        let mut open = lock(&self.open);
        if open.has_ended {
            return Err(KeeperError::Gone);
        }
        if open.answers.len() >= WAITING {
            return Err(KeeperError::Busy);
        }
        open.last += 1;
        let id = open.last;
        let line = line(&Request { id, call }).map_err(|_| KeeperError::Gone)?;
        self.lines.try_send(line).map_err(|_| KeeperError::Gone)?;
        let (sender, answer) = oneshot::channel();
        open.answers.insert(id, sender);
        Ok(answer)
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    sent: Result<oneshot::Receiver<Answer>, KeeperError>,
) -> Result<Answer, KeeperError> {
    match sent?.await {
        Ok(Answer::Limit(limit)) => Err(limit.into()),
        Ok(Answer::Unavailable(why)) => Err(KeeperError::Unavailable(why)),
        Ok(answer) => Ok(answer),
        Err(_) => Err(KeeperError::Gone),
    }
}

/// Writes lines. It never ends: the process answers what it has, and ends the other stream.
async fn write(mut requests: impl AsyncWrite + Unpin, mut unsent: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = unsent.recv().await {
        if requests.write_all(&line).await.is_err() {
            break;
        }
    }
    // An error means that the process has ended.
    let _ = requests.shutdown().await;
    future::pending::<()>().await;
}

/// Hands answers over, until the process ends or breaks the protocol.
async fn read(replies: impl AsyncRead + Unpin, open: &Mutex<Open>) {
    let mut replies = BufReader::new(replies);
    loop {
        let mut read = Vec::new();
        let mut limited = (&mut replies).take(LINE as u64);
        let is_read = limited.read_until(b'\n', &mut read).await;
        let reply = is_read.and_then(|_| parse::<Reply>(&read));
        let Ok(Some(Reply { id, answer })) = reply else {
            return;
        };
        hand_over(open, id, answer);
    }
}

/// Hands an answer over to the request with this id.
fn hand_over(open: &Mutex<Open>, id: u64, answer: Answer) {
    let sender = lock(open).answers.remove(&id);
    if let Some(sender) = sender {
        // The request may have been dropped.
        let _ = sender.send(answer);
    }
}
