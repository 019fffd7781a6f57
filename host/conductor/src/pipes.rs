//! Reads and writes the streams of native proxies' programs.
//!
//! If a program has ended or no longer reads, its earlier output is read, and its whole process tree is ended, before
//! its failure is reported.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::task::AtomicWaker;
use tokio::time::{Sleep, sleep, timeout};

use acp_chain_channel::Failure;
use acp_chain_channel::limits::{FLOOD, LINE, UNREAD};
use acp_chain_process::{ChildIo, Process, describe};
use acp_chain_router::{HopIndex, Launch, Member, NativeBacklogs, Program};
use acp_chain_rpc::transport::{Frame, Outbox, Transport};

/// How long the output of a program, or of the agent, may take to end once it has exited or stopped reading.
pub const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long a program may read nothing while at least [`UNREAD`] bytes wait for it.
const STALL: Duration = Duration::from_secs(30);

/// An event of a native proxy.
pub enum PipeEvent {
    /// Nothing to report: it read something, or its output ended.
    Progressed,
    /// Some output was read.
    Read(HopIndex),
    /// The program has read nothing for [`STALL`], though much waits for it.
    Stalled(HopIndex),
    /// The program has ended.
    Broke(HopIndex, Failure),
}

/// Which native proxies may be read. Their messages go in both directions, so they are not read while a backlog must
/// not grow. A proxy's own backlog does not count, or the proxy might never read it.
pub struct ReadFilter {
    /// Whether there is room for more at both ends.
    pub is_room: bool,
    /// How many bytes wait for proxies.
    pub waiting: usize,
    /// The native proxies whose backlog must not grow.
    pub flooded: Vec<HopIndex>,
}

impl ReadFilter {
    fn includes(&self, index: HopIndex, backlog: usize) -> bool {
        self.is_room
            && self.flooded.iter().all(|flooded| *flooded == index)
            && self.waiting - backlog < FLOOD
    }
}

/// The end of a program: its place, its number, and how it ended if that is to be reported.
type ProgramEnd = Pin<Box<dyn Future<Output = (HopIndex, u64, Option<Failure>)> + Send>>;

/// The programs of a chain, the client's neighbour first.
pub struct Pipes {
    all: Vec<Pipe>,
    /// The programs that are being ended.
    endings: FuturesUnordered<ProgramEnd>,
    /// The next pipe to poll.
    turn: usize,
    /// How many programs were started.
    count: u64,
    /// Woken when a pipe has something to do.
    waits: Arc<AtomicWaker>,
}

struct Pipe {
    hop: HopIndex,
    launch: Launch,
    program: Option<RunningProgram>,
    /// The number of the current program among all that were started.
    count: u64,
    bell: Arc<Bell>,
    /// How many bytes were queued for the program, and whether it was read, at the last poll.
    seen: (u64, bool),
}

/// The waker of a pipe, by which pipes without anything to do are not polled.
struct Bell {
    is_rung: AtomicBool,
    waits: Arc<AtomicWaker>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
        self.waits.wake();
    }
}

impl Bell {
    fn ring(&self) {
        self.is_rung.store(true, Ordering::Release);
    }

    fn silence(&self) -> bool {
        self.is_rung.swap(false, Ordering::Acquire)
    }
}

struct RunningProgram {
    transport: Transport,
    /// Whether its output has ended.
    ended: bool,
    /// Whether its input is closed once the program has read its backlog, and its end is not reported.
    leaves: bool,
    process: Option<Process>,
    /// Ends the wait for the last output.
    last_output: Option<Pin<Box<Sleep>>>,
    /// The time by which the program must have read something.
    stall: Option<Pin<Box<Sleep>>>,
}

impl Pipes {
    /// Takes the programs from the native proxies among these.
    pub fn of(members: &mut [Member]) -> Self {
        let mut pipes = Self {
            all: Vec::new(),
            endings: FuturesUnordered::new(),
            turn: 0,
            count: 0,
            waits: Arc::default(),
        };
        for (hop, program) in programs_of(members) {
            pipes.add(hop, program);
        }
        pipes
    }

    /// Adds the program of a native proxy that joins.
    pub fn add(&mut self, hop: HopIndex, program: Program) {
        self.all.push(Pipe {
            hop,
            launch: program.launch,
            program: Some(RunningProgram::new(program.io)),
            count: self.count,
            bell: Arc::new(Bell {
                is_rung: AtomicBool::new(true),
                waits: Arc::clone(&self.waits),
            }),
            seen: (0, false),
        });
        self.count += 1;
    }

