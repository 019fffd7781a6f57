//! The programs of native proxies: their streams are read and written here.
//!
//! A program that has ended, or takes nothing any more, is ended as a whole before anybody hears
//! that it broke; what it said before is read first.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{Sleep, sleep, timeout};

use super::ChildIo;
use super::hop::Member;
use super::native_peer::{Launch, Program};
use super::route::HopIndex;
use super::start::Reader;
use crate::channel::Failure;
use crate::limits::FLOOD;
use crate::native::{self, Process};
use crate::rpc::{Frame, LineReader, Outbox};

/// How long the output of a program may take to end that has exited or reads nothing any more; also
/// that of the agent.
pub const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long a program may take nothing while too much waits for it.
const STALL: Duration = Duration::from_secs(30);

/// What happened to a native proxy.
pub enum Happened {
    /// It took something.
    Wrote,
    /// There is more of what it says.
    Read(HopIndex),
    /// It takes nothing, though much waits for it.
    Stalled(HopIndex),
    /// Its program has ended.
    Broke(HopIndex, Failure),
}

/// What became of which program, by its place and its count.
type Ending = Pin<Box<dyn Future<Output = (HopIndex, u64, Option<Failure>)> + Send>>;

/// The programs of a chain, the client's neighbour first.
pub struct Pipes {
    all: Vec<Pipe>,
    /// Programs that are being ended, and why, if anybody is to hear of it.
    endings: FuturesUnordered<Ending>,
    message_limit: usize,
    /// Whose turn it is.
    turn: usize,
    /// How many programs there ever were.
    count: u64,
}

struct Pipe {
    hop: HopIndex,
    launch: Launch,
    program: Option<Running>,
    /// Which one it is, of all that there ever were.
    count: u64,
}

struct Running {
    /// None when it takes nothing any more.
    input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    unflushed: bool,
    reader: Reader,
    /// Whether it has said all.
    ended: bool,
    /// Whether it is to go when it has taken what waits for it, and nobody is to hear of it.
    leaves: bool,
    process: Option<Process>,
    /// Until when its last output is waited for.
    last_output: Option<Pin<Box<Sleep>>>,
    /// Until when it has to take something.
    stall: Option<Pin<Box<Sleep>>>,
}

