//! The agent: at first the test sends its lines one by one, later a task plays it.

use std::collections::HashMap;

use acp_chain_tests::envelope::{Message, notification, request};
use acp_chain_tests::wire::Wire;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub(crate) const INITIALIZED: &str = r#"{"protocolVersion":1,"agentCapabilities":{}}"#;

/// An agent that a task plays.
pub(crate) struct Agent {
    /// The ids of the requests that the agent is to send.
    asks: mpsc::UnboundedSender<&'static str>,
    /// The answers that the agent received.
    pub(crate) answers: mpsc::UnboundedReceiver<Message>,
    /// Ends when the host has closed the connection.
    pub(crate) task: JoinHandle<()>,
}

impl Agent {
    /// Answers these requests, and all later ones.
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

    /// Sends the client a request under an id, and waits for the answer.
    pub(crate) async fn ask(&mut self, id: &'static str) -> Message {
        let _ = self.asks.send(id);
        loop {
            let answer = self.answers.recv().await.expect("a running agent");
            if answer.answers(id) {
                return answer;
            }
        }
    }
}

/// The work of the agent's task.
struct Work {
    wire: Wire,
    /// The prompts that end when the client has answered a request of the agent, by the id of that request.
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
                // The receiver may no longer exist.
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

/// An update that the agent streams.
pub(crate) fn update(text: &str) -> String {
    let params = format!(r#"{{"sessionId":"a","update":{{"text":"{text}"}}}}"#);
    notification("session/update", &params)
}

/// A request of the agent that the client answers at once.
fn question(id: &str) -> String {
    request(id, "fs/read_text_file", r#"{"sessionId":"a","path":"/a"}"#)
}
