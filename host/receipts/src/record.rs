//! A record: a leaf of the log. It is one line of JSON, as documented in `docs/receipts.md`. It has no content of
//! messages: only names that the protocol or the user gives, and digests with the key of the log.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of the schema. It increases if a member changes its meaning, not if members are added.
pub const VERSION: u32 = 1;

/// The longest record, in bytes.
pub const LONGEST: usize = 64 << 10;

/// The longest name that a record has as it is, in bytes.
const NAME: usize = 128;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// A connection begins, with this chain.
    Chain,
    /// A request crosses an end of the chain.
    Request,
    /// The answer to a request crosses an end of the chain.
    Answer,
    /// The agent reports a tool call, or what became of one.
    Tool,
    /// The client stops the turns of a session.
    Stop,
    /// A proxy decided, or the host in its place.
    Decision,
    /// A connection has ended.
    End,
    /// Old records were removed, of which the hashes are kept.
    Removal,
    /// Something of a later version.
    #[serde(other)]
    Unknown,
}

impl What {
    /// Its name in a record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Request => "request",
            Self::Answer => "answer",
            Self::Tool => "tool",
            Self::Stop => "stop",
            Self::Decision => "decision",
            Self::End => "end",
            Self::Removal => "removal",
            Self::Unknown => "unknown",
        }
    }
}

/// A record. Its members that do not apply are `None`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    /// The time, in UTC (RFC 3339).
    pub time: String,
    /// What it is about.
    pub what: What,
    /// Random letters that identify the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,

    /// The version of the schema, where a connection begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The program, and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// `agent`, or `proxy` for a chain within another, such as that of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The client's user, if a server authenticated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The name of the agent's program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the chain consists of, and who agreed to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<Box<RawValue>>,

    /// The part that a message comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The part that it goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The proxy that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// What it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The method; of an answer, that of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The number of the message within its connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// The number of the request within its connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// The tool call that it is about, by the agent's id for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The kind of the tool, as the protocol names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What became of a tool call, a request or a turn, as the protocol names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The digest of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The digest of the content before a proxy decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest of the content that a proxy replaced it by, or answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,

    /// How many records were removed, from the first on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

impl Record {
    /// A record of this time about this.
    #[must_use]
    pub fn new(time: String, what: What) -> Self {
        Self {
            time,
            what,
            connection: None,
            version: None,
            program: None,
            role: None,
            user: None,
            agent: None,
            chain: None,
            from: None,
            to: None,
            proxy: None,
            decision: None,
            method: None,
            session: None,
            message: None,
            request: None,
            call: None,
            kind: None,
            outcome: None,
            content: None,
            before: None,
            after: None,
            removed: None,
        }
    }

    /// The members that CSV has columns for, in order, with their texts.
    #[must_use]
    pub fn columns(&self) -> [(&'static str, Option<String>); 23] {
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        [
            ("time", Some(self.time.clone())),
            ("what", Some(self.what.as_str().to_owned())),
            ("connection", self.connection.clone()),
            ("program", self.program.clone()),
            ("role", self.role.clone()),
            ("user", self.user.clone()),
            ("agent", self.agent.clone()),
            (
                "chain",
                self.chain.as_ref().map(|chain| chain.get().to_owned()),
            ),
            ("from", self.from.clone()),
            ("to", self.to.clone()),
            ("proxy", self.proxy.clone()),
            ("decision", self.decision.clone()),
            ("method", self.method.clone()),
            ("session", self.session.clone()),
            ("message", number(self.message)),
            ("request", number(self.request)),
            ("call", self.call.clone()),
            ("kind", self.kind.clone()),
            ("outcome", self.outcome.clone()),
            ("content", self.content.clone()),
            ("before", self.before.clone()),
            ("after", self.after.clone()),
            ("removed", number(self.removed)),
        ]
    }
}

/// A name that others chose: as it is, if it looks like one, and else its digest. So nothing in a record is longer than
/// it should be, or is text that somebody could mean for its reader.
pub fn name(text: &str, digest: impl FnOnce(&str) -> String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/$@".contains(c);
    if !text.is_empty() && text.len() <= NAME && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("#{}", digest(text))
    }
}
