//! The supervisor itself. It has all of the user's rights, and does only what was allowed before any proxy ran.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::json_lines::line;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, kill_process_group, setpgid, test_kill_process_group,
    wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream as Stream;
use tokio::net::unix::OwnedReadHalf;
use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::super::descent::descent;
use super::super::halves::stream;
use super::super::pipes;
use super::super::socket;
use super::wire::{Event, Reply, Request, Streams, answer};
use crate::{CommandLine, Descent, HOOK_TOKEN};

/// How long a program may take to end after SIGTERM, since it may have to end its children.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the rest of its group then has, first without a signal, then after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);

/// How often to check whether a group has running processes.
const POLL: Duration = Duration::from_millis(10);

/// Timeout for ending all programs: the sum of the above, and a little more.
const TOTAL: Duration = Duration::from_secs(5);

/// The capacity of the queue of events for the host.
const EVENTS: usize = 64;

/// The longest token of an agent's hooks.
const LONGEST_TOKEN: usize = 64;

/// How much of a program's standard error is read at once.
const READ: usize = 1024;

/// Serves the host, at the other ends of our standard input and output, until it disconnects. Waits for all children
/// of this process.
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the host reads it, and the message has no text from outside"
)]
pub fn main() -> ExitCode {
    let request_socket = io::stdin().as_fd().try_clone_to_owned();
    let event_socket = io::stdout().as_fd().try_clone_to_owned();
    let served =
        request_socket.and_then(|request_socket| on_a_runtime(request_socket, event_socket?));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("acp-chain: `supervise` is for acp-chain itself to start: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves the host in a fork of it. The host's streams and process group are left: readers of its output must see when
/// the host ends, and signals to its process group must not end this process.
pub fn in_place_of_host(request_socket: OwnedFd, event_socket: OwnedFd) -> io::Result<()> {
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    setpgid(None, None)?;
    on_a_runtime(request_socket, event_socket)
}

fn on_a_runtime(request_socket: OwnedFd, event_socket: OwnedFd) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(request_socket, event_socket))
}

async fn serve(request_socket: OwnedFd, event_socket: OwnedFd) -> io::Result<()> {
    // A signal to all of acp-chain is meant for the host, which ends us. If we ended first, our programs would survive.
    let _ignored = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
    ]
    .map(signal);
    let mut children = signal(SignalKind::child())?;
    let mut socket = BufReader::new(stream(request_socket)?);
    let (events, waiting) = mpsc::channel(EVENTS);
    let sending = tokio::spawn(send_events(waiting, stream(event_socket)?));
    let mut service = Service::new(events);
    let mut line = Vec::new();
    // Descriptors that the host may not have received yet: macOS may close a socket on its way with our copy of it.
    let mut sent = Vec::new();
    // An incomplete line is from a host that disconnected.
    loop {
        let deadline = service.deadline;
        let read = tokio::select! {
            read = socket.read_until(b'\n', &mut line) => read,
            _ = children.recv() => {
                service.reap();
                continue;
            }
            () = passed(deadline) => {
                service.end_programs();
                continue;
            }
        };
        if !matches!(read, Ok(1..)) || !line.ends_with(b"\n") {
            break;
        }
        let request = serde_json::from_slice(&line)?;
        line.clear();
        sent.clear();
        let (reply, descriptors) = match service.execute(request) {
            Ok(Some(done)) => done,
            Ok(None) => continue,
            Err(error) => (error.into(), Vec::new()),
        };
        let lent: Vec<BorrowedFd> = descriptors.iter().map(AsFd::as_fd).collect();
        socket.get_ref().writable().await?;
        answer(socket.get_ref(), &reply, &lent)?;
        sent = descriptors;
    }
    service.end(children).await;
    let _ = timeout(GRACE, sending).await;
    Ok(())
}

