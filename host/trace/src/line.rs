//! The content of a line, as documented in `docs/trace.md`.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

/// The version of the schema. It increases if a member changes its meaning, not if members are added.
pub const VERSION: u32 = 1;

/// One line. Its members determine its subject:
///
/// - `version`: a connection begins.
/// - `ended`: a connection has ended.
/// - `from` and `to`: a message crosses from the part of the chain that last handled it to the next that sees it.
/// - `proxy` and `decision`: a proxy's decision about a message.
/// - `proxy` and `would`: what a proxy would have done, in a dry run.
/// - `proxy` and the counts: a proxy exceeded its rights.
/// - `proxy` and `state`: a proxy's new state.
/// - `dropped`: the number of lines missing here.
///
/// Unknown members are ignored.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Line {
    /// The time, in UTC (RFC 3339).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// Random letters that identify the connection within a file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub connection: String,

    /// The version of the trace.
    pub version: Option<u32>,
    /// The program that wrote the trace, and its version.
    pub program: Option<String>,
    /// The role of the chain.
    pub role: Option<Role>,
    /// The ids of the proxies, the client's neighbour first.
    pub proxies: Option<Vec<String>>,
    /// The name of the agent's program, if the chain started one.
    pub agent: Option<String>,
    /// The client's user, if a server authenticated one.
    pub user: Option<String>,
    /// Whether the connection has ended. No more lines of it follow.
    pub ended: Option<bool>,

    /// Whether secrets in the connection's lines are replaced by markers.
    pub masked: Option<bool>,

    /// The bytes of the message, including its envelope.
    pub size: Option<u64>,
    /// How long the message waited for the proxy that receives it, in microseconds.
    pub waited: Option<u64>,
    /// How long the proxy worked until it decided, in microseconds.
    pub worked: Option<u64>,
    /// How long the proxy had held the message before this decision, in microseconds.
    pub held: Option<u64>,

    /// The part that last handled the message: `client`, `agent`, the id of a proxy, or `acp-chain`.
    pub from: Option<String>,
    /// The next part that receives it.
    pub to: Option<String>,
    /// The kind of the message.
    pub kind: Option<Kind>,
    /// The proxy that decided, would have done something, or exceeded its rights.
    pub proxy: Option<String>,
    pub decision: Option<Decision>,
    /// What the proxy would have done, in a dry run.
    pub would: Option<Would>,
    /// The number of the message within its connection, the same on all hops, however proxies change it.
    pub message: Option<u64>,
    /// The requester's id of the request.
    pub id: Option<Box<RawValue>>,
    /// The number of the request within the chain, the same on all hops and for its answer.
    pub request: Option<u64>,
    /// The method; of a response, that of the request.
    pub method: Option<String>,
    /// The session that the message belongs to.
    pub session: Option<String>,
    /// The parameters of a request or a notification.
    #[serde(deserialize_with = "even_null")]
    pub params: Option<Box<RawValue>>,
    /// The result of a response.
    #[serde(deserialize_with = "even_null")]
    pub result: Option<Box<RawValue>>,
    /// The error of a response.
    #[serde(deserialize_with = "even_null")]
    pub error: Option<Box<RawValue>>,
    /// Why the host decided in the proxy's place.
    pub why: Option<String>,

    /// How often the proxy made calls that its powers do not cover, since the last report.
    pub denied: Option<u64>,
    /// How often the proxy made invalid calls.
    pub invalid: Option<u64>,
    /// How often the proxy exceeded a limit.
    pub full: Option<u64>,

    /// The state of the proxy.
    pub state: Option<State>,
    /// How often the proxy has been restarted.
    pub restarts: Option<u64>,
    /// The memory of the proxy, in bytes.
    pub memory: Option<u64>,
    /// The process id of a native proxy. It leads the process group of everything that it starts.
    pub process: Option<u32>,

    /// The number of lines missing here, which did not fit into the writer's queue.
    pub dropped: Option<u64>,
}

