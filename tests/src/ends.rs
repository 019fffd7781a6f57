//! Both ends of the program under test, as bytes: a test reads and writes as little or as much at once
//! as it likes.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use acp_chain::limits::UNREAD;
use bytes::BufMut;
use rustix::process::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::Child;
use tokio::task::JoinHandle;

use crate::chain::MANIFEST;
use crate::envelope::Message;
use crate::host;
use crate::process::peak_memory;
use crate::stand_in::StandIn;
use crate::wire::in_time;

/// What an end would let flow while the other is slow, in bytes.
const ALL: usize = 1 << 30;

/// How much a slow end reads.
const LITTLE: usize = 1000;

/// After so many messages the other way without any progress, a flow is stuck.
const STUCK: usize = 100;

/// What an end writes to.
pub type Input = Box<dyn AsyncWrite + Send + Unpin>;

/// A program between a client and an agent that the test plays.
pub struct Ends {
    /// The client's end.
    pub client: End,
    /// The agent's.
    pub agent: End,
    /// What is between them.
    pub program: Running,
}

/// The program.
pub struct Running {
    /// The agent's process.
    pub agent: Pid,
    program: Child,
    _folder: TempDir,
}

/// One of them.
pub struct End {
    /// None while something [flows](Flow).
    pub input: Option<Input>,
    /// What it reads.
    pub output: Output,
}

/// What an end reads, as little or as much at once as it likes.
pub struct Output {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    bytes: Vec<u8>,
}

/// What an end writes as fast as it can.
pub struct Flow {
    state: Arc<State>,
    task: JoinHandle<Input>,
}

#[derive(Default)]
struct State {
    /// How many lines were begun.
    lines: AtomicUsize,
    /// How many bytes were taken.
    bytes: AtomicUsize,
    stops: AtomicBool,
}

impl Ends {
    /// Past `initialize`.
    pub async fn begin(manifest: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(MANIFEST);
        std::fs::write(&path, manifest).expect("a manifest");
        let place = StandIn::new(folder.path(), "agent").expect("a socket");
        let stand_in = host::program().with_file_name("stand-in");
        let stand_in = stand_in.to_str().expect("a path in UTF-8");
        let mut command = host::run(Some(&path), place.command(stand_in));
        command
            .env("XDG_CONFIG_HOME", host::grants_native(folder.path()))
            .env("XDG_STATE_HOME", folder.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true);
        let mut program = command.spawn().expect("it starts");
        let (input, output) = (program.stdin.take(), program.stdout.take());
        let mut client = End {
            input: Some(Box::new(input.expect("its input"))),
            output: Output::of(output.expect("its output")),
        };
        let begin = r#"{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{}}"#;
        client.say(begin).await;
        let (pid, stream) = place.connected().await;
        let (output, input) = stream.into_split();
        let mut agent = End {
            input: Some(Box::new(input)),
            output: Output::of(output),
        };
        let begin = agent.output.message().await;
        let answer = begin.result("{}").concat();
        agent.say(&answer).await;
        assert!(client.output.message().await.result.is_some());
        Self {
            client,
            agent,
            program: Running {
                agent: pid,
                program,
                _folder: folder,
            },
        }
    }
}

impl Running {
    /// Checks the most memory that the program ever had, in bytes.
    ///
    /// # Panics
    /// If that was more, or the program is gone.
    pub fn is_smaller_than(&self, most: u64) {
        let id = self.program.id().expect("it runs");
        let peak = peak_memory(id).expect("its status");
        assert!(peak < most, "{} MiB of {}", peak >> 20, most >> 20);
    }
}

impl End {
    /// Sends a line.
    ///
    /// # Panics
    /// If it is not taken.
    pub async fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("nothing flows");
        let line = format!("{line}\n");
        let written = in_time("a line", input.write_all(line.as_bytes())).await;
        written.expect("the program takes it");
    }

    /// Lets these lines flow, by their numbers from 0 on, until it is stopped.
    pub fn flows(&mut self, line: impl Fn(usize) -> String + Send + 'static) -> Flow {
        let mut input = self.input.take().expect("nothing flows");
        let state = Arc::new(State::default());
        let flowing = state.clone();
        let task = tokio::spawn(async move {
            let State {
                lines,
                bytes,
                stops,
            } = &*flowing;
            while !stops.load(Relaxed) && bytes.load(Relaxed) < ALL {
                let line = line(lines.fetch_add(1, Relaxed)) + "\n";
                let mut left = line.as_bytes();
                while !left.is_empty() {
                    // Who is killed takes nothing more.
                    let Ok(taken) = input.write(left).await else {
                        return input;
                    };
                    bytes.fetch_add(taken, Relaxed);
                    left = &left[taken..];
                }
            }
            input
        });
        Flow { state, task }
    }
}

impl Flow {
    /// Sends something the other way, again and again, until nothing more flows for that. On a busy machine, a flow
    /// may make no progress for long before it is stuck; but the program reads [`UNREAD`] bytes first.
    pub async fn is_stuck(&self, mut other_way: impl AsyncFnMut()) {
        let (mut before, mut rounds) = (0, 0);
        while rounds < STUCK || before < UNREAD {
            other_way().await;
            let now = self.state.bytes.load(Relaxed);
            rounds = if now == before { rounds + 1 } else { 0 };
            before = now;
        }
        assert!(before < ALL, "all of it went somewhere");
    }

    /// Whoever lets it flow stops after the line that it is at. Gives how many there will have been.
    pub fn stop(&self) -> usize {
        self.state.stops.store(true, Relaxed);
        self.state.lines.load(Relaxed)
    }

    /// Nobody takes it any more.
    pub fn give_up(self) {
        self.task.abort();
    }

    /// Gives back what it was written to, when the last line is.
    pub async fn end(self) -> Input {
        in_time("the last line", self.task)
            .await
            .expect("it flowed")
    }
}

impl Output {
    fn of(stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            bytes: Vec::new(),
        }
    }

    /// Reads so much at most, if there is anything. Cancel safe.
    async fn read(&mut self, most: usize) {
        let mut room = (&mut self.bytes).limit(most);
        let reading = self.stream.read_buf(&mut room);
        let count = in_time("something to read", reading).await.expect("bytes");
        assert!(count > 0, "it has ended");
    }

    /// Reads a little, which has to be there.
    pub async fn sip(&mut self) {
        self.read(LITTLE).await;
    }

    /// The next message; reads as much as it needs for that, and as it finds.
    pub async fn message(&mut self) -> Message {
        let mut looked = 0;
        loop {
            let new = &self.bytes[looked..];
            if let Some(end) = new.iter().position(|byte| *byte == b'\n') {
                let rest = self.bytes.split_off(looked + end + 1);
                let line = std::mem::replace(&mut self.bytes, rest);
                let line = String::from_utf8(line).expect("text");
                return Message::parse(line.trim_end()).expect("a message");
            }
            looked = self.bytes.len();
            self.read(1 << 16).await;
        }
    }
}
