//! The agent: first the test says its lines one by one, later it goes on by itself.

use std::collections::HashMap;

use acp_chain_tests::envelope::{Message, notification, request};
use acp_chain_tests::wire::Wire;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub(crate) const INITIALIZED: &str = r#"{"protocolVersion":1,"agentCapabilities":{}}"#;

/// An agent that goes on by itself.
pub(crate) struct Agent {
    /// Requests that it is to make, by their ids.
    asks: mpsc::UnboundedSender<&'static str>,
    /// The answers that it got.
    pub(crate) answers: mpsc::UnboundedReceiver<Message>,
    /// Done when the host has ended the connection.
    pub(crate) task: JoinHandle<()>,
}

impl Agent {
    /// Answers these requests, and all that come.
    pub(crate) fn go_on(wire: Wire, open: Vec<Message>) -> Self {
        let (asks, mut asked) = mpsc::unbounded_channel();
        let (tell, answers) = mpsc::unbounded_channel();
        let mut work = Work {
            wire,
            turns: HashMap::new(),
            count: 0,
            tell,
        };
        let task = tokio::spawn(async move {
            for message in open {
                work.answer(&message);
            }
            loop {
                tokio::select! {
                    message = work.wire.receive() => match message {
                        Some(message) => work.take(message),
                        None => return,
                    },
                    Some(id) = asked.recv() => work.wire.send(question(id)),
                }
            }
        });
        Self {
            asks,
            answers,
            task,
        }
    }

    /// Asks the client something under an id, and waits for the answer.
    pub(crate) async fn ask(&mut self, id: &'static str) -> Message {
        let _ = self.asks.send(id);
        loop {
            let answer = self.answers.recv().await.expect("the agent goes on");
            if answer.answers(id) {
                return answer;
            }
        }
    }
}

/// What the agent does by itself.
struct Work {
    wire: Wire,
    /// The turns that end when the client has answered a question of the agent's, by its id.
    turns: HashMap<String, Message>,
    count: usize,
    tell: mpsc::UnboundedSender<Message>,
}

impl Work {
    fn take(&mut self, message: Message) {
        match message.method.as_deref() {
            Some("session/prompt") => {
                self.count += 1;
                let id = format!("\"turn {}\"", self.count);
                self.wire.send_all([update("late"), question(&id)]);
                self.turns.insert(id, message);
            }
            Some(_) => self.answer(&message),
            None => {
                let id = message.id.as_deref().unwrap_or_default();
                if let Some(prompt) = self.turns.remove(id) {
                    self.answer(&prompt);
                }
                // Nobody may be waiting for it.
                let _ = self.tell.send(message);
            }
        }
    }

    fn answer(&mut self, message: &Message) {
        self.count += 1;
        let result = match message.method.as_deref() {
            Some("initialize") => INITIALIZED.to_owned(),
            Some("session/new") => format!(r#"{{"sessionId":"late-{}"}}"#, self.count),
            Some("session/prompt") => r#"{"stopReason":"end_turn"}"#.to_owned(),
            _ => r#"{"by":"agent"}"#.to_owned(),
        };
        self.wire.send_all(message.result(&result));
    }
}

/// Something that the agent streams.
pub(crate) fn update(text: &str) -> String {
    let params = format!(r#"{{"sessionId":"a","update":{{"text":"{text}"}}}}"#);
    notification("session/update", &params)
}

/// What the agent asks the client, who answers it at once.
fn question(id: &str) -> String {
    request(id, "fs/read_text_file", r#"{"sessionId":"a","path":"/a"}"#)
}
