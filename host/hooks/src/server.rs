//! The host's side of the socket that an agent's hooks connect to.
//!
//! A connection is of this user and has one report, with the token of this run. The host learns of a report once it has
//! arrived whole, and of its end if the hook disconnects before it is answered. A report that is not answered never
//! lets a tool run: its hook refuses.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use acp_chain_system::Supervisor;
use acp_chain_system::local::{Address, Listener};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::wire::{Header, LONGEST_LINE};
use crate::{Answer, Dialect};

/// How many connections are open at once. Further ones wait to be accepted.
const CONNECTIONS: usize = 256;

/// How many bytes of reports are read at once, over all connections.
const READING: usize = 64 * 1024 * 1024;

/// How long a connection may take for its first line, and for its report.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Its number, counted from 1.
    pub number: u64,
    /// The event, as the agent names it.
    pub event: String,
    /// What the agent wrote.
    pub text: String,
}

/// The socket of one run, for hooks of one dialect.
#[derive(Debug)]
pub struct Server {
    dialect: &'static Dialect,
    address: Address,
    token: String,
    arrivals: mpsc::Receiver<Arrival>,
    open: Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>,
    /// Dropping it ends the task.
    _task: JoinSet<()>,
}

/// What the connections share.
struct Shared {
    dialect: &'static Dialect,
    token: String,
    arrivals: mpsc::Sender<Arrival>,
    open: Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>,
    last: Mutex<u64>,
    reading: Semaphore,
}

impl Server {
    /// Listens; with a supervisor, on a socket that it opens. Has to be called within a runtime of tokio.
    ///
    /// # Errors
    /// If the socket cannot be opened, or the system provides no randomness.
    pub fn open(dialect: &'static Dialect, by: Option<&Supervisor>) -> io::Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token = URL_SAFE_NO_PAD.encode(random);
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = URL_SAFE_NO_PAD.encode(random);
        let (address, listener) = Listener::open(&name[..NAME], by)?;
        let (sender, arrivals) = mpsc::channel(CONNECTIONS);
        let open = Arc::<Mutex<HashMap<_, _>>>::default();
        let shared = Arc::new(Shared {
            dialect,
            token: token.clone(),
            arrivals: sender,
            open: Arc::clone(&open),
            last: Mutex::new(0),
            reading: Semaphore::new(READING),
        });
        let clear = address.clear();
        let mut task = JoinSet::new();
        task.spawn(async move {
            tokio::join!(clear, accept(&shared, listener));
        });
        Ok(Self {
            dialect,
            address,
            token,
            arrivals,
            open,
            _task: task,
        })
    }

    /// The dialect of the hooks.
    #[must_use]
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The path of the socket, for the agent's environment.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.address.path()
    }

    /// The token of this run, for the agent's environment.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The next arrival. Cancel safe. While it is not called, hooks wait.
    pub async fn next(&mut self) -> Arrival {
        match self.arrivals.recv().await {
            Some(arrival) => arrival,
            // The task never ends by itself.
            None => std::future::pending().await,
        }
    }

    /// Answers a report; without effect if its hook has disconnected.
    pub fn answer(&self, number: u64, answer: Answer) {
        if let Some(report) = lock(&self.open).remove(&number) {
            let _ = report.send(answer);
        }
    }
}

