//! The other end: a program that we start, or the peer on our standard input and output.
//!
//! Reading and writing do not wait for each other: the other end may do only one of them at a time.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use acp_chain_trace::read_whole;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::cli::out;
use crate::cli::run::supervise;
use crate::limits::LINE;
use crate::native::CommandLine;
use crate::system::stdio;
use crate::system::tree::Tree;
use crate::untrusted::Untrusted;

/// The maximum number of lines waiting for us.
const WAITING: usize = 1024;

/// How long the other end may take for its last words, and to end by itself if we started it.
const GRACE: Duration = Duration::from_secs(2);

/// An event from the other end.
#[derive(Debug, PartialEq)]
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
    program: Option<Program>,
    /// Lines to be written. They are all in the recording, so there are not too many.
    input: mpsc::UnboundedSender<String>,
    writes: JoinHandle<()>,
    lines: mpsc::Receiver<Came>,
    /// The rest of a batch.
    batch: std::vec::IntoIter<Value>,
}

/// A program that we started. It ends when this is dropped, with everything that it started.
struct Program {
    tree: Tree,
    /// Passes on its standard error.
    prints: JoinHandle<()>,
}

impl Wire {
    /// Starts a command, or uses our own standard streams if there is none.
    pub fn open(command: &[OsString]) -> Result<Self, String> {
        let Some((program, args)) = command.split_first() else {
            let unusable = |error| format!("standard input or output cannot be used: {error}");
            let input = stdio::input().map_err(unusable)?;
            let output = stdio::output().map_err(unusable)?;
            return Ok(Self::over(input, output, None));
        };
        let unstarted = |error: io::Error| {
            let program = Untrusted::new(program.display());
            format!("`{program}` cannot be started: {error}")
        };
        let ourselves = std::env::current_exe().map_err(unstarted)?;
        let supervisor = supervise(&ourselves).map_err(|failed| failed.error.message)?;
        let command = CommandLine {
            program: program.clone(),
            args: args.to_vec(),
            env: Vec::new(),
        };
        let allowed = supervisor.allow(vec![command]).map_err(unstarted)?;
        let startable = allowed.into_iter().next();
        let startable = startable.ok_or_else(|| unstarted(io::ErrorKind::NotFound.into()))?;
        let (words, mut printed) = mpsc::unbounded_channel::<Vec<u8>>();
        let keep = Box::new(move |bytes: &[u8]| {
            // Nobody may pass it on any more.
            let _ = words.send(bytes.to_vec());
        });
        let started = startable.start(keep).map_err(unstarted)?;
        let prints = tokio::spawn(async move {
            while let Some(bytes) = printed.recv().await {
                out::write(format_args!("{}", String::from_utf8_lossy(&bytes)));
            }
        });
        let program = Program {
            tree: started.tree,
            prints,
        };
        Ok(Self::over(started.stdout, started.stdin, Some(program)))
    }

    fn over(
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
        program: Option<Program>,
    ) -> Self {
        let (tell, lines) = mpsc::channel(WAITING);
        let (say, said) = mpsc::unbounded_channel();
        tokio::spawn(read(output, tell));
        Self {
            program,
            input: say,
            writes: tokio::spawn(write(input, said)),
            lines,
            batch: Vec::new().into_iter(),
        }
    }

    /// Sends a message. Nobody waits until it is read.
    pub fn say(&self, message: &Value) {
        // A message that it did not take, it did not answer either.
        let _ = self.input.send(format!("{message}\n"));
    }

    /// The next event.
    pub async fn hear(&mut self, patience: Option<Duration>) -> Came {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            if let Some(message) = self.batch.next() {
                return Came::Message(message);
            }
            let came = match until {
                Some(until) => match timeout_at(until, self.lines.recv()).await {
                    Ok(came) => came,
                    Err(_) => return Came::Nothing,
                },
                None => self.lines.recv().await,
            };
            match came {
                Some(Came::Message(Value::Array(batch))) => self.batch = batch.into_iter(),
                Some(came) => return came,
                None => return Came::End,
            }
        }
    }

    /// Ends a program that we started: gently first, by the end of its input. Of a peer, waits until it has read what
    /// was said; but only for a while if it does something else anyway.
    pub async fn close(self, does_as_expected: bool, patience: Option<Duration>) {
        let Self {
            program,
            input,
            writes,
            ..
        } = self;
        drop(input);
        match program {
            Some(Program { mut tree, prints }) => {
                let ended = async {
                    let _ = tree.wait().await;
                    let _ = prints.await;
                };
                let _ = timeout(GRACE, ended).await;
            }
            None => {
                let patience = match does_as_expected {
                    true => patience,
                    false => Some(GRACE),
                };
                let _ = timeout(patience.unwrap_or(Duration::MAX), writes).await;
            }
        }
    }
}

/// Writes what is said, until that ends.
async fn write(mut input: impl AsyncWrite + Unpin, mut said: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = said.recv().await {
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

async fn read(output: impl AsyncRead + Unpin, tell: mpsc::Sender<Came>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut output).take(LINE as u64 + 1);
        let came = match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() > LINE => Came::Nonsense("a line that is too long".to_owned()),
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => match read_whole(&line) {
                Ok(message) => Came::Message(message),
                Err(_) => Came::Nonsense(String::from_utf8_lossy(&line).into_owned()),
            },
        };
        if tell.send(came).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{DuplexStream, duplex, split};

    use super::*;

    /// A wire, and its other end, both of whose directions hold a byte.
    fn wire() -> (Wire, DuplexStream) {
        let (ours, theirs) = duplex(1);
        let (output, input) = split(ours);
        (Wire::over(output, input, None), theirs)
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_that_does_not_read_is_waited_for_no_longer_than_one_that_does_not_answer() {
        let (mut wire, _theirs) = wire();
        wire.say(&json!("a message that does not fit"));
        let patience = Some(Duration::from_mins(1));
        assert_eq!(wire.hear(patience).await, Came::Nothing);
        wire.close(false, None).await;
    }

    #[tokio::test]
    async fn an_end_that_reads_only_after_it_has_written_is_heard() {
        let (mut wire, theirs) = wire();
        let (output, mut input) = split(theirs);
        let count = 2 * WAITING;
        wire.say(&json!("a message that does not fit"));
        let speaks = tokio::spawn(async move {
            let lines = "1\n".repeat(count);
            input.write_all(lines.as_bytes()).await.unwrap();
            let mut heard = String::new();
            BufReader::new(output).read_line(&mut heard).await.unwrap();
            heard
        });
        for _ in 0..count {
            assert_eq!(wire.hear(None).await, Came::Message(json!(1)));
        }
        wire.close(true, None).await;
        assert_eq!(speaks.await.unwrap(), "\"a message that does not fit\"\n");
    }

    #[tokio::test]
    async fn what_no_text_can_contain_is_replaced_and_a_batch_is_taken_apart() {
        let lines = b"[1,\"\\ud800\"]\n1e999\n";
        let mut wire = Wire::over(&lines[..], tokio::io::sink(), None);
        assert_eq!(wire.hear(None).await, Came::Message(json!(1)));
        assert_eq!(wire.hear(None).await, Came::Message(json!("\u{fffd}")));
        assert_eq!(wire.hear(None).await, Came::Nonsense("1e999\n".to_owned()));
        assert_eq!(wire.hear(None).await, Came::End);
    }
}