impl Pipes {
    /// Takes the programs from the native proxies among these.
    pub fn of(members: &mut [Member], message_limit: usize) -> Self {
        let mut pipes = Self {
            all: Vec::new(),
            endings: FuturesUnordered::new(),
            message_limit,
            turn: 0,
            count: 0,
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
            program: Some(Running::new(program.io, self.message_limit)),
            count: self.count,
        });
        self.count += 1;
    }

    /// Starts another program in the place of one that ended.
    pub fn launch(&mut self, hop: HopIndex) -> Result<(), Failure> {
        let limit = self.message_limit;
        if let Some(pipe) = self.all.iter_mut().find(|pipe| pipe.hop == hop) {
            pipe.count = self.count;
            self.count += 1;
            pipe.program = Some(Running::new((pipe.launch)()?, limit));
        }
        Ok(())
    }

    /// Ends a program of which nobody wants to hear any more.
    pub fn end(&mut self, hop: HopIndex) {
        let pipe = self.all.iter_mut().find(|pipe| pipe.hop == hop);
        let Some(pipe) = pipe else { return };
        // What is known of it from before does not matter any more.
        pipe.count = self.count;
        self.count += 1;
        if let Some(program) = pipe.program.take() {
            self.endings.push(Box::pin(async move {
                program.end().await;
                (hop, 0, None)
            }));
        }
    }

    /// Lets a program go: its input ends when it has taken what waits for it.
    pub fn let_go(&mut self, hop: HopIndex) {
        let pipe = self.all.iter_mut().find(|pipe| pipe.hop == hop);
        if let Some(program) = pipe.and_then(|pipe| pipe.program.as_mut()) {
            program.leaves = true;
        }
    }

    /// Lets a program go for good, which has taken all that waited for it: its place is another's.
    pub fn dismiss(&mut self, hop: HopIndex) {
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

    /// Whether there is more to be read of a program.
    pub fn is_running(&self, hop: HopIndex) -> bool {
        let pipe = self.all.iter().find(|pipe| pipe.hop == hop);
        pipe.is_some_and(|pipe| pipe.program.is_some())
    }

    /// Ends all programs.
    pub async fn close(&mut self) {
        let hops: Vec<_> = self.all.iter().map(|pipe| pipe.hop).collect();
        for hop in hops {
            self.end(hop);
        }
        while self.endings.next().await.is_some() {}
    }

    /// What a native proxy has said.
    pub fn next_frame(&mut self, hop: HopIndex) -> Option<Frame> {
        let pipe = self.all.iter_mut().find(|pipe| pipe.hop == hop)?;
        pipe.program.as_mut()?.reader.next_frame()
    }

    /// Waits for anything that happens to a native proxy. `reads` says whether there is room for
    /// what it says. Cancel safe.
    pub async fn next(
        &mut self,
        outboxes: &mut [(HopIndex, &mut Outbox)],
        reads: &[(HopIndex, bool)],
    ) -> Happened {
        std::future::poll_fn(|context| self.poll(outboxes, reads, context)).await
    }

    fn poll(
        &mut self,
        outboxes: &mut [(HopIndex, &mut Outbox)],
        reads: &[(HopIndex, bool)],
        context: &mut Context,
    ) -> Poll<Happened> {
        while let Poll::Ready(Some((hop, count, failure))) = self.endings.poll_next_unpin(context) {
            let mut pipes = self.all.iter();
            let is_last = pipes.any(|pipe| pipe.hop == hop && pipe.count == count);
            if let Some(failure) = failure.filter(|_| is_last) {
                return Poll::Ready(Happened::Broke(hop, failure));
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
            let outbox = outboxes.iter_mut().find(|(of, _)| *of == hop);
            let Some((_, outbox)) = outbox else { continue };
            let reads = reads.iter().any(|(of, reads)| *of == hop && *reads);
            let Poll::Ready(done) = program.poll(outbox, reads, context) else {
                continue;
            };
            self.turn = at + 1;
            return Poll::Ready(match done {
                Done::Wrote => Happened::Wrote,
                Done::Read => Happened::Read(hop),
                Done::Stalled => Happened::Stalled(hop),
                Done::Ended => {
                    if let Some(program) = pipe.program.take() {
                        let (count, leaves) = (pipe.count, program.leaves);
                        self.endings.push(Box::pin(async move {
                            let failure = program.into_failure().await;
                            (hop, count, Some(failure).filter(|_| !leaves))
                        }));
                    }
                    Happened::Wrote
                }
            });
        }
        Poll::Pending
    }
}

/// Takes the programs from the native proxies among these, each with where that stands among them.
pub fn programs_of(members: &mut [Member]) -> Vec<(usize, Program)> {
    let natives = members.iter_mut().enumerate();
    let programs = natives.filter_map(|(at, member)| match member {
        Member::Native(native) => Some((at, native.program.take()?)),
        Member::Component(_) => None,
    });
    programs.collect()
}

enum Done {
    Wrote,
    Read,
    Stalled,
    Ended,
}

impl Running {
    fn new(link: ChildIo, message_limit: usize) -> Self {
        Self {
            input: Some(link.input),
            unflushed: false,
            reader: LineReader::new(link.output, message_limit),
            ended: false,
            leaves: false,
            process: link.process,
            last_output: None,
            stall: None,
        }
    }

    fn poll(&mut self, outbox: &mut Outbox, reads: bool, context: &mut Context) -> Poll<Done> {
        if self.ended {
            return Poll::Ready(Done::Ended);
        }
        if let Some(written) = self.poll_write(outbox, context) {
            self.stall = None;
            if let Err(error) = written {
                tracing::debug!("a proxy takes nothing any more: {error}");
                self.input = None;
                self.wait_for_last_output();
            }
            return Poll::Ready(Done::Wrote);
        }
        if self.leaves && outbox.is_empty() {
            self.input = None;
        }
        if outbox.len() >= FLOOD {
            let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(STALL)));
            if stall.as_mut().poll(context).is_ready() {
                self.stall = None;
                return Poll::Ready(Done::Stalled);
            }
        }
        if reads && let Poll::Ready(filled) = pin!(self.reader.fill()).poll(context) {
            return Poll::Ready(match filled {
                Ok(more) => {
                    // What is left then is half a line.
                    self.ended = !more;
                    Done::Read
                }
                Err(_) => Done::Ended,
            });
        }
        if self.last_output.is_none()
            && let Some(process) = &mut self.process
            && pin!(process.wait()).poll(context).is_ready()
        {
            // What it started may keep its output open.
            self.wait_for_last_output();
        }
        match &mut self.last_output {
            // Otherwise it is others that take their time with what it said.
            Some(last_output) if reads => last_output.as_mut().poll(context).map(|()| Done::Ended),
            _ => Poll::Pending,
        }
    }

    /// Writes some of what waits, or flushes when nothing does.
    fn poll_write(
        &mut self,
        outbox: &mut Outbox,
        context: &mut Context,
    ) -> Option<std::io::Result<()>> {
        let input = self.input.as_mut()?;
        if !outbox.is_empty() {
            return match pin!(input.write_buf(outbox)).poll(context) {
                Poll::Ready(Ok(0)) => Some(Err(std::io::ErrorKind::WriteZero.into())),
                Poll::Ready(written) => {
                    self.unflushed = true;
                    Some(written.map(drop))
                }
                Poll::Pending => None,
            };
        }
        if self.unflushed
            && let Poll::Ready(flushed) = pin!(input.flush()).poll(context)
        {
            self.unflushed = false;
            return flushed.err().map(Err);
        }
        None
    }

    fn wait_for_last_output(&mut self) {
        self.last_output
            .get_or_insert_with(|| Box::pin(sleep(LAST_OUTPUT)));
    }

    /// Ends it when it has said all, or has had time to.
    async fn end_gently(mut self) {
        self.input = None;
        let rest = async {
            while self.reader.fill().await.is_ok_and(|more| more) {
                while self.reader.next_frame().is_some() {}
            }
        };
        let _ = timeout(LAST_OUTPUT, rest).await;
        self.end().await;
    }

    async fn end(self) {
        drop(self.input);
        if let Some(mut process) = self.process {
            let _ = process.end(false).await;
        }
    }

    /// Ends what is left of the program; says what became of it.
    async fn into_failure(self) -> Failure {
        let reads = self.input.is_some();
        drop(self.input);
        let mut how = match reads {
            true => "closed its output".to_owned(),
            false => "closed its input".to_owned(),
        };
        let Some(mut process) = self.process else {
            return Failure::new(format!("it {how}"));
        };
        if let Ok(ended) = process.end(true).await
            && ended.by_itself
        {
            how = native::describe(ended.status);
        }
        let printed = process.last_words().await;
        Failure::new(format!("it {how}")).with_details(printed)
    }
}