/// The role of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The chain is between a client and an agent.
    Agent,
    /// The chain is a proxy of a conductor; its `client` and `agent` are both that conductor.
    Proxy,
}

/// Declares values that have names in a trace.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$doc])* $value,)* }

        impl $name {
            /// Its name in a trace.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }
        }
    };
}

named! {
    /// The kind of a message.
    Kind {
        /// A message that is to be answered.
        Request = "request",
        /// A message without an answer.
        Notification = "notification",
        /// The answer, or an error.
        Response = "response",
    }
}

named! {
    /// The decision of a proxy about a message, or of the host in its place.
    Decision {
        /// The message is forwarded unchanged.
        Forward = "forward",
        /// The message is forwarded changed.
        Change = "change",
        /// The request is answered with an error.
        Refuse = "refuse",
        /// The request is answered.
        Answer = "answer",
        /// The notification is dropped.
        Discard = "discard",
        /// The decision is postponed.
        Hold = "hold",
        /// The proxy could not decide, see `why`.
        Fail = "fail",
        /// The proxy held the message for too long.
        Expire = "expire",
        /// A decision of a later version.
        #[serde(other)]
        Unknown = "unknown",
    }
}

named! {
    /// What a proxy would have done in a dry run, in which messages pass it unchanged.
    Would {
        /// It would have changed the message.
        Change = "change",
        /// It would have answered the request with an error.
        Refuse = "refuse",
        /// It would have answered the request.
        Answer = "answer",
        /// It would have dropped the notification.
        Discard = "discard",
        /// It would have postponed its decision.
        Hold = "hold",
        /// It would have failed on the message, see `why`.
        Fail = "fail",
        /// It would have held the message for too long.
        Expire = "expire",
        /// It would have sent a message of its own.
        Send = "send",
        /// Something that a later version knows.
        #[serde(other)]
        Unknown = "unknown",
    }
}

named! {
    /// The state of a proxy.
    State {
        /// The proxy was started or restarted.
        Running = "running",
        /// The proxy has no instance until the next message or event for it.
        Asleep = "asleep",
        /// The proxy has failed, see `why`. Until it is restarted, the host decides in its place.
        Failed = "failed",
        /// The proxy has ended.
        Ended = "ended",
        /// A state of a later version.
        #[serde(other)]
        Unknown = "unknown",
    }
}

impl Line {
    /// The body of the message, as JSON text.
    pub fn body(&self) -> Option<&str> {
        let body = self.params.as_ref().or(self.result.as_ref());
        body.or(self.error.as_ref()).map(|body| body.get())
    }

    /// The sender, the receiver and the kind of a crossing message.
    pub fn crossed(&self) -> Option<(&str, &str, Kind)> {
        Some((self.from.as_deref()?, self.to.as_deref()?, self.kind?))
    }

    /// Whether it is a request of the host in the name of an end, such as a report of a hook. Its answer, if there is
    /// one, is not recorded: the host gets it. Requests that the ends send have an `id`.
    pub fn is_hosts_own(&self) -> bool {
        let is_of_end = matches!(self.from.as_deref(), Some("client" | "agent"));
        is_of_end && self.kind == Some(Kind::Request) && self.id.is_none()
    }

    /// Whether it says anything that a trace can: unknown members are ignored, so that any JSON object is a line.
    pub fn is_of_trace(&self) -> bool {
        let is_heading = self.version.is_some() || self.is_end();
        is_heading || self.from.is_some() || self.proxy.is_some() || self.dropped.is_some()
    }

    /// Whether the connection has ended.
    pub fn is_end(&self) -> bool {
        self.ended == Some(true)
    }

    /// Whether it reports a lasting state, which later subscribers receive first.
    pub fn is_lasting(&self) -> bool {
        self.version.is_some() || self.state.is_some() || self.is_end()
    }

    /// The proxy that decided, and its decision.
    pub fn decided(&self) -> Option<(&str, Decision)> {
        Some((self.proxy.as_deref()?, self.decision?))
    }
}

/// A present value, even if it is `null`.
fn even_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}
