//! Lines that the user edits in the terminal, with a history, in a process of its own (`edit_lines`): a running chain
//! may change no modes of the terminal, and open no history.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};
use tokio::time::timeout;

use acp_chain_app::beside;
use acp_chain_system::terminal;
use acp_chain_system::worker::Worker;

/// The subcommand that is the process.
pub const SUBCOMMAND: &str = "edit-lines";

/// How long the process may take to restore the terminal at the end.
const ENDING: Duration = Duration::from_secs(1);

/// What the process is told to do, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// To read a line, behind this invitation.
    Read(String),
    /// To keep a line in the history.
    Keep(String),
}

/// What the process tells, as a line of JSON.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Lines can be edited.
    Ready,
    /// Lines cannot be edited in this terminal.
    Unusable,
    /// A line.
    Line(String),
    /// The user has ended the input.
    Ended,
    /// The user has pressed Ctrl-C.
    Interrupted,
}

/// The process, from its start to the end of the input.
pub struct Editor {
    replies: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    orders: Box<dyn AsyncWrite + Send + Unpin>,
    /// Bytes to be written to the process.
    unwritten: Vec<u8>,
    /// Whether the process reads a line.
    pub is_reading: bool,
}

impl Editor {
    /// Starts the process, unless lines cannot be edited here, or need not be. Must be called before rights are given
    /// up.
    pub async fn start(log: Option<&Path>) -> Option<Self> {
        if !terminal::needs_editor() {
            return None;
        }
        let started = beside::command(SUBCOMMAND, log)
            .and_then(|command| Worker::start(command, b""))
            .and_then(Worker::streams)
            .inspect_err(|error| tracing::warn!("lines cannot be edited: {error}"));
        let (output, input) = started.ok()?;
        let output: Box<dyn AsyncRead + Send + Unpin> = Box::new(output);
        let mut editor = Self {
            replies: BufReader::new(output).lines(),
            orders: Box::new(input),
            unwritten: Vec::new(),
            is_reading: false,
        };
        (editor.reply().await? == Reply::Ready).then_some(editor)
    }

    /// The next line that is not blank, or why there is none; `None` if the process has ended. A line that is being
    /// edited keeps its invitation. Cancel safe.
    pub async fn next(&mut self, invitation: &str) -> Option<Reply> {
        loop {
            if !self.is_reading {
                self.order(&Order::Read(invitation.to_owned()));
                self.is_reading = true;
            }
            while !self.unwritten.is_empty() {
                let written = self.orders.write(&self.unwritten).await.ok();
                let count = written.filter(|count| *count > 0)?;
                self.unwritten.drain(..count);
            }
            let reply = self.reply().await?;
            self.is_reading = false;
            let is_blank = matches!(&reply, Reply::Line(line) if line.trim().is_empty());
            if !is_blank {
                return Some(reply);
            }
        }
    }

    /// Keeps a line in the history, before the next one is read.
    pub fn keep(&mut self, line: &str) {
        self.order(&Order::Keep(line.to_owned()));
    }

    /// Ends the process, which restores the terminal.
    pub async fn close(self) {
        let Self {
            mut replies,
            orders,
            ..
        } = self;
        drop(orders);
        let ended = async { while let Ok(Some(_)) = replies.next_line().await {} };
        // A process that does not end has the terminal, which cannot be helped.
        let _ = timeout(ENDING, ended).await;
    }

    fn order(&mut self, order: &Order) {
        if let Ok(line) = serde_json::to_vec(order) {
            self.unwritten.extend(line);
            self.unwritten.push(b'\n');
        }
    }

    async fn reply(&mut self) -> Option<Reply> {
        let line = self.replies.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }
}
