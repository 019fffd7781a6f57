//! Calls to another process of ours, in [lines of JSON](crate::json_lines): a request such as `{"id":1,"load":{…}}`,
//! and a reply such as `{"id":1,"load":{…}}`. Replies may come in any order.

use std::collections::HashMap;
use std::future;
use std::io;
use std::sync::Arc;
use std::thread;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::runtime::Builder;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

use crate::Mutex;
use crate::json_lines::{line, parse};

/// A line to the process.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request<C> {
    /// What the reply has, too.
    pub id: u64,
    /// The call: an enum, since its members are beside the id.
    #[serde(flatten)]
    pub call: C,
}

/// A line of the process.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply<A> {
    /// That of the request.
    pub id: u64,
    /// The answer: an enum, since its members are beside the id.
    #[serde(flatten)]
    pub answer: A,
}

/// Why a call has no answer. It may have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// Too many calls wait for their answers.
    Busy,
    /// The process has ended, or broken the protocol.
    Gone,
}

/// Sends calls to the process, which ends when this is dropped.
#[derive(Debug)]
pub struct Client<A> {
    lines: mpsc::Sender<Vec<u8>>,
    open: Arc<Mutex<Open<A>>>,
}

/// The calls that wait for their answers.
#[derive(Debug)]
struct Open<A> {
    last: u64,
    answers: HashMap<u64, oneshot::Sender<A>>,
    has_ended: bool,
}

impl<A: Send + 'static> Client<A> {
    /// Uses the process that reads `requests` and writes `replies`, in lines of `longest` bytes at most. As many calls
    /// as `waiting` may wait for their answers. Must be called within a runtime of tokio.
    pub fn start(
        replies: impl AsyncRead + Send + Unpin + 'static,
        requests: impl AsyncWrite + Send + Unpin + 'static,
        waiting: usize,
        longest: usize,
    ) -> Self
    where
        A: DeserializeOwned,
    {
        let (client, unsent) = Self::new(waiting);
        let open = Arc::clone(&client.open);
        tokio::spawn(async move {
            tokio::select! {
                () = write(requests, unsent) => {}
                () = read(replies, longest, &open) => {}
            }
            let mut ended = open.lock();
            ended.has_ended = true;
            ended.answers.clear();
        });
        client
    }

    /// Uses a function in place of a process. Must be called within a runtime of tokio.
    pub fn of<C: DeserializeOwned + Send + 'static>(
        waiting: usize,
        mut carry_out: impl FnMut(C) -> A + Send + 'static,
    ) -> Self {
        let (client, mut unsent) = Self::new(waiting);
        let open = Arc::clone(&client.open);
        tokio::spawn(async move {
            while let Some(line) = unsent.recv().await {
                if let Ok(Some(Request { id, call })) = parse(&line, usize::MAX) {
                    let answer = carry_out(call);
                    hand_over(&open, Reply { id, answer });
                }
            }
        });
        client
    }

    fn new(waiting: usize) -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (lines, unsent) = mpsc::channel(waiting);
        let open = Arc::new(Mutex::new(Open {
            last: 0,
            answers: HashMap::new(),
            has_ended: false,
        }));
        (Self { lines, open }, unsent)
    }

    /// Sends a call before this returns, in the order of calls. Returns its id, and the answer: an error if the process
    /// ends without one.
    ///
    /// # Errors
    /// If there is no room for it, or no process any longer.
    pub fn send(&self, call: impl Serialize) -> Result<(u64, oneshot::Receiver<A>), CallError> {
        let mut open = self.open.lock();
        if open.has_ended {
            return Err(CallError::Gone);
        }
        if open.answers.len() >= self.lines.max_capacity() {
            return Err(CallError::Busy);
        }
        open.last += 1;
        let id = open.last;
        let line = line(&Request { id, call }).map_err(|_| CallError::Gone)?;
        self.lines.try_send(line).map_err(|error| match error {
            // Lines of forgotten calls may still be unsent.
            TrySendError::Full(_) => CallError::Busy,
            TrySendError::Closed(_) => CallError::Gone,
        })?;
        let (sender, answer) = oneshot::channel();
        open.answers.insert(id, sender);
        Ok((id, answer))
    }

    /// How many calls wait for their answers.
    pub fn waiting(&self) -> usize {
        self.open.lock().answers.len()
    }

    /// Makes room for another call in place of this one, whose answer comes too late.
    pub fn forget(&self, id: u64) {
        self.open.lock().answers.remove(&id);
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
async fn read<A: DeserializeOwned>(
    replies: impl AsyncRead + Unpin,
    longest: usize,
    open: &Mutex<Open<A>>,
) {
    let mut replies = BufReader::new(replies);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut replies).take(longest as u64);
        let is_read = limited.read_until(b'\n', &mut line).await;
        let Ok(Some(reply)) = is_read.and_then(|_| parse(&line, longest)) else {
            return;
        };
        hand_over(open, reply);
    }
}

/// Hands an answer over to its call.
fn hand_over<A>(open: &Mutex<Open<A>>, reply: Reply<A>) {
    let sender = open.lock().answers.remove(&reply.id);
    if let Some(sender) = sender {
        // The call may have been dropped.
        let _ = sender.send(reply.answer);
    }
}

/// Serves calls in the process: `workers` carry them out on this thread, while another one reads them, until it has
/// ended and so have they.
///
/// # Errors
/// The first one of a worker; without one, that of reading.
pub fn serve<W: Future<Output = io::Result<()>> + 'static>(
    workers: impl IntoIterator<Item = W>,
    read: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let reading = thread::Builder::new().spawn(read)?;
    LocalSet::new().block_on(&runtime, async {
        let started: Vec<_> = workers.into_iter().map(spawn_local).collect();
        for worker in started {
            worker.await.map_err(io::Error::other)??;
        }
        Ok::<_, io::Error>(())
    })?;
    // It ended before the workers did.
    reading
        .join()
        .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}
