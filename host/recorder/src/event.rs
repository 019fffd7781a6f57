//! Events, in a form that is cheap to keep. The writer converts them to lines.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use humantime::format_rfc3339_micros;
use serde_json::value::RawValue;

use acp_chain_channel::Tally;
use acp_chain_rpc::{Id, Kind, Message};
use acp_chain_trace::{Decision, Kind as LineKind, Line, Role, State, VERSION, Would};

/// The cost of keeping an event, besides its contents.
const ENTRY: usize = 256;

/// What a line is about.
#[derive(Clone, Debug)]
pub struct About {
    /// The number of the message.
    pub message: Option<NonZeroU64>,
    /// The number of the request within the chain, for a request or its answer.
    pub request: Option<u64>,
    /// The method; of a response, that of the request.
    pub method: Arc<str>,
    /// The session that the message belongs to.
    pub session: Option<Arc<str>>,
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A message went from the part of the chain that saw it last to the next that sees it. Parts that do not see the
    /// message do not appear.
    Crossed {
        /// `client`, `agent`, the id of a proxy, or [`HOST`](super::HOST).
        from: String,
        /// `client`, `agent`, the id of a proxy, or [`HOST`](super::HOST).
        to: String,
        /// The requester's id of the request.
        id: Option<Id>,
        /// What it is about.
        about: About,
        /// How long it waited for its receiving proxy.
        waited: Option<Duration>,
        /// The message.
        message: Message,
    },
    /// A proxy decided about a message, or the host in place of the proxy.
    Decided {
        /// The id of the proxy.
        proxy: String,
        /// What it decided.
        decision: Decision,
        /// What it is about.
        about: About,
        /// How long the proxy worked.
        worked: Option<Duration>,
        /// How long the proxy held the message.
        held: Option<Duration>,
        /// Why the host decided.
        why: Option<String>,
        /// What it decided about, for an observer, unless it was forwarded.
        content: Option<Box<Content>>,
    },
    /// A proxy would have done something, in a dry run.
    Spared {
        /// The id of the proxy.
        proxy: String,
        /// What it would have done.
        would: Would,
        /// What it is about: the proxy's own message, if it would have sent one.
        about: About,
        /// Why it would have failed.
        why: Option<String>,
    },
    /// A proxy changed its state.
    Became {
        /// The id of the proxy.
        proxy: String,
        /// The new state.
        state: State,
        /// How often it has been restarted so far.
        restarts: u64,
        /// The size of the proxy's memory, in bytes, which is updated.
        memory: Option<Arc<AtomicUsize>>,
        /// Its process id, if it is a running program.
        process: Option<u32>,
        /// Why it failed.
        why: Option<String>,
    },
    /// A proxy's denied calls since the last report.
    Refused {
        /// The id of the proxy.
        proxy: String,
        /// How often.
        tally: Tally,
        /// The message that it was called with, if any.
        about: Option<About>,
    },
}

/// A message that a proxy did not forward as it was.
#[derive(Debug)]
pub struct Content {
    /// The message that it got.
    pub before: Message,
    /// What the proxy replaced it by, or answered.
    pub after: Option<Message>,
}

impl Event {
    /// The cost of keeping the event, in bytes.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::Crossed { about, message, .. } => about.cost() + message.cost(),
            Self::Decided { about, content, .. } => {
                about.cost() + content.as_deref().map_or(0, Content::cost)
            }
            Self::Spared { about, .. } => about.cost(),
            Self::Refused { about, .. } => about.as_ref().map_or(ENTRY, About::cost),
            Self::Became { .. } => ENTRY,
        }
    }

    /// The line for it.
    pub(crate) fn line(self) -> Line {
        match self {
            Self::Crossed {
                from,
                to,
                id,
                about,
                waited,
                message,
            } => {
                let body = raw(message.body());
                let mut line = Line {
                    size: u64::try_from(message.len()).ok(),
                    waited: waited.and_then(micros),
                    from: Some(from),
                    to: Some(to),
                    id: id.and_then(|id| raw(id.as_str())),
                    ..about.line()
                };
                let (kind, slot) = match message.kind() {
                    Kind::Request => (LineKind::Request, &mut line.params),
                    Kind::Notification => (LineKind::Notification, &mut line.params),
                    Kind::Result => (LineKind::Response, &mut line.result),
                    Kind::Error => (LineKind::Response, &mut line.error),
                };
                *slot = body;
                line.kind = Some(kind);
                line
            }
            Self::Decided {
                proxy,
                decision,
                about,
                worked,
                held,
                why,
                content: _,
            } => Line {
                worked: worked.and_then(micros),
                held: held.and_then(micros),
                proxy: Some(proxy),
                decision: Some(decision),
                why,
                ..about.line()
            },
            Self::Spared {
                proxy,
                would,
                about,
                why,
            } => Line {
                proxy: Some(proxy),
                would: Some(would),
                why,
                ..about.line()
            },
            Self::Became {
                proxy,
                state,
                restarts,
                memory,
                process,
                why,
            } => Line {
                memory: memory.as_deref().map(in_use),
                process,
                proxy: Some(proxy),
                state: Some(state),
                restarts: Some(restarts),
                why,
                ..Line::default()
            },
            Self::Refused {
                proxy,
                tally,
                about,
            } => Line {
                proxy: Some(proxy),
                denied: Some(tally.denied),
                invalid: Some(tally.invalid),
                full: Some(tally.full),
                ..about.map_or_else(Line::default, About::line)
            },
        }
    }
}

impl Content {
    /// The cost of keeping it, in bytes.
    fn cost(&self) -> usize {
        self.before.cost() + self.after.as_ref().map_or(0, Message::cost)
    }
}

impl About {
    /// The cost of keeping it, in bytes. The names count fully, as this may be their last copy.
    fn cost(&self) -> usize {
        let session = self.session.as_ref().map_or(0, |session| session.len());
        ENTRY + self.method.len() + session
    }

    fn line(self) -> Line {
        Line {
            message: self.message.map(NonZeroU64::get),
            request: self.request,
            method: Some(self.method.as_ref().to_owned()),
            session: self.session.map(|session| session.as_ref().to_owned()),
            ..Line::default()
        }
    }
}

/// The chain of a connection that begins.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The role of the chain for its client.
    pub role: Role,
    /// The ids of its proxies.
    pub proxies: Vec<String>,
    /// The name of the agent's program, if the host started it.
    pub agent: Option<String>,
    /// What the chain consists of, as JSON, for an observer.
    pub chain: Option<Arc<str>>,
}

impl Beginning {
    /// The first line of a connection.
    pub(crate) fn line(self, connection: &str, user: Option<&str>) -> Line {
        Line {
            time: stamp(SystemTime::now()),
            connection: connection.to_owned(),
            version: Some(VERSION),
            program: Some(concat!("acp-chain ", env!("CARGO_PKG_VERSION")).to_owned()),
            role: Some(self.role),
            proxies: Some(self.proxies),
            masked: Some(false),
            agent: self.agent,
            user: user.map(str::to_owned),
            ..Line::default()
        }
    }
}

/// The size of a proxy's memory, in bytes.
pub fn in_use(memory: &AtomicUsize) -> u64 {
    memory.load(Ordering::Relaxed) as u64
}

/// A time as it is written in lines.
pub fn stamp(time: SystemTime) -> String {
    format_rfc3339_micros(time).to_string()
}

fn micros(time: Duration) -> Option<u64> {
    u64::try_from(time.as_micros()).ok()
}

/// JSON text as it is. Those of messages have no line breaks.
fn raw(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}
