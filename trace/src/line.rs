//! The content of a line. `docs/trace.md` describes the same.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The version of what is written. Members that are added leave it as it is; it rises when one means something else.
pub const VERSION: u32 = 1;

/// One line. Which members it has says what it is about:
///
/// - `version`: a connection begins.
/// - `ended`: it is over.
/// - `from` and `to`: a message crosses from the part of the chain that touched it last to the next that sees it.
/// - `proxy` and `decision`: what a proxy decided about a message.
/// - `proxy` and the counts: what a proxy did that it had no right to.
/// - `proxy` and `state`: what has become of a proxy.
/// - `dropped`: so many lines are missing here.
///
/// Unknown members are ignored.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Line {
    /// When, in UTC (RFC 3339).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// Random letters that identify the connection within a file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub connection: String,

    /// The version of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// What wrote it, and of which version that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What the chain is to whoever started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The ids of the proxies, the client's neighbour first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<Vec<String>>,
    /// The name of the agent's program, if the chain has started one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who the client is, if a server that asks let it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether the connection is over. Nothing more comes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,

    /// Whether markers stand for the secrets in what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked: Option<bool>,

    /// The bytes of the message, its envelope included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How long it waited for the proxy that it comes to, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited: Option<u64>,
    /// How long the proxy worked until it decided, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worked: Option<u64>,
    /// How long the proxy held the message that it decided about now, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,

    /// Who touched the message last: `client`, `agent`, the id of a proxy, or `acp-chain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who sees it next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What the message is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The proxy that decided, or made calls that it had no right to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// What it decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The id that whoever asked has given the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Box<RawValue>>,
    /// The number of the request within the chain, the same on all hops and for its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// The method; of a response, that of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The session that the message belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What a request or a notification says.
    #[serde(deserialize_with = "even_null")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Box<RawValue>>,
    /// What a response says.
    #[serde(deserialize_with = "even_null")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// What a response says that is an error.
    #[serde(deserialize_with = "even_null")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
    /// Why the host decided in the proxy's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,

    /// How often the proxy made calls that its powers do not cover, since the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied: Option<u64>,
    /// How often it made invalid calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<u64>,
    /// How often it exceeded a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<u64>,

    /// The state of the proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How often it was restarted so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u64>,
    /// The memory that it has, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The number of its process, if it is a program of its own. That leads the group of all that it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,

    /// How many lines are missing here: they did not fit into the queue of the writer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
}

/// What a chain is to whoever started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It stands between a client and an agent.
    Agent,
    /// It is a proxy in the chain of a conductor, which `client` and `agent` both stand for.
    Proxy,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Somebody waits for the answer.
    Request,
    /// Nobody does.
    Notification,
    /// The answer, or an error.
    Response,
}

/// What a proxy decided about a message, or the host in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It goes on as it is.
    Forward,
    /// It goes on as another one.
    Change,
    /// The request is answered with an error.
    Refuse,
    /// The request is answered.
    Answer,
    /// The notification goes no further.
    Discard,
    /// It is decided about later.
    Hold,
    /// The proxy could not decide: `why`.
    Fail,
    /// The proxy held it for too long.
    Expire,
    /// One that a later version knows.
    #[serde(other)]
    Unknown,
}

/// What has become of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was started, also anew.
    Running,
    /// It has no instance; what comes for it wakes it up.
    Asleep,
    /// It has failed: `why`. Until it is restarted, the host decides in its place.
    Failed,
    /// It is over.
    Ended,
    /// One that a later version knows.
    #[serde(other)]
    Unknown,
}

impl Kind {
    /// How it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Response => "response",
        }
    }
}

impl Decision {
    /// How it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Change => "change",
            Self::Refuse => "refuse",
            Self::Answer => "answer",
            Self::Discard => "discard",
            Self::Hold => "hold",
            Self::Fail => "fail",
            Self::Expire => "expire",
            Self::Unknown => "unknown",
        }
    }
}

impl State {
    /// How it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Asleep => "asleep",
            Self::Failed => "failed",
            Self::Ended => "ended",
            Self::Unknown => "unknown",
        }
    }
}

impl Line {
    /// What the message says, as JSON text.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        let body = self.params.as_ref().or(self.result.as_ref());
        body.or(self.error.as_ref()).map(|body| body.get())
    }

    /// Where a message crosses, and what it is.
    #[must_use]
    pub fn crossed(&self) -> Option<(&str, &str, Kind)> {
        Some((self.from.as_deref()?, self.to.as_deref()?, self.kind?))
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.ended == Some(true)
    }

    /// Whether it says how things stand, which who listens later is told first.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        self.version.is_some() || self.state.is_some() || self.is_end()
    }

    /// Which proxy decided, and what.
    #[must_use]
    pub fn decided(&self) -> Option<(&str, Decision)> {
        Some((self.proxy.as_deref()?, self.decision?))
    }
}

/// A value that is there, also if it is `null`.
fn even_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}
