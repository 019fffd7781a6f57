//! Lists of sessions, without those of other users.

use std::collections::BTreeMap;

use acp_chain_rpc::{Id, Kind, Message, member};
use bytes::Bytes;
use memchr::memmem;
use serde_json::value::RawValue;

use super::super::connection::Connection;
use super::{Denial, Shared};

/// How many sessions of a list are looked up. The others are left out.
const LISTED: usize = 1000;

/// The member of an answer that has the list (`session/list`).
const SESSIONS: &str = "sessions";

/// An answer of the agent that lists sessions.
pub struct SessionList {
    line: Bytes,
    message: Message,
    sessions: Vec<Box<RawValue>>,
}

impl SessionList {
    /// Reads a line; `None` if it is no such answer.
    pub fn read(line: &Bytes) -> Option<Self> {
        memmem::find(line, SESSIONS.as_bytes())?;
        let message = Message::parse(line.clone()).ok()?;
        if message.kind() != Kind::Result {
            return None;
        }
        let list = member(message.body(), SESSIONS)?;
        let sessions = serde_json::from_str(list).ok()?;
        Some(Self {
            line: line.clone(),
            message,
            sessions,
        })
    }

    /// The answer with these sessions only.
    fn with(&self, id: &Id, sessions: &[&str]) -> Option<Bytes> {
        let mut result: BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(self.message.body()).ok()?;
        let list = RawValue::from_string(format!("[{}]", sessions.join(","))).ok()?;
        result.insert(SESSIONS.to_owned(), list);
        let (id, result) = (id.as_str(), serde_json::to_string(&result).ok()?);
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into())
    }
}

impl Shared {
    /// The line that a connection's user gets for a list: without the sessions that only others own. It stays as it is
    /// if there are none.
    pub async fn visible(&self, list: SessionList, connection: &Connection) -> Bytes {
        let mut visible = Vec::new();
        let id = list.message.id().unwrap_or_else(Id::null);
        for session in list.sessions.iter().take(LISTED) {
            let name = member(session.get(), "sessionId");
            let name = name.and_then(|name| serde_json::from_str::<String>(name).ok());
            let Some(name) = name else { continue };
            match self.check(&name, &connection.user).await {
                Ok(()) => visible.push(session.get()),
                Err(Denial::Unknown) => {}
                Err(denial) => return connection.deny(&id, denial),
            }
        }
        if visible.len() == list.sessions.len() {
            return list.line;
        }
        let shortened = list.with(&id, &visible);
        // What was read can be written.
        shortened.unwrap_or_else(|| connection.deny(&id, Denial::Many))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_members_stay_as_they_were_written() {
        let line = r#"{"jsonrpc":"2.0","id":"a","result":{"sessions":[{"sessionId":"1","n":1e400},{"sessionId":"2"}],"nextCursor":"c"}}"#;
        let list = SessionList::read(&Bytes::from(line)).unwrap();
        assert_eq!(list.sessions.len(), 2);
        let id = list.message.id().unwrap();
        let shortened = list.with(&id, &[list.sessions[0].get()]).unwrap();
        let expected = r#"{"jsonrpc":"2.0","id":"a","result":{"nextCursor":"c","sessions":[{"sessionId":"1","n":1e400}]}}"#;
        assert_eq!(shortened, expected);
        for other in [
            r#"{"jsonrpc":"2.0","method":"sessions","params":{"sessions":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":"sessions"}}"#,
            "sessions",
        ] {
            assert!(SessionList::read(&Bytes::from(other)).is_none(), "{other}");
        }
    }
}