/// Accepts connections. Dropping the future closes them.
async fn accept(shared: &Arc<Shared>, mut listener: Listener) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok(Some(stream)) => {
                connections.spawn(serve(Arc::clone(shared), stream));
            }
            Ok(None) => tracing::warn!("rejected a hook of another user"),
            Err(error) => {
                tracing::warn!("accepting hooks is paused: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection.
async fn serve(shared: Arc<Shared>, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut stream = BufReader::new(stream);
    let (event, text) = match timeout(PATIENCE, shared.read(&mut stream)).await {
        Ok(Ok(report)) => report,
        Ok(Err(why)) => return tracing::warn!("rejected a hook: {why}"),
        Err(_) => return tracing::warn!("rejected a hook: its report did not arrive in time"),
    };
    let (sender, mut answer) = oneshot::channel();
    let number = {
        let mut last = lock(&shared.last);
        *last += 1;
        *last
    };
    lock(&shared.open).insert(number, sender);
    let report = Report {
        number,
        event,
        text,
    };
    if shared.arrivals.send(Arrival::Report(report)).await.is_err() {
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
            lock(&shared.open).remove(&number);
            let _ = shared.arrivals.send(Arrival::Withdrawn(number)).await;
        }
    }
}

impl Shared {
    /// Reads the event and the text of a report.
    async fn read(
        &self,
        stream: &mut BufReader<impl AsyncRead + Unpin>,
    ) -> Result<(String, String), &'static str> {
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
        let is_ours: bool = header.token.as_bytes().ct_eq(self.token.as_bytes()).into();
        if !is_ours {
            return Err("its token is not that of this run");
        }
        if header.dialect != self.dialect.name {
            return Err("it is of another agent");
        }
        let length = u32::try_from(header.length).unwrap_or(u32::MAX);
        let room = self.reading.acquire_many(length).await;
        let _room = room.map_err(|_| "the host ends")?;
        let mut text = vec![0; header.length];
        let whole = stream.read_exact(&mut text).await;
        whole.map_err(|_| "its report is incomplete")?;
        let text = String::from_utf8(text).map_err(|_| "its report is not UTF-8")?;
        Ok((header.event, text))
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::net::UnixStream;

    use super::*;
    use crate::dialect;

    fn server() -> Server {
        Server::open(dialect("pi").unwrap(), None).unwrap()
    }

    async fn hook(server: &Server, header: &str, report: &str) -> UnixStream {
        let mut stream = UnixStream::connect(server.path()).await.unwrap();
        let bytes = format!("{header}\n{report}");
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }

    async fn all(mut stream: UnixStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn a_report_arrives_and_its_hook_gets_the_answer() {
        let mut server = server();
        let header = format!("{} pi before_tool 2", server.token());
        let stream = hook(&server, &header, "{}").await;
        let expected = Report {
            number: 1,
            event: "before_tool".to_owned(),
            text: "{}".to_owned(),
        };
        assert_eq!(server.next().await, Arrival::Report(expected));
        let answer = Answer {
            stdout: "no".to_owned(),
            ..Answer::default()
        };
        server.answer(1, answer);
        assert_eq!(all(stream).await, "0 2 0\nno");
    }

    #[tokio::test]
    async fn a_hook_that_disconnects_withdraws_its_report() {
        let mut server = server();
        let header = format!("{} pi before_tool 2", server.token());
        let stream = hook(&server, &header, "{}").await;
        assert!(matches!(server.next().await, Arrival::Report(_)));
        drop(stream);
        assert_eq!(server.next().await, Arrival::Withdrawn(1));
        // Too late: the hook has disconnected.
        server.answer(1, Answer::default());
    }

    #[tokio::test]
    async fn a_forged_or_malformed_report_never_arrives_and_gets_no_answer() {
        let mut server = server();
        let token = server.token().to_owned();
        for header in [
            "x pi before_tool 2".to_owned(),
            format!("{}x pi before_tool 2", &token[1..]),
            format!("{token} claude PreToolUse 2"),
            format!("{token} pi before_tool 99999999999"),
            format!("{token} pi before_tool"),
            "x".repeat(LONGEST_LINE + 1),
        ] {
            let stream = hook(&server, &header, "{}").await;
            assert_eq!(all(stream).await, "", "{header}");
        }
        let header = format!("{token} pi before_tool 2");
        let stream = hook(&server, &header, "{}").await;
        let Arrival::Report(report) = server.next().await else {
            panic!("a withdrawal");
        };
        assert_eq!((report.number, &*report.text), (1, "{}"));
        drop(server);
        assert_eq!(all(stream).await, "");
    }

    #[tokio::test]
    async fn ten_thousand_reports_at_once_are_all_answered() {
        let mut server = server();
        let header = format!("{} pi before_tool 2\n{{}}", server.token());
        let path = server.path().to_owned();
        let mut hooks = JoinSet::new();
        for _ in 0..10_000 {
            let (header, path) = (header.clone(), path.clone());
            hooks.spawn(async move {
                let mut stream = loop {
                    // The queue of connections to be accepted is full for a moment.
                    match UnixStream::connect(&path).await {
                        Ok(stream) => break stream,
                        Err(_) => tokio::task::yield_now().await,
                    }
                };
                stream.write_all(header.as_bytes()).await.unwrap();
                all(stream).await
            });
        }
        let mut answered = 0;
        while answered < 10_000 {
            tokio::select! {
                arrival = server.next() => {
                    let Arrival::Report(report) = arrival else { panic!("a withdrawal") };
                    server.answer(report.number, Answer::default());
                }
                Some(text) = hooks.join_next() => {
                    assert_eq!(text.unwrap(), "0 0 0\n");
                    answered += 1;
                }
            }
        }
    }
}
