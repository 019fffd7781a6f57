//! The agent: first the test says its lines one by one, later it goes on by itself.

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
    /// Answers these requests, and all that come. A turn ends when the client has answered a question
    /// of the agent's.
    pub(crate) fn go_on(mut wire: Wire, open: Vec<Message>) -> Self {
        let (asks, mut asked) = mpsc::unbounded_channel();
        let (tell, answers) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            for message in open {
                let result = result_of(&message, 0);
                message
                    .result(&result)
                    .into_iter()
                    .for_each(|line| wire.send(line));
            }
            let mut turns = Vec::new();
            let mut count = 0;
            loop {
                tokio::select! {
                    message = wire.receive() => {
                        let Some(message) = message else { return };
                        match message.method.as_deref() {
                            Some("session/prompt") => {
                                count += 1;
                                wire.send(update("late"));
                                wire.send(question(&format!("\"turn {count}\"")));
                                turns.push((format!("\"turn {count}\""), message));
                            }
                            Some(_) => {
                                count += 1;
                                let result = result_of(&message, count);
                                message.result(&result).into_iter().for_each(|line| wire.send(line));
                            }
                            None => {
                                let id = message.id.clone().unwrap_or_default();
                                if let Some(at) = turns.iter().position(|(turn, _)| *turn == id) {
                                    let (_, prompt) = turns.remove(at);
                                    let result = result_of(&prompt, 0);
                                    prompt.result(&result).into_iter().for_each(|line| wire.send(line));
                                }
                                let _ = tell.send(message);
                            }
                        }
                    }
                    Some(id) = asked.recv() => wire.send(question(id)),
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

/// Something that the agent streams.
pub(crate) fn update(text: &str) -> String {
    let params = format!(r#"{{"sessionId":"a","update":{{"text":"{text}"}}}}"#);
    notification("session/update", &params)
}

/// What the agent asks the client, who answers it at once.
fn question(id: &str) -> String {
    request(id, "fs/read_text_file", r#"{"sessionId":"a","path":"/a"}"#)
}

fn result_of(message: &Message, count: usize) -> String {
    match message.method.as_deref() {
        Some("initialize") => INITIALIZED.to_owned(),
        Some("session/new") => format!(r#"{{"sessionId":"late-{count}"}}"#),
        Some("session/prompt") => r#"{"stopReason":"end_turn"}"#.to_owned(),
        _ => r#"{"by":"agent"}"#.to_owned(),
    }
}
