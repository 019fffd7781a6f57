//! The other end: a program that we start, or the peer on our standard input and output.
//!
//! Reading and writing are independent: the other end may do only one of them at a time.

use std::io;
use std::time::Duration;

use acp_chain_trace::read_whole;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use acp_chain_channel::limits::LINE;
use acp_chain_conductor::native::{CommandLine, Supervisor};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::stdio;
use acp_chain_system::tree::Tree;

/// The maximum number of unread lines.
const WAITING: usize = 1024;

/// How long the other end may take to read or write the rest, and to end if we started it.
const GRACE: Duration = Duration::from_secs(2);

/// An event from the other end.
#[derive(Debug, PartialEq)]
pub enum WireEvent {
    /// A message.
    Message(Value),
    /// A line that is not a message.
    Malformed(String),
    /// The other end has closed its output.
    End,
    /// No message within the time limit.
    Timeout,
}

/// The connection to the other end, both ways.
pub struct Wire {
    program: Option<Program>,
    /// Lines to be written. The recording bounds their number.
    input: mpsc::UnboundedSender<String>,
    writes: JoinHandle<()>,
    lines: mpsc::Receiver<WireEvent>,
    /// The rest of a batch.
    batch: std::vec::IntoIter<Value>,
}

/// Why there is no connection to the other end.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("standard input or output cannot be used: {0}")]
    Streams(io::Error),
    #[error("`{name}` cannot be started: {error}")]
    Program { name: String, error: io::Error },
}

/// A program that we started. Dropping this ends the program, and everything that it started.
struct Program {
    tree: Tree,
    /// Prints its standard error.
    prints: JoinHandle<()>,
}

impl Wire {
    /// Our own standard streams.
    pub fn of_process() -> Result<Self, WireError> {
        let input = stdio::input().map_err(WireError::Streams)?;
        let output = stdio::output().map_err(WireError::Streams)?;
        Ok(Self::over(input, output, None))
    }

    /// Starts a program. `print` gets its standard error.
    pub fn start(
        supervisor: &Supervisor,
        command: CommandLine,
        print: impl Fn(&[u8]) + Send + 'static,
    ) -> Result<Self, WireError> {
        let name = Untrusted::new(command.program.display()).to_string();
        let unstarted = |error| WireError::Program { name, error };
        let allowed = supervisor.allow(vec![command], 0);
        let startable = allowed.and_then(|allowed| {
            let first = allowed.into_iter().next();
            first.ok_or_else(|| io::ErrorKind::NotFound.into())
        });
        let (words, mut printed) = mpsc::unbounded_channel::<Vec<u8>>();
        let keep = Box::new(move |bytes: &[u8]| {
            // The task that prints it may have ended.
            let _ = words.send(bytes.to_vec());
        });
        let started = startable.and_then(|startable| startable.start(keep));
        let started = started.map_err(unstarted)?;
        let prints = tokio::spawn(async move {
            while let Some(bytes) = printed.recv().await {
                print(&bytes);
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
        let (sender, queued) = mpsc::unbounded_channel();
        tokio::spawn(read(output, tell));
        Self {
            program,
            input: sender,
            writes: tokio::spawn(write(input, queued)),
            lines,
            batch: Vec::new().into_iter(),
        }
    }

    /// Sends a message, without waiting until it is read.
    pub fn send(&self, message: &Value) {
        // If the other end is closed, `receive` reports it.
        let _ = self.input.send(format!("{message}\n"));
    }

    /// The next event.
    pub async fn receive(&mut self, patience: Option<Duration>) -> WireEvent {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            if let Some(message) = self.batch.next() {
                return WireEvent::Message(message);
            }
            let received = match until {
                Some(until) => match timeout_at(until, self.lines.recv()).await {
                    Ok(received) => received,
                    Err(_) => return WireEvent::Timeout,
                },
                None => self.lines.recv().await,
            };
            match received {
                Some(WireEvent::Message(Value::Array(batch))) => self.batch = batch.into_iter(),
                Some(received) => return received,
                None => return WireEvent::End,
            }
        }
    }

    /// Ends a program that we started: closes its input, and kills it after `GRACE`. For a peer, waits until it has
    /// read all messages, but at most `GRACE` if it differs from the recording.
    pub async fn close(self, is_as_recorded: bool, patience: Option<Duration>) {
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
                let patience = if is_as_recorded {
                    patience
                } else {
                    Some(GRACE)
                };
                let _ = timeout(patience.unwrap_or(Duration::MAX), writes).await;
            }
        }
    }
}

/// Writes lines, until there are no more.
async fn write(mut input: impl AsyncWrite + Unpin, mut queued: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = queued.recv().await {
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

async fn read(output: impl AsyncRead + Unpin, tell: mpsc::Sender<WireEvent>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut output).take(LINE as u64 + 1);
        let received = match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() > LINE => {
                WireEvent::Malformed("a line that is too long".to_owned())
            }
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => match read_whole(&line) {
                Ok(message) => WireEvent::Message(message),
                Err(_) => WireEvent::Malformed(String::from_utf8_lossy(&line).into_owned()),
            },
        };
        if tell.send(received).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{DuplexStream, duplex, split};

    use super::*;

    /// A wire, and its other end. Each direction has a capacity of one byte.
    fn wire() -> (Wire, DuplexStream) {
        let (ours, theirs) = duplex(1);
        let (output, input) = split(ours);
        (Wire::over(output, input, None), theirs)
    }

    #[tokio::test(start_paused = true)]
    async fn closing_does_not_wait_long_for_an_end_that_does_not_read() {
        let (mut wire, _theirs) = wire();
        wire.send(&json!("a message that does not fit"));
        let patience = Some(Duration::from_mins(1));
        assert_eq!(wire.receive(patience).await, WireEvent::Timeout);
        wire.close(false, None).await;
    }

    #[tokio::test]
    async fn an_end_that_reads_only_after_it_has_written_is_received() {
        let (mut wire, theirs) = wire();
        let (output, mut input) = split(theirs);
        let count = 2 * WAITING;
        wire.send(&json!("a message that does not fit"));
        let speaks = tokio::spawn(async move {
            let lines = "1\n".repeat(count);
            input.write_all(lines.as_bytes()).await.unwrap();
            let mut read = String::new();
            BufReader::new(output).read_line(&mut read).await.unwrap();
            read
        });
        for _ in 0..count {
            assert_eq!(wire.receive(None).await, WireEvent::Message(json!(1)));
        }
        wire.close(true, None).await;
        assert_eq!(speaks.await.unwrap(), "\"a message that does not fit\"\n");
    }

    #[tokio::test]
    async fn invalid_text_is_replaced_and_batches_are_split() {
        let lines = b"[1,\"\\ud800\"]\n1e999\n";
        let mut wire = Wire::over(&lines[..], tokio::io::sink(), None);
        assert_eq!(wire.receive(None).await, WireEvent::Message(json!(1)));
        assert_eq!(
            wire.receive(None).await,
            WireEvent::Message(json!("\u{fffd}"))
        );
        assert_eq!(
            wire.receive(None).await,
            WireEvent::Malformed("1e999\n".to_owned())
        );
        assert_eq!(wire.receive(None).await, WireEvent::End);
    }
}
