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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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
    /// The client, a proxy or the host stops the turns of a session, or the client withdraws a request.
    Stop,
    /// A proxy decided, or the host in its place; or a proxy broke, so that the host decides.
    Decision,
    /// A connection has ended.
    End,
    /// Old records were removed, of which the hashes are kept.
    Removal,
    /// Something of a later version.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Its name in a record.
impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// Defines the record by its members that may not apply.
macro_rules! record {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// A record. Its members that do not apply are `None`.
        #[derive(Clone, Debug, Default, Deserialize, Serialize)]
        pub struct Record {
            /// The time, in UTC (RFC 3339).
            pub time: String,
            /// What it is about.
            pub what: What,
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )*
        }

        impl Record {
            /// The members that CSV has columns for, in order, with their texts.
            pub fn columns(&self) -> Vec<(&'static str, Option<String>)> {
                let mut all = vec![
                    ("time", Some(self.time.clone())),
                    ("what", Some(self.what.to_string())),
                    $((stringify!($name), self.$name.as_ref().map(ToString::to_string)),)*
                ];
                all.retain(|(name, _)| *name != "version");
                all
            }
        }
    };
}

record! {
    /// Random letters that identify the connection.
    connection: String,

    /// The version of the schema, where a connection begins.
    version: u32,
    /// The program, and its version.
    program: String,
    /// `agent`, or `proxy` for a chain within another, such as that of a project.
    role: String,
    /// The client's user, if a server authenticated one.
    user: String,
    /// The name of the agent's program.
    agent: String,
    /// What the chain consists of, and who agreed to it.
    chain: Box<RawValue>,

    /// The part that a message comes from.
    from: String,
    /// The part that it goes to.
    to: String,
    /// The proxy that decided.
    proxy: String,
    /// What it decided.
    decision: String,
    /// The method; of an answer, that of the request.
    method: String,
    /// The session.
    session: String,
    /// The number of the message within its connection.
    message: u64,
    /// The number of the request within its connection.
    request: u64,
    /// The tool call that it is about, by the agent's id for it.
    call: String,
    /// The kind of the tool, as the protocol names it.
    kind: String,
    /// What became of a tool call, a request or a turn, as the protocol names it.
    outcome: String,
    /// The digest of the content.
    content: String,
    /// The digest of the content before a proxy decided.
    before: String,
    /// The digest of the content that a proxy replaced it by, or answered.
    after: String,

    /// How many records were removed, from the first on.
    removed: u64,
}

impl Record {
    /// A record of this time about this.
    pub fn new(time: String, what: What) -> Self {
        Self {
            time,
            what,
            ..Self::default()
        }
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
