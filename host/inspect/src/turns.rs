//! When the turns of a connection begin, get their first output, and end.

use std::collections::HashMap;

use acp_chain_acp::{INITIALIZE, TurnState, Turns, protocol_version};
use acp_chain_trace::{Kind, Line};

use crate::row::title;
use crate::said::{Members, string};

/// The maximum number of sessions of a connection with a turn, and of its prompts without an answer.
const MOST: usize = 1000;

/// What a line is to a turn, which is named by the row of its prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEvent {
    /// A prompt of the client, with its title.
    Begins(String),
    /// The first text or tool call of the agent.
    Speaks(u64),
    /// The turn is over.
    Ends(u64),
}

/// The turns of a connection.
#[derive(Debug, Default)]
pub struct Tracker {
    running: Turns<String, u64>,
    /// Prompts without an answer, by the number of the request.
    asked: HashMap<u64, OpenRequest>,
    /// The newest turn of each session that the agent has not spoken in.
    silent: HashMap<String, u64>,
}

#[derive(Debug)]
struct OpenRequest {
    row: u64,
    session: String,
}

impl Tracker {
    /// What the line with this row is to a turn.
    pub fn take(&mut self, row: u64, line: &Line) -> Option<TurnEvent> {
        let (from, to, kind) = line.crossed()?;
        let session = line.session.as_deref().unwrap_or_default();
        match kind {
            Kind::Request => self.ask(row, line, session),
            Kind::Response if to == "client" => self.answer(line),
            Kind::Notification if from == "agent" => self.update(line, session),
            _ => None,
        }
    }

    fn ask(&mut self, row: u64, line: &Line, session: &str) -> Option<TurnEvent> {
        let title = title(line)?;
        // The client sends a prompt once, and the host may send it twice.
        let number = line
            .request
            .filter(|number| !self.asked.contains_key(number))?;
        if self.asked.len() < MOST && self.silent.len() < MOST {
            let session = session.to_owned();
            self.silent.insert(session.clone(), row);
            self.asked.insert(number, OpenRequest { row, session });
        }
        Some(TurnEvent::Begins(title))
    }

    fn answer(&mut self, line: &Line) -> Option<TurnEvent> {
        let body = || Members::of_body(line);
        if line.method.as_deref() == Some(INITIALIZE) {
            let named = body().protocol_version;
            let version = named.and_then(|version| protocol_version(version.get()));
            self.running.agree(version.unwrap_or(1));
        }
        let OpenRequest { row, session } = self.asked.remove(&line.request?)?;
        let says_end = line.error.is_some()
            || string(body().stop_reason).is_some()
            || self.running.len() >= MOST;
        match self.running.answer(session.clone(), row, says_end) {
            TurnState::Over(row) => Some(self.end(&session, row)),
            TurnState::Runs => None,
            // It has ended as a turn of its own, and goes on in the other.
            TurnState::Joins(row) => Some(TurnEvent::Ends(row)),
        }
    }

    fn update(&mut self, line: &Line, session: &str) -> Option<TurnEvent> {
        if !self.running.has(session) && !self.silent.contains_key(session) {
            return None;
        }
        let (kind, update) = Members::update_of(line)?;
        if kind == "state_update" && string(update.state).as_deref() == Some("idle") {
            let row = self.running.end(session)?;
            return Some(self.end(session, row));
        }
        let speaks = kind.starts_with("agent_") || kind == "tool_call";
        let row = speaks.then(|| self.silent.remove(session))??;
        Some(TurnEvent::Speaks(row))
    }

    fn end(&mut self, session: &str, row: u64) -> TurnEvent {
        if self.silent.get(session) == Some(&row) {
            self.silent.remove(session);
        }
        TurnEvent::Ends(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(lines: &[&str]) -> Vec<TurnEvent> {
        let mut tracker = Tracker::default();
        let rows = (0..).zip(lines);
        let events = rows.filter_map(|(row, line)| {
            let line = serde_json::from_str(&format!("{{{line}}}")).unwrap();
            tracker.take(row, &line)
        });
        events.collect()
    }

    const PROMPT: &str = r#""from":"client","to":"p","kind":"request","id":1,"request":1,"method":"session/prompt","session":"s","params":{"prompt":[{"text":"hi"}]}"#;
    const ANSWER: &str = r#""from":"p","to":"client","kind":"response","request":1,"method":"session/prompt","session":"s","result":{}"#;

    fn update(kind: &str, more: &str) -> String {
        format!(
            r#""from":"agent","to":"p","kind":"notification","method":"session/update","session":"s","params":{{"update":{{"sessionUpdate":"{kind}"{more}}}}}"#
        )
    }

    #[test]
    fn in_version_1_the_answer_ends_the_turn() {
        let told = update("agent_message_chunk", "");
        let commands = update("available_commands_update", "");
        let lines = [
            PROMPT, PROMPT, &commands, &told, &told, ANSWER, &told, ANSWER,
        ];
        let expected = [
            TurnEvent::Begins("hi".to_owned()),
            TurnEvent::Speaks(0),
            TurnEvent::Ends(0),
        ];
        assert_eq!(events(&lines), expected);
    }

    #[test]
    fn in_version_2_the_agent_ends_the_turn() {
        let begins = r#""from":"p","to":"client","kind":"response","method":"initialize","result":{"protocolVersion":2}"#;
        let idle = update("state_update", r#","state":"idle""#);
        let works = update("state_update", r#","state":"running""#);
        let lines = [begins, PROMPT, ANSWER, &*works, &*idle, &*idle];
        let expected = [TurnEvent::Begins("hi".to_owned()), TurnEvent::Ends(1)];
        assert_eq!(events(&lines), expected);
    }
}
