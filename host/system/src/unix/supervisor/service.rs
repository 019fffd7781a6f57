//! The process itself. It has all of the user's rights, and does only what it was told before any proxy ran.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream as Stream;
use tokio::net::unix::OwnedReadHalf;
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::super::local;
use super::super::pipes;
use super::super::tree::status_bytes;
use super::wire::{Reply, Request, answer};
use crate::CommandLine;

/// How long a program may take to end when asked, since it may have to end others.
const TIDY: Duration = Duration::from_secs(2);

/// How long the rest of its group then has, first to end by itself, then when asked.
const GRACE: Duration = Duration::from_secs(1);

/// How often to check whether anyone is left.
const LOOK: Duration = Duration::from_millis(10);

/// How long all of it takes at most, and a little more.
const LAST: Duration = Duration::from_secs(5);

/// Serves the host at the other end of our standard input, until it is gone.
pub fn main() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned();
    match socket.and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("acp-chain: `supervise` is for acp-chain itself to start: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves the host at the other end of a socket, until it is gone.
pub fn run(socket: OwnedFd) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(socket))
}

async fn serve(socket: OwnedFd) -> io::Result<()> {
    // A signal to all of acp-chain is meant for the host, which ends us. Otherwise its programs would live on.
    let _unheard = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
    ]
    .map(signal);
    let mut socket = BufReader::new(stream(socket)?);
    let mut service = Service::default();
    let mut line = Vec::new();
    // A partial line means that the host is gone.
    while matches!(socket.read_until(b'\n', &mut line).await, Ok(1..)) && line.ends_with(b"\n") {
        let request = serde_json::from_slice(&line)?;
        line.clear();
        let (reply, descriptors) = match service.obey(request) {
            Ok(done) => done,
            Err(error) => (error.into(), Vec::new()),
        };
        let lent: Vec<BorrowedFd> = descriptors.iter().map(AsFd::as_fd).collect();
        socket.get_ref().writable().await?;
        answer(socket.get_ref(), &reply, &lent)?;
    }
    service.end().await;
    Ok(())
}

/// What it holds.
struct Service {
    allowed: Option<Vec<CommandLine>>,
    /// It opens one of each.
    has_socket: bool,
    has_port: bool,
    held: JoinSet<()>,
    /// Dropped when everything must end.
    host: watch::Sender<()>,
}

impl Default for Service {
    fn default() -> Self {
        Self {
            allowed: None,
            has_socket: false,
            has_port: false,
            held: JoinSet::new(),
            host: watch::Sender::new(()),
        }
    }
}

impl Service {
    fn obey(&mut self, request: Request) -> io::Result<(Reply, Vec<OwnedFd>)> {
        while self.held.try_join_next().is_some() {}
        match request {
            Request::Allow(programs) => match &self.allowed {
                None => {
                    self.allowed = Some(programs);
                    Ok((Reply::Allowed, Vec::new()))
                }
                Some(_) => Err(io::Error::other("what may be started was said before")),
            },
            Request::Start(number) => {
                let mut allowed = self.allowed.iter().flatten();
                let command = allowed.nth(number);
                let unknown = || io::Error::other("no such program may be started");
                self.start(&command.ok_or_else(unknown)?.clone())
            }
            Request::Socket(random) => {
                once(&mut self.has_socket)?;
                // It becomes the name of a folder.
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
                if !random.bytes().all(plain) {
                    return Err(io::Error::other("that is not a name for a socket"));
                }
                let (address, listener) = local::make(&random)?;
                let path = address.path().as_os_str().to_owned();
                let (theirs, life) = life()?;
                let clear = address.clear();
                let gone = self.host.subscribe();
                self.held.spawn(async move {
                    let (mut wish, _told) = life.into_split();
                    tokio::join!(clear, ended(&mut wish, gone));
                    // The host sees the end of its lifeline when it is gone.
                    drop(address);
                });
                Ok((Reply::Socket(path), vec![listener.into(), theirs.into()]))
            }
            Request::Port => {
                once(&mut self.has_port)?;
                let port = local::port(None)?;
                Ok((Reply::Port, vec![port.into()]))
            }
        }
    }