/// Sends the host events about programs.
async fn send_events(mut events: mpsc::Receiver<Event>, mut host: Stream) {
    // Events are received even when they can no longer be sent, so that senders do not block.
    while let Some(event) = events.recv().await {
        if let Ok(line) = line(&event) {
            let _ = host.write_all(&line).await;
        }
    }
}

/// Resolves at this time, if there is one.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

struct Service {
    allowed: Option<Vec<CommandLine>>,
    /// When all programs are ended, unless the host says something before.
    deadline: Option<Instant>,
    /// The sockets that can be opened beside those that are open. Before programs are allowed, when no proxy runs, the
    /// number is not bounded.
    sockets: Arc<Semaphore>,
    ports: Arc<Semaphore>,
    /// Whether the leftovers of dead programs were looked for.
    has_cleared: bool,
    held: JoinSet<()>,
    /// Dropped to end a program, by the programs' numbers.
    enders: HashMap<u64, oneshot::Sender<()>>,
    /// The running processes.
    running: HashMap<Pid, RunningProcess>,
    events: mpsc::Sender<Event>,
    /// Dropped to end everything.
    host: watch::Sender<()>,
}

/// A process that has not been waited for.
struct RunningProcess {
    /// The number of its program.
    number: u64,
    /// The value of [`HOOK_TOKEN`] in its environment.
    hook_token: Option<OsString>,
    /// Receives its status.
    exited: oneshot::Sender<i32>,
}

impl Service {
    fn new(events: mpsc::Sender<Event>) -> Self {
        Self {
            allowed: None,
            deadline: None,
            has_cleared: false,
            sockets: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            ports: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            held: JoinSet::new(),
            enders: HashMap::new(),
            running: HashMap::new(),
            events,
            host: watch::Sender::new(()),
        }
    }

