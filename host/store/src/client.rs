//! The server's side: calls to the process that has the store.

use std::collections::HashMap;
use std::future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::call::{Answer, Call};
use crate::limits::{LimitError, check};
use crate::protocol::{LINE, Outcome, Reply, Request, line, parse};

/// How many calls may wait for their answers.
const WAITING: usize = 4096;

/// How long a call may take: longer than the process waits for the database.
const PATIENCE: Duration = Duration::from_secs(6);

/// Asks the process that has the store, which ends when the last clone of this is dropped.
#[derive(Clone, Debug)]
pub struct Client {
    lines: mpsc::Sender<Vec<u8>>,
    open: Arc<Mutex<Open>>,
}

/// Why a call has no answer. It may have been carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The call can never be carried out.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The store cannot be used now. The text is for operators.
    #[error("{0}")]
    Unavailable(String),
    /// Too many calls wait for their answers.
    #[error("too many calls to the store wait for their answers")]
    Busy,
    /// There was no answer in time.
    #[error("the store did not answer within {} s", PATIENCE.as_secs())]
    Slow,
    /// The process has ended, or broken the protocol.
    #[error("the process that has the store has ended; restart acp-chain")]
    Gone,
}

/// The calls that wait for their answers.
#[derive(Debug, Default)]
struct Open {
    last: u64,
    outcomes: HashMap<u64, oneshot::Sender<Outcome>>,
    has_ended: bool,
}

impl Client {
    /// Uses the process that reads `requests` and writes `replies`. Must be called within a runtime of tokio.
    pub fn start(
        replies: impl AsyncRead + Send + Unpin + 'static,
        requests: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        // As many lines as calls: there is always room.
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
            ended.outcomes.clear();
        });
        Self { lines, open }
    }

    /// Carries out a call, within six seconds at the latest.
    pub async fn ask(&self, call: Call) -> Result<Answer, StoreError> {
        check(&call)?;
        let (id, outcome) = self.send(call)?;
        match timeout(PATIENCE, outcome).await {
            Ok(Ok(Outcome::Answer(answer))) => Ok(answer),
            Ok(Ok(Outcome::Limit(limit))) => Err(limit.into()),
            Ok(Ok(Outcome::Unavailable(why))) => Err(StoreError::Unavailable(why)),
            Ok(Err(_)) => Err(StoreError::Gone),
            Err(_) => {
                lock(&self.open).outcomes.remove(&id);
                Err(StoreError::Slow)
            }
        }
    }

    fn send(&self, call: Call) -> Result<(u64, oneshot::Receiver<Outcome>), StoreError> {
        let mut open = lock(&self.open);
        if open.has_ended {
            return Err(StoreError::Gone);
        }
        if open.outcomes.len() >= WAITING {
            return Err(StoreError::Busy);
        }
        open.last += 1;
        let id = open.last;
        let line = line(&Request { id, call }).map_err(|_| StoreError::Gone)?;
        // Lines of calls that nobody waits for any longer may still be unsent.
        self.lines.try_send(line).map_err(|_| StoreError::Busy)?;
        let (sender, outcome) = oneshot::channel();
        open.outcomes.insert(id, sender);
        Ok((id, outcome))
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Hands outcomes over, until the process ends or breaks the protocol.
async fn read(replies: impl AsyncRead + Unpin, open: &Mutex<Open>) {
    let mut replies = BufReader::new(replies);
    loop {
        let mut read = Vec::new();
        let mut limited = (&mut replies).take(LINE as u64);
        let is_read = limited.read_until(b'\n', &mut read).await;
        let reply = is_read.and_then(|_| parse::<Reply>(&read));
        let Ok(Some(Reply { id, outcome })) = reply else {
            return;
        };
        let sender = lock(open).outcomes.remove(&id);
        if let Some(sender) = sender {
            // The call may have been dropped.
            let _ = sender.send(outcome);
        }
    }
}
