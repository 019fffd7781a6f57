//! Both ends of the program under test, as bytes: a test chooses how much to read and write at once.

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

/// The most bytes that an end writes while the other is slow.
const ALL: usize = 1 << 30;

/// How many bytes a slow end reads.
const LITTLE: usize = 1000;

/// After so many messages in the other direction without any progress, a flow is stuck.
const STUCK: usize = 100;

/// The writer of an end.
pub type Input = Box<dyn AsyncWrite + Send + Unpin>;

/// A program between a client and an agent that the test plays.
pub struct Ends {
    /// The client's end.
    pub client: End,
    /// The agent's end.
    pub agent: End,
    /// The program between the ends.
    pub program: RunningProgram,
}

/// The running program.
pub struct RunningProgram {
    /// The agent's process.
    pub agent: Pid,
    program: Child,
    _folder: TempDir,
}

/// One end.
pub struct End {
    /// The writer; none while a [`Flow`] uses it.
    pub input: Option<Input>,
    /// The reader.
    pub output: Output,
}

/// The reader of an end, which reads as little or as much at once as a test needs.
pub struct Output {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    bytes: Vec<u8>,
}

/// Lines that an end writes as fast as it can.
pub struct Flow {
    state: Arc<State>,
    task: JoinHandle<Input>,
}

#[derive(Default)]
struct State {
    /// The number of lines begun.
    lines: AtomicUsize,
    /// The number of bytes written.
    bytes: AtomicUsize,
    stops: AtomicBool,
}

impl Ends {
    /// Starts the program with this manifest, and initializes it.
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
        let mut program = command.spawn().expect("the program starts");
        let (input, output) = (program.stdin.take(), program.stdout.take());
        let mut client = End {
            input: Some(Box::new(input.expect("a pipe"))),
            output: Output::of(output.expect("a pipe")),
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
            program: RunningProgram {
                agent: pid,
                program,
                _folder: folder,
            },
        }
    }
}

impl RunningProgram {
    /// Checks that the program's peak memory is below `most` bytes.
    ///
    /// # Panics
    /// If it is not, or the program has ended.
    pub fn is_smaller_than(&self, most: u64) {
        let id = self.program.id().expect("the program runs");
        let peak = peak_memory(id).expect("a status");
        assert!(peak < most, "{} MiB of {}", peak >> 20, most >> 20);
    }
}

impl End {
    /// Sends a line.
    ///
    /// # Panics
    /// If the program does not read it.
    pub async fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("nothing flows");
        let line = format!("{line}\n");
        let written = in_time("a line", input.write_all(line.as_bytes())).await;
        written.expect("the program reads it");
    }

    /// Writes these lines, by their numbers from 0, until the flow is stopped.
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
                    // A killed program reads nothing more.
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
    /// Sends messages in the other direction until they cause no more progress of the flow. On a busy machine, a flow
    /// may make no progress for long before it is stuck; but the program reads [`UNREAD`] bytes first.
    pub async fn is_stuck(&self, mut other_way: impl AsyncFnMut()) {
        let (mut before, mut rounds) = (0, 0);
        while rounds < STUCK || before < UNREAD {
            other_way().await;
            let now = self.state.bytes.load(Relaxed);
            rounds = if now == before { rounds + 1 } else { 0 };
            before = now;
        }
        assert!(before < ALL, "the flow was never stuck");
    }

    /// Stops the flow after the current line. Returns the number of lines, including that one.
    pub fn stop(&self) -> usize {
        self.state.stops.store(true, Relaxed);
        self.state.lines.load(Relaxed)
    }

    /// Aborts the flow, even within a line.
    pub fn give_up(self) {
        self.task.abort();
    }

    /// Returns the writer after the last line.
    pub async fn end(self) -> Input {
        in_time("the last line", self.task)
            .await
            .expect("the writer")
    }
}

impl Output {
    fn of(stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            bytes: Vec::new(),
        }
    }

    /// Waits for bytes, and reads at most `most`. Cancel safe.
    async fn read(&mut self, most: usize) {
        let mut room = (&mut self.bytes).limit(most);
        let reading = self.stream.read_buf(&mut room);
        let count = in_time("something to read", reading).await.expect("bytes");
        assert!(count > 0, "the output ended");
    }

    /// Reads a few bytes, which have to come.
    pub async fn sip(&mut self) {
        self.read(LITTLE).await;
    }

    /// The next message; may read beyond its end.
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
