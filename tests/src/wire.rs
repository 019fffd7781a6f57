//! One end of a JSON-RPC connection that a test drives by hand: as the client in front of a
//! chain, or as the agent behind one, over pipes or in memory.
//!
//! What always holds:
//! - Sending never waits. Lines are queued and written by a task of their own, so a test cannot
//!   deadlock against a program that is itself busy writing.
//! - Reading happens only while the test reads: a test that does not is a slow reader.
//! - Nothing hangs for ever: a wait of more than [`WATCHDOG`] panics and prints the transcript.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::envelope::{self, Message};
use crate::transcript::{Direction, Transcript};

/// How long a test waits for anything before it fails. Far more than anything takes: it is there
/// to end a test that hangs, not to measure.
pub const WATCHDOG: Duration = Duration::from_mins(2);

/// Waits, but not for ever.
///
/// # Panics
/// After [`WATCHDOG`]: with what was waited for, and with the transcript.
pub async fn watched<F: Future>(transcript: &Transcript, what: &str, wait: F) -> F::Output {
    tokio::time::timeout(WATCHDOG, wait)
        .await
        .unwrap_or_else(|elapsed| panic!("{what}: {elapsed}; the transcript:\n{transcript}"))
}

/// The same where there is no transcript.
///
/// # Panics
/// After [`WATCHDOG`], with what was waited for.
pub async fn in_time<F: Future>(what: &str, wait: F) -> F::Output {
    let done = tokio::time::timeout(WATCHDOG, wait).await;
    done.unwrap_or_else(|elapsed| panic!("{what}: {elapsed}"))
}

/// What answers the other side: it is given each of its requests and notifications, and returns
/// the lines to send.
type Answering = Box<dyn FnMut(&Message) -> Vec<String> + Send>;

/// One end of a connection.
pub struct Wire {
    end: &'static str,
    transcript: Transcript,
    reader: BufReader<Pin<Box<dyn AsyncRead + Send>>>,
    /// The part of a line that was read so far.
    partial: Vec<u8>,
    /// None once the writing side is closed.
    outgoing: Option<mpsc::UnboundedSender<Vec<u8>>>,
    answering: Answering,
    /// Messages that came while another was waited for.
    passed: VecDeque<Message>,
    requests: u64,
}

impl Wire {
    /// An end that reads and writes there, and that is called so in the transcript. Call it
    /// within a tokio runtime.
    pub fn new(
        end: &'static str,
        transcript: &Transcript,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Self {
        let (outgoing, queue) = mpsc::unbounded_channel();
        tokio::spawn(write(queue, Box::pin(writer)));
        Self {
            end,
            transcript: transcript.clone(),
            reader: BufReader::with_capacity(1 << 16, Box::pin(reader)),
            partial: Vec::new(),
            outgoing: Some(outgoing),
            answering: Box::new(|_| Vec::new()),
            passed: VecDeque::new(),
            requests: 0,
        }
    }

    /// The same over one stream that goes both ways, such as half of a `tokio::io::duplex`.
    pub fn over(
        end: &'static str,
        transcript: &Transcript,
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
    ) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::new(end, transcript, reader, writer)
    }

    /// Shows every request and notification that is read from now on to this, and sends the
    /// lines it returns: see [`Message::result`] and [`Message::error`]. Without it nothing is
    /// answered.
    #[must_use]
    pub fn answering(
        mut self,
        answering: impl FnMut(&Message) -> Vec<String> + Send + 'static,
    ) -> Self {
        self.answering = Box::new(answering);
        self
    }

    /// Sends a line, whatever it holds; the line feed is added.
    pub fn send(&mut self, line: impl Into<String>) {
        let line = line.into();
        self.transcript
            .record(self.end, Direction::Sent, line.clone());
        let mut bytes = line.into_bytes();
        bytes.push(b'\n');
        self.queue(bytes);
    }

