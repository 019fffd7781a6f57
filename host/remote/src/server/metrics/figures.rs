//! The counters.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Page;

/// A counter that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The bounds of histograms, in seconds.
type Bounds = [f64; 12];

/// Those of turns.
const TURNS: Bounds = [
    0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0,
];

/// Those of calls to another process and a database.
const CALLS: Bounds = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 3.0,
];

/// A histogram of durations.
#[derive(Debug)]
pub struct Histogram {
    bounds: Bounds,
    /// Up to each of the bounds, and beyond.
    counts: [Count; 13],
    microseconds: Count,
}

impl Histogram {
    fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            counts: Default::default(),
            microseconds: Count::default(),
        }
    }

    /// Of calls.
    pub fn of_calls() -> Self {
        Self::new(CALLS)
    }

    pub fn add(&self, took: Duration) {
        let at = self
            .bounds
            .partition_point(|bound| *bound < took.as_secs_f64());
        self.counts[at].add(1);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.add(microseconds);
    }

    /// The number between each bound and the one before.
    pub fn counts(&self) -> impl Iterator<Item = (Option<f64>, u64)> {
        let bounds = self.bounds.into_iter().map(Some).chain([None]);
        bounds.zip(self.counts.iter().map(Count::get))
    }

    /// In seconds.
    pub fn sum(&self) -> f64 {
        Duration::from_micros(self.microseconds.get()).as_secs_f64()
    }
}

/// Of turns.
impl Default for Histogram {
    fn default() -> Self {
        Self::new(TURNS)
    }
}

/// Declares the values of a label.
macro_rules! label {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $value:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            const NAMES: &[&str] = &[$($value,)*];

            /// The value of the label.
            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

label! {
    /// The transport of a client.
    TransportKind {
        /// A stream of events for each session.
        Http = "http",
        /// One WebSocket for all.
        WebSocket = "websocket",
    }
}

label! {
    /// Why a client is rejected.
    Refusal {
        /// The limit of connections or instances is reached.
        NoRoom = "no_room",
        /// The limit of sockets is reached.
        Sockets = "sockets",
        /// This user's limit of connections is reached.
        Connections = "connections_per_user",
        /// This user's limit of sessions is reached.
        Sessions = "sessions_per_user",
        /// There is no room for more incomplete messages.
        Bodies = "bodies",
        /// Authentication failed.
        Unauthenticated = "unauthenticated",
        /// A page of another origin.
        Origin = "origin",
        /// The server does not have this host name.
        Host = "host",
        /// The server is about to stop.
        Draining = "draining",
        /// What replicas must know together cannot be asked.
        Store = "store",
        /// Another replica serves the session.
        Held = "held",
        /// This user's limit of prompts is reached.
        Prompts = "prompts_per_hour",
        /// This user's limit of bytes is reached.
        Bytes = "bytes_per_hour",
        /// This user's limit of turns at once, or that of a group, is reached.
        Shares = "turns_per_user",
        /// As many turns run as may, and others are next.
        Turns = "turns",
    }
}

label! {
    /// How a turn ends.
    TurnEnd {
        /// The agent has finished.
        EndTurn = "end_turn",
        /// The agent has reached its limit of tokens.
        MaxTokens = "max_tokens",
        /// The agent has reached its limit of model requests.
        MaxTurnRequests = "max_turn_requests",
        /// The agent refused.
        Refusal = "refusal",
        /// The client cancelled the turn.
        Cancelled = "cancelled",
        /// For a reason unknown to ACP.
        Other = "other",
        /// With an error.
        Error = "error",
        /// With its connection.
        Lost = "lost",
    }
}

impl TurnEnd {
    /// The end of a turn with this `stopReason`.
    pub fn of(reason: &str) -> Self {
        match reason {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "refusal" => Self::Refusal,
            "cancelled" => Self::Cancelled,
            _ => Self::Other,
        }
    }
}

/// The counters of a server.
#[derive(Debug, Default)]
pub struct Figures {
    opened: [Count; TransportKind::NAMES.len()],
    ended: [Count; TransportKind::NAMES.len()],
    refused: [Count; Refusal::NAMES.len()],
    turns: [Count; TurnEnd::NAMES.len()],
    turn_times: Histogram,
    /// Messages from clients and their bytes; and those to clients.
    received: [Count; 2],
    sent: [Count; 2],
    resumed: Count,
    forgotten: Count,
}

impl Figures {
    /// A connection begins.
    pub fn opened(&self, way: TransportKind) {
        self.opened[way as usize].add(1);
    }

    /// A connection has ended.
    pub fn ended(&self, way: TransportKind) {
        self.ended[way as usize].add(1);
    }

    /// A client is rejected.
    pub fn refused(&self, why: Refusal) {
        self.refused[why as usize].add(1);
    }

    /// A turn has ended.
    pub fn turned(&self, how: TurnEnd, took: Duration) {
        self.turns[how as usize].add(1);
        self.turn_times.add(took);
    }

    /// A client has sent a message.
    pub fn received(&self, bytes: usize) {
        self.received[0].add(1);
        self.received[1].add(bytes as u64);
    }

    /// A message is sent to a client.
    pub fn sent(&self, bytes: usize) {
        self.sent[0].add(1);
        self.sent[1].add(bytes as u64);
    }

    /// A stream is resumed, or cannot be.
    pub fn resumed(&self, goes_on: bool) {
        if goes_on {
            self.resumed.add(1);
        } else {
            self.forgotten.add(1);
        }
    }

    /// Writes everything.
    pub fn write(&self, page: &mut Page) {
        fn by(names: &[&'static str], counts: &[Count]) -> Vec<(&'static str, u64)> {
            let counts = counts.iter().map(Count::get);
            names.iter().copied().zip(counts).collect()
        }
        page.values(
            "acp_chain_connections_opened_total",
            "Connections that have begun.",
            "transport",
            by(TransportKind::NAMES, &self.opened),
        );
        page.values(
            "acp_chain_connections_ended_total",
            "Connections that have ended.",
            "transport",
            by(TransportKind::NAMES, &self.ended),
        );
        page.values(
            "acp_chain_refused_total",
            "Requests that were refused, by the reason.",
            "reason",
            by(Refusal::NAMES, &self.refused),
        );
        page.values(
            "acp_chain_turns_total",
            "Turns that have ended, by how they ended.",
            "end",
            by(TurnEnd::NAMES, &self.turns),
        );
        page.histogram(
            "acp_chain_turn_duration_seconds",
            "How long turns took, from the prompt to its answer.",
            &self.turn_times,
        );
        let ways = ["from_client", "to_client"];
        let both = |at: usize| {
            ways.into_iter()
                .zip([&self.received, &self.sent].map(|one| one[at].get()))
        };
        page.values(
            "acp_chain_messages_total",
            "Messages from clients and to clients.",
            "direction",
            both(0),
        );
        page.values(
            "acp_chain_message_bytes_total",
            "The bytes of those messages.",
            "direction",
            both(1),
        );
        page.value(
            "acp_chain_streams_resumed_total",
            "Streams that clients have resumed.",
            self.resumed.get(),
        );
        page.value(
            "acp_chain_streams_forgotten_total",
            "Streams that could not be resumed, as their events were no longer kept.",
            self.forgotten.get(),
        );
    }
}
