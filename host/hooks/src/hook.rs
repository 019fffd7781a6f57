//! The client that agents start for each event: it forwards what the agent reports to the host of this run, and ends as
//! the host answers.
//!
//! Whatever fails, it ends with code 2 and says why in one line on standard error, by which all agents with such hooks
//! refuse. This file uses only the standard library and `wire`, since it is compiled alone, too (`client/main.rs`); the
//! program `acp-chain hook` does the same.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fmt, thread};

use crate::wire::{Answer, Header, LONGEST_LINE, LONGEST_REPORT, SOCKET, TOKEN};

/// How long the client waits for its report and the answer: less than agents wait for the client.
pub const PATIENCE: Duration = Duration::from_secs(3500);

/// The exit code of a refusal.
const REFUSED: u8 = 2;

/// The longest answer: a line, and both outputs.
const LONGEST_ANSWER: usize = LONGEST_LINE + 2 * LONGEST_REPORT;

/// Why there is no answer.
#[derive(Debug)]
enum NoAnswer {
    Words,
    Variable(&'static str),
    Report(io::Error),
    TooLong,
    Host(PathBuf, io::Error),
    Cut,
    Wait(io::Error),
    Output(io::Error),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => to.write_str("a hook's client is started with a dialect and an event"),
            Self::Variable(name) => write!(
                to,
                "the variable {name} is not set; `acp-chain run` sets it for the agent that it starts"
            ),
            Self::Report(error) => write!(to, "the agent's report cannot be read: {error}"),
            Self::TooLong => write!(
                to,
                "the agent's report is longer than {LONGEST_REPORT} bytes"
            ),
            Self::Host(path, error) => write!(
                to,
                "{} cannot be asked: {error}; its `acp-chain run` may have ended",
                path.display()
            ),
            Self::Cut => to.write_str("`acp-chain run` gave no whole answer; its log says why"),
            Self::Wait(error) => write!(
                to,
                "no answer within {} seconds: {error}",
                PATIENCE.as_secs()
            ),
            Self::Output(error) => write!(to, "the answer cannot be written: {error}"),
        }
    }
}

/// Reports the event that these two words name, a dialect and an event, with standard input as the agent's report.
/// `connect` connects to the host's socket.
#[expect(clippy::disallowed_methods, reason = "the agent reads it")]
pub fn main<S: Read + Write + 'static>(
    words: impl IntoIterator<Item = OsString>,
    connect: fn(&Path) -> io::Result<S>,
) -> ExitCode {
    let answer = Call::new(words).and_then(|call| {
        let answer = within(PATIENCE, move || call.ask(io::stdin(), connect));
        answer.unwrap_or_else(|error| Err(NoAnswer::Wait(error)))
    });
    ExitCode::from(end(answer, io::stdout(), io::stderr()))
}

/// What `work` returns within this time.
fn within<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        // Nothing waits for what is too late.
        let _ = sender.send(work());
    })?;
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    receiver.recv_timeout(time).map_err(late)
}

/// An event, and the host to report it to.
struct Call {
    dialect: String,
    event: String,
    socket: PathBuf,
    token: String,
}

impl Call {
    /// The host is that of our environment.
    fn new(words: impl IntoIterator<Item = OsString>) -> Result<Self, NoAnswer> {
        let mut texts = words.into_iter().map(OsString::into_string);
        let (Some(Ok(dialect)), Some(Ok(event)), None) = (texts.next(), texts.next(), texts.next())
        else {
            return Err(NoAnswer::Words);
        };
        let variable = |name: &'static str| env::var(name).map_err(|_| NoAnswer::Variable(name));
        Ok(Self {
            dialect,
            event,
            socket: variable(SOCKET)?.into(),
            token: variable(TOKEN)?,
        })
    }

    fn ask<S: Read + Write>(
        self,
        report: impl Read,
        connect: impl FnOnce(&Path) -> io::Result<S>,
    ) -> Result<Answer, NoAnswer> {
        let mut text = Vec::new();
        let mut bounded = report.take(LONGEST_REPORT as u64 + 1);
        bounded.read_to_end(&mut text).map_err(NoAnswer::Report)?;
        if text.len() > LONGEST_REPORT {
            return Err(NoAnswer::TooLong);
        }
        let header = Header {
            token: self.token,
            dialect: self.dialect,
            event: self.event,
            length: text.len(),
        };
        let exchanged = connect(&self.socket).and_then(|host| exchange(host, &header, &text));
        let answer = exchanged.map_err(|error| NoAnswer::Host(self.socket, error))?;
        Answer::decode(&answer).ok_or(NoAnswer::Cut)
    }
}

/// Sends a report, and reads until the host disconnects.
fn exchange(mut host: impl Read + Write, header: &Header, report: &[u8]) -> io::Result<String> {
    host.write_all(header.line().as_bytes())?;
    host.write_all(report)?;
    io::read_to_string(host.take(LONGEST_ANSWER as u64))
}

/// Prints the answer. Returns the exit code.
fn end(answer: Result<Answer, NoAnswer>, mut out: impl Write, mut err: impl Write) -> u8 {
    let code = answer.and_then(|answer| {
        let printed = print(&answer, &mut out, &mut err);
        printed.map(|()| answer.code).map_err(NoAnswer::Output)
    });
    code.unwrap_or_else(|why| {
        // The exit code says it, too.
        let _ = err.write_all(format!("acp-chain: no decision, refused: {why}\n").as_bytes());
        REFUSED
    })
}

fn print(answer: &Answer, out: &mut impl Write, err: &mut impl Write) -> io::Result<()> {
    out.write_all(answer.stdout.as_bytes())?;
    out.flush()?;
    err.write_all(answer.stderr.as_bytes())
}

#[cfg(all(test, unix))]
mod tests;
