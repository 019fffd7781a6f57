//! The other end: a program that we start, or the peer on our standard input and output.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::limits::LINE;
use crate::untrusted::Untrusted;

/// The maximum number of lines waiting for us.
const WAITING: usize = 1024;

/// How long a program that we started may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How often to check whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// An event from the other end.
pub enum Came {
    /// A message.
    Message(Value),
    /// A line that is not a message.
    Nonsense(String),
    /// It has closed its output.
    End,
    /// Nothing, for too long.
    Nothing,
}

/// The connection to the other end, both ways.
pub struct Wire {
    child: Option<Child>,
    input: Option<ChildStdin>,
    lines: Receiver<Came>,
    /// The rest of a batch.
    batch: std::vec::IntoIter<Value>,
}

impl Wire {
    /// Starts a command, or uses our own standard streams if there is none.
    pub fn open(command: &[OsString]) -> Result<Self, String> {
        let (tell, lines) = sync_channel(WAITING);
        let (mut child, mut input) = (None, None);
        let output: Box<dyn Read + Send> = match command.split_first() {
            None => Box::new(io::stdin()),
            Some((program, args)) => {
                let started = Command::new(program)
                    .args(args)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn();
                let mut started = started.map_err(|error| {
                    let program = Untrusted::new(program.display());
                    format!("`{program}` cannot be started: {error}")
                })?;
                input = started.stdin.take();
                let output = started.stdout.take();
                child = Some(started);
                output.map_or_else(
                    || Box::new(io::empty()) as _,
                    |output| Box::new(output) as _,
                )
            }
        };
        let reads = thread::Builder::new().name("wire".to_owned());
        let reads = reads.spawn(move || read(output, &tell));
        reads.map_err(|error| format!("the other side cannot be read: {error}"))?;
        Ok(Self {
            child,
            input,
            lines,
            batch: Vec::new().into_iter(),
        })
    }

    /// Sends a message.
    pub fn say(&mut self, message: &Value) -> io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        match &mut self.input {
            Some(input) => input
                .write_all(line.as_bytes())
                .and_then(|()| input.flush()),
            None => {
                let mut output = io::stdout().lock();
                output
                    .write_all(line.as_bytes())
                    .and_then(|()| output.flush())
            }
        }
    }

    /// The next event.
    pub fn hear(&mut self, patience: Option<Duration>) -> Came {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            if let Some(message) = self.batch.next() {
                return Came::Message(message);
            }
            let came = match until {
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    self.lines.recv_timeout(left)
                }
                None => self
                    .lines
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
            };
            match came {
                Ok(Came::Message(Value::Array(batch))) => self.batch = batch.into_iter(),
                Ok(came) => return came,
                Err(RecvTimeoutError::Timeout) => return Came::Nothing,
                Err(RecvTimeoutError::Disconnected) => return Came::End,
            }
        }
    }

    /// Ends the started program: gently first, by the end of its input.
    pub fn close(mut self) {
        drop(self.input.take());
        let Some(mut child) = self.child.take() else {
            return;
        };
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            match child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn read(output: impl Read, tell: &SyncSender<Came>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = output.by_ref().take(LINE as u64 + 1);
        let came = match bounded.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() > LINE => Came::Nonsense("a line that is too long".to_owned()),
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => match serde_json::from_slice(&line) {
                Ok(message) => Came::Message(message),
                Err(_) => Came::Nonsense(String::from_utf8_lossy(&line).into_owned()),
            },
        };
        if tell.send(came).is_err() {
            return;
        }
    }
}
