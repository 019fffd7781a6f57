//! The host's side of the socket that agents' hooks connect to.
//!
//! A socket is for the hooks of one dialect, and for any number of runs. Each run has a token of its own: a report with
//! it reaches this run, and no other. A connection is of this user, of a process that the agent has started for its
//! hook as far as the system tells, and has one report. The host learns of a report once it has arrived whole, and of
//! its end if the hook disconnects before it is answered. A report that is not answered never lets a tool run: its hook
//! refuses.
//!
//! Of what runs share, such as the number of connections, a report takes its part for ten seconds at most, until it has
//! arrived. From then on it counts for its run alone. So a run whose reports are many, or long without an answer, may
//! delay those of others, but never holds them up. A connection that shows no token takes nothing of that: if there are
//! too many, the oldest one is closed.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use acp_chain_channel::limits::{
    HOOK_CONNECTIONS, HOOK_COST, HOOK_READING, HOOK_REPORT, HOOK_STRANGERS, HOOK_UNANSWERED,
};
use acp_chain_rpc::Mutex;
use acp_chain_system::Supervisor;
use acp_chain_system::local::{Address, Endpoint, Listener, Peer};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::reporter::{Reporters, Usual};
use crate::wire::{Header, LONGEST_LINE, LONGEST_REPORT};
use crate::{Answer, Dialect};

const _: () = assert!(HOOK_COST + LONGEST_REPORT <= HOOK_UNANSWERED);

// The client is compiled without the table of limits.
const _: () = assert!(LONGEST_REPORT == HOOK_REPORT);

/// How many arrivals a run may not have taken.
const ARRIVALS: usize = 256;

/// How long a connection may take for its first line and its report, which may have to wait for others
/// ([`HOOK_READING`], [`HOOK_UNANSWERED`]).
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a connection without a token is not closed to make room for others. Hooks show theirs at once.
const GRACE: Duration = Duration::from_secs(2);

/// How long accepting pauses after an error, such as a system out of resources.
const PAUSE: Duration = Duration::from_millis(100);

/// How many random characters the name of the socket has. Paths of sockets must be short.
const NAME: usize = 16;

/// What arrives from hooks.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A hook reports.
    Report(Report),
    /// The hook of the report with this number has disconnected: nothing waits for the answer.
    Withdrawn(u64),
}

/// A report.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// Its number in its run, counted from 1.
    pub number: u64,
    /// The event, as the agent names it.
    pub event: String,
    /// What the agent wrote.
    pub text: String,
}

/// The socket for hooks of one dialect. It is removed, with its folder, when all clones of this and the [`Reports`] of
/// all runs are dropped.
#[derive(Clone, Debug)]
pub struct Server(Arc<Socket>);

#[derive(Debug)]
struct Socket {
    dialect: &'static Dialect,
    address: Address,
    shared: Arc<Shared>,
    acceptor: Mutex<Acceptor>,
    /// Which processes may report; any if it is not set.
    reporters: Arc<OnceLock<Reporters>>,
}

/// Accepts connections, from the first run on.
#[derive(Debug)]
struct Acceptor {
    endpoint: Option<Endpoint>,
    /// Dropping it ends the task.
    task: JoinSet<()>,
}

/// What the connections share.
#[derive(Debug)]
struct Shared {
    dialect: &'static Dialect,
    /// Those of the socket: what still serves a connection keeps no supervisor.
    reporters: Weak<OnceLock<Reporters>>,
    /// The runs that have begun, by the digests of their tokens: how long it takes to find one says nothing of tokens.
    runs: Mutex<HashMap<[u8; 32], Arc<RunState>>>,
    /// The places of connections whose report has not arrived.
    arriving: Arc<Semaphore>,
    reading: Semaphore,
}

/// What the connections of a run share.
#[derive(Debug)]
struct RunState {
    arrivals: mpsc::Sender<Arrival>,
    open: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    last: AtomicU64,
    unanswered: Arc<Semaphore>,
    usual: Usual,
}

/// What the hooks of one run report. When it is dropped, the run has ended: no report of it is answered any more.
#[derive(Debug)]
pub struct Reports {
    server: Server,
    token: String,
    arrivals: mpsc::Receiver<Arrival>,
    run: Arc<RunState>,
}

impl Server {
    /// Opens the socket; with a supervisor, it opens it. Before the first run, hooks that connect wait.
    ///
    /// # Errors
    /// If the socket cannot be opened, or the system provides no randomness.
    pub fn open(dialect: &'static Dialect, by: Option<&Supervisor>) -> io::Result<Self> {
        let (address, endpoint) = Endpoint::open(&random()?[..NAME], by)?;
        let reporters = Arc::default();
        let shared = Shared {
            dialect,
            reporters: Arc::downgrade(&reporters),
            runs: Mutex::default(),
            arriving: Arc::new(Semaphore::new(HOOK_CONNECTIONS)),
            reading: Semaphore::new(HOOK_READING),
        };
        Ok(Self(Arc::new(Socket {
            dialect,
            address,
            shared: Arc::new(shared),
            acceptor: Mutex::new(Acceptor {
                endpoint: Some(endpoint),
                task: JoinSet::new(),
            }),
            reporters,
        })))
    }

