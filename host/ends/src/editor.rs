//! A client that launches a program that serves ACP on its standard streams, as editors do.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::Services;
use crate::{Arrival, End, Outcome};

/// The program, which is killed when this is dropped.
pub struct Editor {
    program: Child,
    /// `None` once it is closed.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    end: End,
    services: Services,
    /// How long an answer may take, or the end.
    patience: Duration,
}

/// Why a request has no answer, or the program does not end.
#[derive(Debug)]
pub enum EditorError {
    /// The program does not read.
    Input(io::Error),
    /// It sent something else than JSON.
    Malformed(serde_json::Error),
    /// It has closed its output.
    Ended,
    /// It was given enough time.
    Late,
    /// The system does not say how it ended.
    Unknown(io::Error),
}

impl Editor {
    /// Starts the program. `services` answer its requests.
    pub fn launch(
        command: &mut Command,
        services: Services,
        patience: Duration,
    ) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn()?;
        let output = program.stdout.take();
        let output = output.ok_or_else(|| io::Error::other("it has no output"))?;
        Ok(Self {
            input: program.stdin.take(),
            lines: lines(output),
            program,
            end: End::default(),
            services,
            patience,
        })
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.program.id()
    }

    /// Sends a request, and answers those of the agent until its answer arrives. `seen` gets each line, and what it is.
    pub fn ask(
        &mut self,
        method: &str,
        params: Value,
        mut seen: impl FnMut(&str, &Arrival),
    ) -> Result<Outcome, EditorError> {
        let request = self.end.request(method, params, ());
        self.send(&request)?;
        let end = Instant::now().checked_add(self.patience);
        loop {
            let line = self.line(end)?;
            let message = serde_json::from_str(&line).map_err(EditorError::Malformed)?;
            let arrival = self.end.take(message);
            seen(&line, &arrival);
            match arrival {
                Arrival::Answer((), outcome) => return Ok(outcome),
                Arrival::Request(request) => self.send(&self.services.serve(&request))?,
                Arrival::Notification(..) | Arrival::Stray(_) => {}
            }
        }
    }

    /// Kills the program.
    pub fn kill(&mut self) -> io::Result<()> {
        self.program.kill()?;
        self.program.wait().map(drop)
    }

    /// Disconnects, and waits until the program has ended.
    pub fn close(&mut self) -> Result<ExitStatus, EditorError> {
        self.input = None;
        let end = Instant::now().checked_add(self.patience);
        loop {
            match self.line(end) {
                Ok(_) => {}
                Err(EditorError::Ended) => break,
                Err(error) => return Err(error),
            }
        }
        self.program.wait().map_err(EditorError::Unknown)
    }

    /// The next line. Without an end, one is waited for as long as it takes.
    fn line(&self, end: Option<Instant>) -> Result<String, EditorError> {
        let left = end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        });
        let line = self.lines.recv_timeout(left);
        line.map_err(|error| match error {
            RecvTimeoutError::Disconnected => EditorError::Ended,
            RecvTimeoutError::Timeout => EditorError::Late,
        })
    }

    fn send(&mut self, message: &Value) -> Result<(), EditorError> {
        let input = self.input.as_mut().ok_or(EditorError::Ended)?;
        let sent = writeln!(input, "{message}").and_then(|()| input.flush());
        sent.map_err(EditorError::Input)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It has ended unless something failed.
        let _ = self.kill();
    }
}

/// The lines of an output, read on a thread of their own, so that waiting for one can end.
pub fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}