    /// Reaps processes that have ended. A pidfd per process would take too many descriptors.
    fn reap(&mut self) {
        while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
            if let Some(running) = self.running.remove(&process) {
                let _ = running.exited.send(status.as_raw());
                self.enders.remove(&running.number);
            }
        }
    }

    /// Executes a request. Returns the answer, if the request has one.
    fn execute(&mut self, request: Request) -> io::Result<Option<(Reply, Vec<OwnedFd>)>> {
        while self.held.try_join_next().is_some() {}
        let answer = match request {
            Request::Allow {
                programs,
                connections,
            } => match &self.allowed {
                None => {
                    self.allowed = Some(programs);
                    let most = connections.min(Semaphore::MAX_PERMITS);
                    self.sockets = Arc::new(Semaphore::new(most));
                    self.ports = Arc::new(Semaphore::new(most));
                    (Reply::Allowed, Vec::new())
                }
                Some(_) => return Err(io::Error::other("the programs were allowed before")),
            },
            Request::Start {
                program,
                number,
                streams,
                hook_token,
            } => {
                let mut allowed = self.allowed.iter().flatten();
                let command = allowed.nth(program);
                let unknown = || io::Error::other("no such program may be started");
                let mut command = command.ok_or_else(unknown)?.clone();
                if let Some(token) = hook_token {
                    if !(1..=LONGEST_TOKEN).contains(&token.len()) || !is_base64url(&token) {
                        return Err(io::Error::other("not a valid token for hooks"));
                    }
                    command.env.push((HOOK_TOKEN.into(), token.into()));
                }
                self.start(&command, number, streams)?
            }
            Request::Socket(random) => {
                let permit = one_of(&self.sockets)?;
                // The text becomes the name of a folder.
                if !is_base64url(&random) {
                    return Err(io::Error::other("not a valid name for a socket"));
                }
                let (folder, listener) = socket::make(&random)?;
                let path = folder.socket().into_os_string();
                let (theirs, life) = life()?;
                let is_first = !std::mem::replace(&mut self.has_cleared, true);
                let place = folder.place().filter(|_| is_first).map(Path::to_owned);
                let disconnected = self.host.subscribe();
                self.held.spawn(async move {
                    let (mut wish, _output) = life.into_split();
                    let clear = async {
                        if let Some(place) = place {
                            socket::clear(&place).await;
                        }
                    };
                    tokio::join!(clear, ended(&mut wish, disconnected));
                    // The host sees the end of its lifeline when the folder is removed.
                    drop((folder, permit));
                });
                (Reply::Socket(path), vec![listener.into(), theirs.into()])
            }
            Request::Port => {
                let permit = one_of(&self.ports)?;
                let (theirs, life) = life()?;
                let disconnected = self.host.subscribe();
                self.held.spawn(async move {
                    let (mut wish, _output) = life.into_split();
                    ended(&mut wish, disconnected).await;
                    drop(permit);
                });
                (Reply::Port, vec![socket::port()?.into(), theirs.into()])
            }
            Request::Descent {
                hook_token,
                process,
                command,
            } => {
                let program = self.program_with(&hook_token);
                let descent = program.map_or(Descent::Apart, |program| {
                    descent(process, program, &command)
                });
                (Reply::Descent(descent), Vec::new())
            }
            Request::Watch(within) => {
                let within = within.map(Duration::from_millis);
                self.deadline = within.and_then(|within| Instant::now().checked_add(within));
                return Ok(None);
            }
            Request::Received => return Ok(None),
            Request::End(number) => {
                // The program may have ended already.
                drop(self.enders.remove(&number));
                return Ok(None);
            }
        };
        Ok(Some(answer))
    }

    /// Ends the programs that run.
    fn end_programs(&mut self) {
        self.deadline = None;
        self.enders.clear();
    }

    /// The id of the running process with this token for hooks in its environment.
    fn program_with(&self, hook_token: &str) -> Option<u32> {
        let mut all = self.running.iter();
        let found = all.find(|(_, running)| {
            let own = running.hook_token.as_ref();
            own.is_some_and(|own| own == hook_token)
        });
        found.map(|(process, _)| process_id(*process))
    }

    fn start(
        &mut self,
        command: &CommandLine,
        number: u64,
        streams: Streams,
    ) -> io::Result<(Reply, Vec<OwnedFd>)> {
        let (stderr, theirs) = io::pipe()?;
        let mut starting = command.plain();
        starting.stderr(theirs).process_group(0);
        let descriptors = match streams {
            Streams::Pipes => {
                let ((stdin, input), (output, stdout)) = (io::pipe()?, io::pipe()?);
                pipes::widen(&input);
                pipes::widen(&output);
                starting.stdin(stdin).stdout(stdout);
                vec![input.into(), output.into()]
            }
            Streams::Socket => {
                let (ours, theirs) = UnixStream::pair()?;
                starting.stdin(OwnedFd::from(theirs.try_clone()?));
                starting.stdout(OwnedFd::from(theirs));
                vec![ours.into()]
            }
        };
        let stderr = receiver(stderr)?;
        let child = starting.spawn()?;
        // Close our own descriptors of its streams.
        drop(starting);
        let group = Pid::from_child(&child);
        let ((exited, exit), (wish, wished)) = (oneshot::channel(), oneshot::channel());
        let mut own = command.env.iter().rev();
        let token = own.find(|(name, _)| name == HOOK_TOKEN);
        let running = RunningProcess {
            number,
            hook_token: token.map(|(_, token)| token.clone()),
            exited,
        };
        self.running.insert(group, running);
        self.enders.insert(number, wish);
        let program = RunningProgram {
            group,
            number,
            exit,
            wished,
            disconnected: self.host.subscribe(),
            events: self.events.clone(),
        };
        self.held.spawn(program.hold(stderr));
        Ok((Reply::Started(process_id(group)), descriptors))
    }

    /// Ends all programs, and closes the socket.
    async fn end(mut self, mut children: tokio::signal::unix::Signal) {
        self.host.send_replace(());
        let all = async {
            loop {
                tokio::select! {
                    next = self.held.join_next() => if next.is_none() { return },
                    _ = children.recv() => self.reap(),
                }
            }
        };
        let _ = timeout(TOTAL, all).await;
    }
}