    /// Restarts a program that ended.
    pub fn launch(&mut self, hop: HopIndex) -> Result<(), Failure> {
        if let Some(pipe) = self.all.iter_mut().find(|pipe| pipe.hop == hop) {
            pipe.count = self.count;
            self.count += 1;
            pipe.program = Some(RunningProgram::new((pipe.launch)()?));
            pipe.bell.ring();
        }
        Ok(())
    }

    /// A program that has not ended.
    fn running(&self, hop: HopIndex) -> Option<&RunningProgram> {
        let pipe = self.all.iter().find(|pipe| pipe.hop == hop)?;
        pipe.program.as_ref()
    }

    /// The places of all programs.
    pub fn hops(&self) -> impl Iterator<Item = HopIndex> {
        self.all.iter().map(|pipe| pipe.hop)
    }

    /// The process id of a program, if it has a process.
    pub fn process(&self, hop: HopIndex) -> Option<u32> {
        self.running(hop)?.process.as_ref().map(Process::id)
    }

    /// Ends a program, without a report.
    pub fn end(&mut self, hop: HopIndex) {
        let pipe = self.all.iter_mut().find(|pipe| pipe.hop == hop);
        let Some(pipe) = pipe else { return };
        // The end of the current program is not reported.
        pipe.count = self.count;
        self.count += 1;
        if let Some(program) = pipe.program.take() {
            self.endings.push(Box::pin(async move {
                program.end().await;
                (hop, 0, None)
            }));
        }
    }

    /// Ends the input of a program, once it has read its backlog.
    pub fn close_input(&mut self, hop: HopIndex) {
        let pipe = self.all.iter_mut().find(|pipe| pipe.hop == hop);
        if let Some(pipe) = pipe
            && let Some(program) = &mut pipe.program
        {
            program.leaves = true;
            pipe.bell.ring();
        }
    }

    /// Removes a program, and ends it gently. Its place is free for another proxy.
    pub fn remove(&mut self, hop: HopIndex) {
        let Some(at) = self.all.iter().position(|pipe| pipe.hop == hop) else {
            return;
        };
        let pipe = self.all.remove(at);
        if let Some(program) = pipe.program {
            self.endings.push(Box::pin(async move {
                program.end_gently().await;
                (hop, pipe.count, None)
            }));
        }
    }

    /// Whether a program has not ended.
    pub fn is_running(&self, hop: HopIndex) -> bool {
        self.running(hop).is_some()
    }

    /// Ends all programs.
    pub async fn close(&mut self) {
        let hops: Vec<_> = self.all.iter().map(|pipe| pipe.hop).collect();
        for hop in hops {
            self.end(hop);
        }
        while self.endings.next().await.is_some() {}
    }

    /// The next frame of a native proxy.
    pub fn next_frame(&mut self, hop: HopIndex) -> Option<Frame> {
        let pipe = self.all.iter_mut().find(|pipe| pipe.hop == hop)?;
        let program = pipe.program.as_mut()?;
        program.transport.incoming.next_frame()
    }

    /// The next event of a native proxy. Cancel safe.
    pub async fn next(
        &mut self,
        natives: &mut NativeBacklogs<'_>,
        readable: &ReadFilter,
    ) -> PipeEvent {
        std::future::poll_fn(|context| self.poll(natives, readable, context)).await
    }

    fn poll(
        &mut self,
        natives: &mut NativeBacklogs,
        readable: &ReadFilter,
        context: &mut Context,
    ) -> Poll<PipeEvent> {
        self.waits.register(context.waker());
        while let Poll::Ready(Some((hop, count, failure))) = self.endings.poll_next_unpin(context) {
            let mut pipes = self.all.iter();
            let is_last = pipes.any(|pipe| pipe.hop == hop && pipe.count == count);
            if let Some(failure) = failure.filter(|_| is_last) {
                return Poll::Ready(PipeEvent::Broke(hop, failure));
            }
        }
        let count = self.all.len();
        for step in 0..count {
            let at = (self.turn + step) % count;
            let pipe = &mut self.all[at];
            let hop = pipe.hop;
            let Some(program) = &mut pipe.program else {
                continue;
            };
            let reads = readable.includes(hop, natives.backlog(hop));
            let Some(outbox) = natives.outbox(hop) else {
                continue;
            };
            // There may be many pipes, most of which are idle most of the time.
            let seen = (outbox.queued(), reads);
            if !pipe.bell.silence() && pipe.seen == seen {
                continue;
            }
            pipe.seen = seen;
            let waker = Waker::from(Arc::clone(&pipe.bell));
            let polled = program.poll(outbox, reads, &mut Context::from_waker(&waker));
            let Poll::Ready(done) = polled else { continue };
            // There may be more to do.
            pipe.bell.ring();
            self.turn = at + 1;
            return Poll::Ready(match done {
                PipeProgress::Wrote => PipeEvent::Progressed,
                PipeProgress::Read => PipeEvent::Read(hop),
                PipeProgress::Stalled => PipeEvent::Stalled(hop),
                PipeProgress::Ended => {
                    if let Some(program) = pipe.program.take() {
                        let (count, leaves) = (pipe.count, program.leaves);
                        self.endings.push(Box::pin(async move {
                            let failure = program.into_failure().await;
                            (hop, count, (!leaves).then_some(failure))
                        }));
                    }
                    PipeEvent::Progressed
                }
            });
        }
        Poll::Pending
    }
}

