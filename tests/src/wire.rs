//! One end of a JSON-RPC connection that a test drives by hand: as the client in front of a
//! chain, or as the agent behind one, over pipes or in memory.
//!
//! Guarantees:
//! - Sending never waits. A separate task writes the queued lines, so a test cannot deadlock with
//!   a program that is busy writing.
//! - Reading happens only while the test reads: a test that does not read is a slow reader.
//! - Nothing hangs for ever: a wait of more than [`WATCHDOG`] panics and prints the transcript.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::envelope::{self, Message};
use crate::transcript::{Direction, Transcript};

/// The longest wait before a test fails. It is far more than any wait should take: it ends a test
/// that hangs, and measures nothing.
pub const WATCHDOG: Duration = Duration::from_mins(2);

/// Waits, but not for ever.
///
/// # Panics
/// After [`WATCHDOG`], with the name of the awaited event and the transcript.
pub async fn watched<F: Future>(transcript: &Transcript, what: &str, wait: F) -> F::Output {
    tokio::time::timeout(WATCHDOG, wait)
        .await
        .unwrap_or_else(|elapsed| panic!("{what}: {elapsed}; the transcript:\n{transcript}"))
}

/// Like [`watched`], without a transcript.
///
/// # Panics
/// After [`WATCHDOG`], with the name of the awaited event.
pub async fn in_time<F: Future>(what: &str, wait: F) -> F::Output {
    let done = tokio::time::timeout(WATCHDOG, wait).await;
    done.unwrap_or_else(|elapsed| panic!("{what}: {elapsed}"))
}

/// Answers the other side: takes each of its requests and notifications, and returns the lines to
/// send.
type Responder = Box<dyn FnMut(&Message) -> Vec<String> + Send>;

/// One end of a connection.
pub struct Wire {
    end: &'static str,
    transcript: Transcript,
    reader: BufReader<Pin<Box<dyn AsyncRead + Send>>>,
    /// The part of a line read so far.
    partial: Vec<u8>,
    /// None once the writing side is closed.
    outgoing: Option<mpsc::UnboundedSender<Vec<u8>>>,
    answering: Responder,
    /// Messages received while waiting for another.
    passed: VecDeque<Message>,
    requests: u64,
}

impl Wire {
    /// An end over this reader and writer, named `end` in the transcript. Call this within a tokio
    /// runtime.
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

    /// Like [`new`](Self::new), over one bidirectional stream, such as half of a `tokio::io::duplex`.
    pub fn over(
        end: &'static str,
        transcript: &Transcript,
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
    ) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::new(end, transcript, reader, writer)
    }

    /// Calls `answering` with every request and notification that is read from now on, and sends the
    /// returned lines: see [`Message::result`] and [`Message::error`]. Without it, requests get no
    /// answer.
    #[must_use]
    pub fn answering(
        mut self,
        answering: impl FnMut(&Message) -> Vec<String> + Send + 'static,
    ) -> Self {
        self.answering = Box::new(answering);
        self
    }

    /// Sends any text as a line, with a line feed added.
    pub fn send(&mut self, line: impl Into<String>) {
        let line = line.into();
        self.transcript
            .record(self.end, Direction::Sent, line.clone());
        let mut bytes = line.into_bytes();
        bytes.push(b'\n');
        self.queue(bytes);
    }

    /// Sends these lines, such as the answer to a request.
    pub fn send_all(&mut self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.send(line));
    }

    /// Sends exactly these bytes, such as invalid UTF-8 or a line without its end.
    pub fn send_bytes(&mut self, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        let shown = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        self.transcript.record(self.end, Direction::Sent, shown);
        self.queue(bytes);
    }

    /// Sends this byte `count` times, as part of a line. The transcript does not record it.
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

    /// The answer to the request with that id, in that spelling. Messages before the answer are kept
    /// for [`receive`](Self::receive).
    ///
    /// # Panics
    /// If the connection ends before the answer, or if a line is not a message.
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

    /// The next message that has not been returned yet; none at the end of the connection. The
    /// closure of [`answering`](Self::answering) has already handled a request or notification.
    ///
    /// # Panics
    /// If the line is not a message.
    pub async fn receive(&mut self) -> Option<Message> {
        match self.passed.pop_front() {
            Some(message) => Some(message),
            None => self.read().await,
        }
    }

    /// The next line, unparsed and unanswered; none at the end of the connection. A last line
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

    /// Like [`line`](Self::line), for any bytes. The transcript does not record them.
    pub async fn bytes(&mut self) -> Option<Vec<u8>> {
        let reading = self.reader.read_until(b'\n', &mut self.partial);
        let what = format!("a line at the {}", self.end);
        // A read error means that the other side has died: the connection has ended.
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

    /// Closes the sending direction after all queued lines.
    pub fn close(&mut self) {
        self.outgoing = None;
    }

    /// Closes both directions at once, as the system does for a killed process.
    pub fn hang_up(&mut self) {
        self.close();
        self.reader = BufReader::new(Box::pin(tokio::io::empty()));
    }

    /// Reads and answers until the other side closes the connection; then closes it here too, like an
    /// agent that exits. Returns the messages that had not been returned yet.
    pub async fn serve(mut self) -> Vec<Message> {
        while let Some(message) = self.read().await {
            self.passed.push_back(message);
        }
        self.passed.into()
    }

    /// Closes the connection here, and reads until the other side has closed it too. Returns the
    /// messages that had not been returned yet.
    pub async fn finish(mut self) -> Vec<Message> {
        self.close();
        self.serve().await
    }

    /// The transcript that this end records into.
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
        // A closed reader is no failure here: the test sees the end of the connection.
        if let Some(outgoing) = &self.outgoing {
            let _ = outgoing.send(bytes);
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{}: {what}; the transcript:\n{}", self.end, self.transcript)
    }
}

/// Writes the queued bytes until the queue ends, then closes the writer.
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