    /// From now on, only processes count that an agent started by this supervisor has started for its hooks, as far as
    /// the system tells: those of `client`, a program and its first arguments, or of the agent's plugin. If they are
    /// `strict`, none counts about which the system tells nothing. Later calls have no effect, nor has this on systems
    /// that never tell.
    pub fn restrict(&self, by: &Supervisor, client: &[String], are_strict: bool) {
        if Supervisor::KNOWS_DESCENT {
            let reporters = Reporters::new(by.clone(), client.to_vec(), are_strict);
            let _ = self.0.reporters.set(reporters);
        }
    }

    /// Begins a run. Has to be called within a runtime of tokio: that of the first run accepts the connections of all.
    ///
    /// # Errors
    /// If the socket cannot be listened at, or the system provides no randomness.
    pub fn begin(&self) -> io::Result<Reports> {
        let token = random()?;
        self.accept()?;
        let (sender, arrivals) = mpsc::channel(ARRIVALS);
        let run = Arc::new(RunState {
            arrivals: sender,
            open: Mutex::default(),
            last: AtomicU64::new(0),
            unanswered: Arc::new(Semaphore::new(HOOK_UNANSWERED)),
            usual: Usual::default(),
        });
        let runs = &self.0.shared.runs;
        runs.lock().insert(digest(&token), Arc::clone(&run));
        Ok(Reports {
            server: self.clone(),
            token,
            arrivals,
            run,
        })
    }

    fn accept(&self) -> io::Result<()> {
        let mut acceptor = self.0.acceptor.lock();
        if let Some(endpoint) = acceptor.endpoint.take() {
            let listener = endpoint.listen()?;
            let (clear, shared) = (self.0.address.clear(), Arc::clone(&self.0.shared));
            acceptor.task.spawn(async move {
                tokio::join!(clear, accept(&shared, listener));
            });
        }
        Ok(())
    }

    /// The dialect of the hooks.
    pub fn dialect(&self) -> &'static Dialect {
        self.0.dialect
    }

    /// The path of the socket, for the agent's environment.
    pub fn path(&self) -> &Path {
        self.0.address.path()
    }

    /// The folder of the socket, for what else the hooks need: it is removed with the socket. `None` where sockets have
    /// no folder.
    pub fn folder(&self) -> Option<&Path> {
        self.0.address.folder()
    }
}

impl Reports {
    /// The dialect of the hooks.
    pub fn dialect(&self) -> &'static Dialect {
        self.server.dialect()
    }

    /// The path of the socket, for the agent's environment.
    pub fn path(&self) -> &Path {
        self.server.path()
    }

    /// The token of this run, for the agent's environment.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The next arrival. Cancel safe. While it is not called, hooks wait.
    pub async fn next(&mut self) -> Arrival {
        match self.arrivals.recv().await {
            Some(arrival) => arrival,
            // This has a sender, too.
            None => std::future::pending().await,
        }
    }

    /// Answers a report; without effect if its hook has disconnected.
    pub fn answer(&self, number: u64, answer: Answer) {
        if let Some(report) = self.run.open.lock().remove(&number) {
            let _ = report.send(answer);
        }
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let runs = &self.server.0.shared.runs;
        runs.lock().remove(&digest(&self.token));
        self.run.unanswered.close();
        // A report that is opened after all were cleared cannot arrive any more, so that its connection ends, too.
        self.arrivals.close();
        self.run.open.lock().clear();
    }
}

/// 256 random bits, in base64url.
fn random() -> io::Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(URL_SAFE_NO_PAD.encode(random))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// A connection that has shown no token when it was last looked at.
struct Stranger {
    since: Instant,
    task: AbortHandle,
    has_shown_token: Arc<AtomicBool>,
}

impl Stranger {
    fn is_one(&self) -> bool {
        !self.task.is_finished() && !self.has_shown_token.load(Ordering::Relaxed)
    }
}