/// Takes the programs from the native proxies among these, each with the proxy's position.
pub fn programs_of(members: &mut [Member]) -> Vec<(usize, Program)> {
    let natives = members.iter_mut().enumerate();
    let programs = natives.filter_map(|(at, member)| match member {
        Member::Native(native) => Some((at, native.program.take()?)),
        Member::Component(_) => None,
    });
    programs.collect()
}

enum PipeProgress {
    Wrote,
    Read,
    Stalled,
    Ended,
}

impl RunningProgram {
    fn new(io: ChildIo) -> Self {
        Self {
            transport: Transport::lines(io.output, io.input, LINE),
            ended: false,
            leaves: false,
            process: io.process,
            last_output: None,
            stall: None,
        }
    }

    fn poll(
        &mut self,
        outbox: &mut Outbox,
        reads: bool,
        context: &mut Context,
    ) -> Poll<PipeProgress> {
        if self.ended {
            return Poll::Ready(PipeProgress::Ended);
        }
        if let Poll::Ready(written) = self.transport.outgoing.poll_write(outbox, context) {
            self.stall = None;
            if let Err(error) = written {
                tracing::debug!("a proxy no longer reads: {error}");
                self.transport.outgoing.close();
                self.wait_for_last_output();
            }
            return Poll::Ready(PipeProgress::Wrote);
        }
        if self.leaves && outbox.is_empty() {
            self.transport.outgoing.close();
        }
        // While its output is not read, the program may be blocked on writing.
        if outbox.len() < UNREAD || !reads {
            self.stall = None;
        } else {
            let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(STALL)));
            if stall.as_mut().poll(context).is_ready() {
                self.stall = None;
                return Poll::Ready(PipeProgress::Stalled);
            }
        }
        if reads && let Poll::Ready(read) = self.transport.incoming.poll_read(context) {
            return Poll::Ready(match read {
                Ok(more) => {
                    // If there is a rest, it is an incomplete line.
                    self.ended = !more;
                    PipeProgress::Read
                }
                Err(_) => PipeProgress::Ended,
            });
        }
        if self.last_output.is_none()
            && let Some(process) = &mut self.process
            && pin!(process.wait()).poll(context).is_ready()
        {
            // The program's children may keep its output open.
            self.wait_for_last_output();
        }
        match &mut self.last_output {
            // The time counts only while the output is read.
            Some(last_output) if reads => last_output
                .as_mut()
                .poll(context)
                .map(|()| PipeProgress::Ended),
            _ => Poll::Pending,
        }
    }

    fn wait_for_last_output(&mut self) {
        self.last_output
            .get_or_insert_with(|| Box::pin(sleep(LAST_OUTPUT)));
    }

    /// Closes the input, and ends the program once its output has ended, or after [`LAST_OUTPUT`].
    async fn end_gently(mut self) {
        self.transport.outgoing.close();
        let incoming = &mut self.transport.incoming;
        let rest = async {
            while incoming.read().await.is_ok_and(|more| more) {
                while incoming.next_frame().is_some() {}
            }
        };
        let _ = timeout(LAST_OUTPUT, rest).await;
        self.end().await;
    }

    async fn end(self) {
        drop(self.transport);
        if let Some(mut process) = self.process {
            let _ = process.end(false).await;
        }
    }

    /// Ends the rest of the program, and returns how it ended.
    async fn into_failure(self) -> Failure {
        let reads = self.transport.outgoing.is_open();
        drop(self.transport.outgoing);
        let mut how = if reads {
            "closed its output".to_owned()
        } else {
            "closed its input".to_owned()
        };
        let Some(mut process) = self.process else {
            return Failure::new(format!("it {how}"));
        };
        if let Ok(ended) = process.end(true).await
            && ended.ended_first
        {
            how = describe(ended.status);
        }
        let printed = process.last_words().await;
        Failure::new(format!("it {how}")).with_details(printed)
    }
}