    fn start(&mut self, command: &CommandLine) -> io::Result<(Reply, Vec<OwnedFd>)> {
        let (theirs, life) = life()?;
        let mut child = command.piped().process_group(0).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = group.ok_or_else(|| io::Error::other("it has no process id"))?;
        let streams = streams(&mut child);
        self.held
            .spawn(hold(child, group, life, self.host.subscribe()));
        let mut descriptors = streams?;
        descriptors.push(theirs.into());
        let id = group.as_raw_nonzero().get().cast_unsigned();
        Ok((Reply::Started(id), descriptors))
    }

    /// Ends everything.
    async fn end(mut self) {
        drop(self.host);
        let all = async { while self.held.join_next().await.is_some() {} };
        let _ = timeout(LAST, all).await;
    }
}

/// An error if this was done before.
fn once(done: &mut bool) -> io::Result<()> {
    match std::mem::replace(done, true) {
        false => Ok(()),
        true => Err(io::Error::other("it was opened before")),
    }
}

/// Watches a program until it and its children are gone. The host closes its half of the lifeline to end the program,
/// and so does the system when the host is gone.
async fn hold(mut child: Child, group: Pid, life: Stream, gone: watch::Receiver<()>) {
    let (mut wish, mut told) = life.into_split();
    let early = tokio::select! {
        status = child.wait() => Some(status),
        () = ended(&mut wish, gone) => None,
    };
    let status = match early {
        Some(status) => status,
        None => ask(&mut child, group).await,
    };
    if let Ok(status) = status {
        // The host may be gone.
        let _ = told.write_all(&status_bytes(status)).await;
    }
    // It may have been only a launcher, like npm. The others have seen what it has.
    for last in [Signal::TERM, Signal::KILL] {
        if timeout(GRACE, left(group)).await.is_ok() {
            break;
        }
        let _ = kill_process_group(group, last);
    }
}

/// Asks a program to end, which may want to end its children. If it does not, all of them are killed.
async fn ask(child: &mut Child, group: Pid) -> io::Result<ExitStatus> {
    let _ = kill_process(group, Signal::TERM);
    if let Ok(status) = timeout(TIDY, child.wait()).await {
        return status;
    }
    let _ = kill_process_group(group, Signal::KILL);
    child.wait().await
}

/// Waits until a group whose leader has ended is empty, by polling: the system does not notify.
async fn left(group: Pid) {
    while test_kill_process_group(group).is_ok() {
        sleep(LOOK).await;
    }
}

/// Waits until the host has closed its half of a lifeline, or is gone.
async fn ended(wish: &mut OwnedReadHalf, mut gone: watch::Receiver<()>) {
    let mut nothing = [0];
    tokio::select! {
        _ = wish.read(&mut nothing) => {}
        _ = gone.changed() => {}
    }
}

/// Both ends of a lifeline: the host's and ours.
fn life() -> io::Result<(UnixStream, Stream)> {
    let (theirs, ours) = UnixStream::pair()?;
    Ok((theirs, stream(ours.into())?))
}

fn stream(socket: OwnedFd) -> io::Result<Stream> {
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(true)?;
    Stream::from_std(socket)
}

/// Our ends of a program's standard streams.
fn streams(child: &mut Child) -> io::Result<Vec<OwnedFd>> {
    let none = || io::Error::other("it has no standard streams");
    let stdin = child.stdin.take().ok_or_else(none)?.into_owned_fd()?;
    let stdout = child.stdout.take().ok_or_else(none)?.into_owned_fd()?;
    let stderr = child.stderr.take().ok_or_else(none)?.into_owned_fd()?;
    pipes::widen(&stdin);
    pipes::widen(&stdout);
    Ok(vec![stdin, stdout, stderr])
}