    /// Sends these lines, such as those that answer a request.
    pub fn send_all(&mut self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.send(line));
    }

    /// Sends exactly these bytes: what is not UTF-8, or a line without its end.
    pub fn send_bytes(&mut self, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        let shown = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        self.transcript.record(self.end, Direction::Sent, shown);
        self.queue(bytes);
    }

    /// Sends this byte so many times, as part of a line. The transcript does not have it.
    pub fn send_repeated(&mut self, byte: u8, count: usize) {
        const PIECE: usize = 1 << 20;
        let mut left = count;
        while left > 0 {
            let piece = left.min(PIECE);
            self.queue(vec![byte; piece]);
            left -= piece;
        }
    }

    /// Sends a notification; `params` is JSON text.
    pub fn notify(&mut self, method: &str, params: &str) {
        self.send(envelope::notification(method, params));
    }

    /// Sends a request under the next id of this end (1, 2, …), and returns the id.
    pub fn ask(&mut self, method: &str, params: &str) -> String {
        self.requests += 1;
        let id = self.requests.to_string();
        self.send(envelope::request(&id, method, params));
        id
    }

    /// Sends a request as [`ask`](Self::ask) does, and waits for its answer.
    pub async fn request(&mut self, method: &str, params: &str) -> Message {
        let id = self.ask(method, params);
        self.response(&id).await
    }

    /// The answer to the request with that id, spelt so. Messages that come before it are kept
    /// for [`receive`](Self::receive).
    ///
    /// # Panics
    /// If the connection ends before it comes, or if what comes is not a message.
    pub async fn response(&mut self, id: &str) -> Message {
        let answers = |message: &Message| message.answers(id);
        if let Some(at) = self.passed.iter().position(answers)
            && let Some(message) = self.passed.remove(at)
        {
            return message;
        }
        loop {
            let Some(message) = self.read().await else {
                self.fail(&format!("the end came before the answer to {id}"));
            };
            if message.answers(id) {
                return message;
            }
            self.passed.push_back(message);
        }
    }

    /// The next message that has not been returned yet; none at the end of the connection. A
    /// request or notification has been shown to the closure of
    /// [`answering`](Self::answering) before.
    ///
    /// # Panics
    /// If what comes is not a message.
    pub async fn receive(&mut self) -> Option<Message> {
        match self.passed.pop_front() {
            Some(message) => Some(message),
            None => self.read().await,
        }
    }

    /// The next line, as it came and unanswered; none at the end of the connection. A last line
    /// without a line feed counts.
    ///
    /// # Panics
    /// If the line is not UTF-8.
    pub async fn line(&mut self) -> Option<String> {
        let line = match String::from_utf8(self.bytes().await?) {
            Ok(line) => line,
            Err(error) => self.fail(&format!("a line that is not UTF-8: {error}")),
        };
        self.transcript
            .record(self.end, Direction::Received, line.clone());
        Some(line)
    }

    /// The same, whatever it holds. The transcript does not have it.
    pub async fn bytes(&mut self) -> Option<Vec<u8>> {
        let reading = self.reader.read_until(b'\n', &mut self.partial);
        let what = format!("a line at the {}", self.end);
        // An error of reading is the other side's death: an end like any other.
        let _ = watched(&self.transcript, &what, reading).await;
        if self.partial.is_empty() {
            return None;
        }
        let mut bytes = std::mem::take(&mut self.partial);
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Some(bytes)
    }

    /// Ends what this end sends, after all that is queued.
    pub fn close(&mut self) {
        self.outgoing = None;
    }

    /// Ends both directions at once, as the system does for a process that is killed.
    pub fn hang_up(&mut self) {
        self.close();
        self.reader = BufReader::new(Box::pin(tokio::io::empty()));
    }

    /// Reads, and answers, until the other side ends the connection; then ends it here too, as
    /// an agent does that exits. Returns the messages that had not been returned yet.
    pub async fn serve(mut self) -> Vec<Message> {
        while let Some(message) = self.read().await {
            self.passed.push_back(message);
        }
        self.passed.into()
    }

    /// Ends the connection here, and reads until the other side has ended it too. Returns the
    /// messages that had not been returned yet.
    pub async fn finish(mut self) -> Vec<Message> {
        self.close();
        self.serve().await
    }

    /// What crossed the wire so far.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    async fn read(&mut self) -> Option<Message> {
        let line = self.line().await?;
        let message = match Message::parse(line) {
            Ok(message) => message,
            Err(error) => self.fail(&format!("a line that is not a message: {error}")),
        };
        if message.method.is_some() {
            for line in (self.answering)(&message) {
                self.send(line);
            }
        }
        Some(message)
    }

    fn queue(&mut self, bytes: Vec<u8>) {
        // A reader that is gone is not a failure here: the test sees the end of the connection.
        if let Some(outgoing) = &self.outgoing {
            let _ = outgoing.send(bytes);
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{}: {what}; the transcript:\n{}", self.end, self.transcript)
    }
}

/// Writes what is queued until the queue ends, then closes the writer.
async fn write(
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    mut writer: Pin<Box<dyn AsyncWrite + Send>>,
) {
    while let Some(bytes) = queue.recv().await {
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
        if queue.is_empty() && writer.flush().await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

#[cfg(test)]
mod tests;
