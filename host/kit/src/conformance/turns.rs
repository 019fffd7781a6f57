//! Concurrent turns of several sessions. Each message of the client and the agent has a mark that identifies it.

use std::fmt::Write;

use super::mark::Mark;
use super::play::{Ask, Play};
use super::stop::Stop;
use super::traffic::Traffic;
use acp_chain_channel::Peer;
use acp_chain_rpc::Message;

/// Sessions with concurrent turns.
pub struct Turns {
    sessions: Vec<Session>,
    /// Decides the order of concurrent messages.
    pub traffic: Traffic,
    /// All requests sent so far.
    pub asks: Vec<Ask>,
    /// The number of updates per turn.
    pub updates: usize,
    /// The length of the text of an update, in bytes.
    pub text: usize,
}

struct Session {
    name: String,
    number: usize,
    /// The number of messages sent to either end.
    sent: usize,
    /// The open prompt, as the agent received it.
    prompt: Option<Message>,
}

impl Turns {
    /// Sets up this many sessions.
    pub async fn begin(play: &mut Play, traffic: Traffic, count: usize) -> Result<Self, Stop> {
        let mut sessions = Vec::new();
        for number in 0..count {
            let name = format!("s{number}");
            play.session(&name).await?;
            sessions.push(Session {
                name,
                number,
                sent: 0,
                prompt: None,
            });
        }
        Ok(Self {
            sessions,
            traffic,
            asks: Vec::new(),
            updates: 8,
            text: 20,
        })
    }

    /// The approximate number of bytes of text in one turn of all sessions.
    pub fn bytes(&self) -> usize {
        self.sessions.len() * self.updates * self.text
    }

    /// Lets all held messages time out, and both ends answer all requests.
    pub async fn end(&self, play: &mut Play) -> Result<(), Stop> {
        play.pass_hold_time().await?;
        for to in [Peer::Agent, Peer::Client] {
            play.answer_all(to).await?;
        }
        play.rest().await
    }

    /// One turn of each session, all concurrently.
    pub async fn turn(&mut self, play: &mut Play) -> Result<(), Stop> {
        for at in 0..self.sessions.len() {
            let mark = self.sessions[at].mark().meta();
            let name = &self.sessions[at].name;
            let params = format!(
                r#"{{"sessionId":"{name}","prompt":[{{"type":"text","text":"What is a chain?"}}],{mark}}}"#
            );
            let ask = play.ask(Peer::Client, "session/prompt", &params).await?;
            self.asks.push(ask);
        }
        play.rest().await?;
        for prompt in play.take(Peer::Agent, "session/prompt") {
            let session = prompt.session().cloned();
            let mut sessions = self.sessions.iter_mut();
            let session = sessions.find(|other| session.as_deref() == Some(&*other.name));
            // A prompt that waited for the component arrives together with the prompt of the next turn.
            let late = session.and_then(|session| session.prompt.replace(prompt));
            if let Some(late) = late {
                let result = r#"{"stopReason":"end_turn"}"#.to_owned();
                play.answer(Peer::Agent, &late, &Ok(result)).await?;
            }
        }
        let half = self.updates / 2;
        self.work(play, half).await?;
        for at in 0..self.sessions.len() {
            self.ask(play, at).await?;
        }
        play.rest().await?;
        play.answer_all(Peer::Client).await?;
        play.rest().await?;
        self.work(play, self.updates - half).await?;
        for session in &mut self.sessions {
            let Some(prompt) = session.prompt.take() else {
                continue;
            };
            let result = format!(r#"{{"stopReason":"end_turn",{}}}"#, session.mark().meta());
            play.answer(Peer::Agent, &prompt, &Ok(result)).await?;
        }
        play.rest().await
    }

    /// The agent sends this many updates in each session, interleaved.
    async fn work(&mut self, play: &mut Play, count: usize) -> Result<(), Stop> {
        let working = |session: &&mut Session| session.prompt.is_some();
        let sessions = self.sessions.iter_mut().filter(working);
        let mut left: Vec<_> = sessions.map(|session| (session, count)).collect();
        while !left.is_empty() {
            let at = self.traffic.below(left.len());
            let (session, count) = &mut left[at];
            if *count == 0 {
                left.swap_remove(at);
                continue;
            }
            *count -= 1;
            let params = session.update(self.text);
            play.tell(Peer::Agent, "session/update", &params).await?;
        }
        play.rest().await
    }

    /// The agent sends a request in a session.
    async fn ask(&mut self, play: &mut Play, at: usize) -> Result<(), Stop> {
        let session = &self.sessions[at];
        if session.prompt.is_none() {
            return Ok(());
        }
        let name = &session.name;
        let (method, params) = match session.number % 2 {
            0 => (
                "session/request_permission",
                format!(
                    r#"{{"sessionId":"{name}","toolCall":{{"toolCallId":"t","title":"Run it","kind":"execute","rawInput":{{"command":"ls"}}}},"options":[{{"optionId":"yes","name":"Yes","kind":"allow_once"}},{{"optionId":"no","name":"No","kind":"reject_once"}}]}}"#
                ),
            ),
            _ => (
                "fs/read_text_file",
                format!(r#"{{"sessionId":"{name}","path":"/project/README.md"}}"#),
            ),
        };
        self.asks
            .push(play.ask(Peer::Agent, method, &params).await?);
        Ok(())
    }
}

impl Session {
    fn mark(&mut self) -> Mark {
        self.sent += 1;
        Mark {
            session: self.number,
            number: self.sent,
        }
    }

    /// The agent's next update.
    fn update(&mut self, length: usize) -> String {
        let mark = self.mark();
        let text = text(mark.number, length);
        let update = match mark.number % 6 {
            0 => format!(
                r#"{{"sessionUpdate":"tool_call","toolCallId":"t{}","title":"Read {text}","kind":"read","status":"pending"}}"#,
                mark.number
            ),
            1 => format!(
                r#"{{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[{{"type":"content","content":{{"type":"text","text":"{text}"}}}}]}}"#
            ),
            2 => format!(
                r#"{{"sessionUpdate":"agent_thought_chunk","content":{{"type":"text","text":"{text}"}}}}"#
            ),
            3 => format!(
                r#"{{"sessionUpdate":"plan","entries":[{{"content":"{text}","priority":"medium","status":"pending"}}]}}"#
            ),
            _ => format!(
                r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#
            ),
        };
        format!(
            r#"{{"sessionId":"{}","update":{update},{}}}"#,
            self.name,
            mark.meta()
        )
    }
}

/// A text of about this many bytes, different for each number.
fn text(number: usize, length: usize) -> String {
    let mut text = String::with_capacity(length + 16);
    while text.len() < length {
        let _ = write!(text, "word {number} ");
    }
    text
}