/// Accepts connections. Dropping the future closes them.
async fn accept(shared: &Arc<Shared>, mut listener: Listener) {
    let unknown = Arc::new(Semaphore::new(HOOK_STRANGERS));
    let mut strangers = VecDeque::new();
    let mut connections = JoinSet::new();
    // It is never closed.
    while let Some(room) = room(&unknown, &mut strangers).await {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok(Some(stream)) => {
                let peer = Peer::of(&stream);
                let has_shown_token = Arc::default();
                let known = Arc::clone(&has_shown_token);
                let served = serve(Arc::clone(shared), stream, peer, room, known);
                strangers.push_back(Stranger {
                    since: Instant::now(),
                    task: connections.spawn(served),
                    has_shown_token,
                });
            }
            Ok(None) => tracing::warn!("rejected a hook of another user"),
            Err(error) => {
                tracing::warn!("accepting hooks is paused: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Room for a connection that has not shown a token yet. If there is none, the oldest such connection is closed.
async fn room(
    unknown: &Arc<Semaphore>,
    strangers: &mut VecDeque<Stranger>,
) -> Option<OwnedSemaphorePermit> {
    strangers.retain(Stranger::is_one);
    while let Some(oldest) = strangers.pop_front() {
        let free = Arc::clone(unknown).acquire_owned();
        if let Ok(acquired) = timeout_at(oldest.since + GRACE, free).await {
            strangers.push_front(oldest);
            return acquired.ok();
        }
        if oldest.is_one() {
            tracing::warn!("closed a connection to the socket for hooks that shows no token");
            oldest.task.abort();
            break;
        }
    }
    Arc::clone(unknown).acquire_owned().await.ok()
}

/// Serves one connection. It has `room` until it has a place among those whose report has not arrived.
async fn serve(
    shared: Arc<Shared>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: Peer,
    room: OwnedSemaphorePermit,
    has_shown_token: Arc<AtomicBool>,
) {
    let mut stream = BufReader::new(stream);
    let (header, run) = match in_time(shared.header(&mut stream)).await {
        Ok(begun) => begun,
        Err(why) => return tracing::warn!("rejected a hook: {why}"),
    };
    has_shown_token.store(true, Ordering::Relaxed);
    // Its own time begins with its place: those in front of it may be of a run that uses up theirs.
    let Ok(place) = Arc::clone(&shared.arriving).acquire_owned().await else {
        return;
    };
    drop(room);
    let (report, _unanswered) = match in_time(shared.read(&mut stream, peer, header, &run)).await {
        Ok(read) => read,
        Err(why) => return tracing::warn!("rejected a hook: {why}"),
    };
    drop(place);
    let number = report.number;
    let (sender, mut answer) = oneshot::channel();
    run.open.lock().insert(number, sender);
    if run.arrivals.send(Arrival::Report(report)).await.is_err() {
        return;
    }
    tokio::select! {
        biased;
        answer = &mut answer => {
            if let Ok(answer) = answer {
                // A hook that does not read is its agent's loss.
                let _ = timeout(PATIENCE, stream.write_all(answer.encode().as_bytes())).await;
            }
        }
        // A hook sends nothing more, and disconnects only to withdraw its report.
        _ = stream.read_u8() => {
            run.open.lock().remove(&number);
            let _ = run.arrivals.send(Arrival::Withdrawn(number)).await;
        }
    }
}

/// Reads a part of what a connection sends.
async fn in_time<T>(
    reading: impl Future<Output = Result<T, &'static str>>,
) -> Result<T, &'static str> {
    let late = "its report did not arrive in time, or too many of its run wait";
    timeout(PATIENCE, reading).await.unwrap_or(Err(late))
}

impl Shared {
    /// Reads the first line of a connection. Returns it with the run whose token it has.
    async fn header(
        &self,
        stream: &mut BufReader<impl AsyncRead + Unpin>,
    ) -> Result<(Header, Arc<RunState>), &'static str> {
        let mut line = Vec::new();
        let first = stream
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut line)
            .await;
        if first.is_err() || line.pop_if(|last| *last == b'\n').is_none() {
            return Err("its first line is incomplete or too long");
        }
        let header = std::str::from_utf8(&line).ok().and_then(Header::parse);
        let header = header.ok_or("its first line is malformed")?;
        let run = self.runs.lock().get(&digest(&header.token)).cloned();
        let run = run.ok_or("its token is that of no run")?;
        if header.dialect != self.dialect.name {
            return Err("it is of another agent");
        }
        Ok((header, run))
    }

    /// Reads a report of a run, after its first line. Returns it with what it takes of the run until it is answered.
    async fn read(
        &self,
        stream: &mut BufReader<impl AsyncRead + Unpin>,
        peer: Peer,
        header: Header,
        run: &RunState,
    ) -> Result<(Report, OwnedSemaphorePermit), &'static str> {
        let of_socket = self.reporters.upgrade().ok_or("the host ends")?;
        if let Some(reporters) = of_socket.get() {
            reporters.check(&peer, &header, self.dialect, &run.usual)?;
        }
        // Neither a descriptor nor the supervisor is kept.
        drop((peer, of_socket));
        let permits = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let cost = permits(HOOK_COST + header.length);
        let unanswered = Arc::clone(&run.unanswered).acquire_many_owned(cost).await;
        let unanswered = unanswered.map_err(|_| "its run has ended")?;
        let room = self.reading.acquire_many(permits(header.length)).await;
        let _room = room.map_err(|_| "the host ends")?;
        let mut text = vec![0; header.length];
        let whole = stream.read_exact(&mut text).await;
        whole.map_err(|_| "its report is incomplete")?;
        let report = Report {
            number: run.last.fetch_add(1, Ordering::Relaxed) + 1,
            event: header.event,
            text: String::from_utf8(text).map_err(|_| "its report is not UTF-8")?,
        };
        Ok((report, unanswered))
    }
}

#[cfg(all(test, unix))]
mod tests;