fn process_id(process: Pid) -> u32 {
    process.as_raw_nonzero().get().cast_unsigned()
}

/// An error if as many are open as connections may have.
fn one_of(permits: &Arc<Semaphore>) -> io::Result<OwnedSemaphorePermit> {
    let permit = Arc::clone(permits).try_acquire_owned();
    permit.map_err(|_| io::Error::other("each connection has opened one"))
}

fn is_base64url(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

struct RunningProgram {
    group: Pid,
    number: u64,
    /// Receives its status.
    exit: oneshot::Receiver<i32>,
    /// Closed when the host requests its end.
    wished: oneshot::Receiver<()>,
    disconnected: watch::Receiver<()>,
    events: mpsc::Sender<Event>,
}

impl RunningProgram {
    /// Forwards the standard error of a program and its children, until all have ended.
    async fn hold(mut self, stderr: Receiver) {
        let (number, events) = (self.number, self.events.clone());
        {
            let mut listening = pin!(listen(stderr, number, &events));
            let mut holding = pin!(self.until_ended());
            tokio::select! {
                () = &mut listening => holding.await,
                () = &mut holding => {
                    // A process that left the group may never close it: read only the available data.
                    let _ = timeout(Duration::ZERO, listening).await;
                }
            }
        }
        let _ = events.send(Event::Silent(number)).await;
    }

    /// Ends the program when the host requests that, or disconnects. Resolves when its group has ended.
    async fn until_ended(&mut self) {
        let early = tokio::select! {
            biased;
            status = &mut self.exit => status.ok(),
            _ = &mut self.wished => None,
            _ = self.disconnected.changed() => None,
        };
        let status = match early {
            Some(status) => Some(status),
            None => self.ask().await,
        };
        if let Some(status) = status {
            let _ = self.events.send(Event::Ended(self.number, status)).await;
        }
        // The program may be only a launcher, like npm, whose children have the same standard input.
        for last in [Signal::TERM, Signal::KILL] {
            if timeout(GRACE, left(self.group)).await.is_ok() {
                break;
            }
            let _ = kill_process_group(self.group, last);
        }
    }

    /// Sends SIGTERM to the program only, so that it can end its children. Kills the group on a timeout.
    async fn ask(&mut self) -> Option<i32> {
        let _ = kill_process(self.group, Signal::TERM);
        if let Ok(status) = timeout(PATIENCE, &mut self.exit).await {
            return status.ok();
        }
        let _ = kill_process_group(self.group, Signal::KILL);
        (&mut self.exit).await.ok()
    }
}

/// Forwards a program's standard error, to its end.
async fn listen(stderr: Receiver, number: u64, events: &mpsc::Sender<Event>) {
    while stderr.readable().await.is_ok() {
        let printed = {
            let mut bytes = [0; READ];
            match stderr.try_read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => STANDARD.encode(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(_) => return,
            }
        };
        let _ = events.send(Event::Printed(number, printed)).await;
    }
}

/// Waits until a group whose leader has ended is empty, by polling: the system does not notify.
async fn left(group: Pid) {
    while test_kill_process_group(group).is_ok() {
        sleep(POLL).await;
    }
}

/// Waits until the host has closed its half of a lifeline, or disconnected.
async fn ended(wish: &mut OwnedReadHalf, mut disconnected: watch::Receiver<()>) {
    let mut nothing = [0];
    tokio::select! {
        _ = wish.read(&mut nothing) => {}
        _ = disconnected.changed() => {}
    }
}

/// Both ends of a lifeline: the host's and ours. Closing one is visible at the other.
fn life() -> io::Result<(UnixStream, Stream)> {
    let (theirs, ours) = UnixStream::pair()?;
    Ok((theirs, stream(ours.into())?))
}

/// A non-blocking reader of a pipe.
fn receiver(pipe: PipeReader) -> io::Result<Receiver> {
    let pipe = OwnedFd::from(pipe);
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Receiver::from_owned_fd(pipe)
}
