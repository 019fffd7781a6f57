//! What the chain drops of what comes to it, and who is told.
//!
//! Invariants: whatever drops a message, a line or an entry names a [`Loss`], whose row in the table says who is told;
//! where the user is not, it has the reason. The book shows the table, and the tests walk through it (`wire::losses`).

use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write};

use tracing::Level;

use super::route::Place;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};

/// How often the user is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// The first of each sender, or at each proxy.
    First,
    /// The same, but for what the client gets an error for, or in place of.
    Missed,
    /// Each thing once.
    Each,
    /// Not at all, for this reason.
    Never(&'static str),
}

/// What the table says of one kind.
struct Row {
    what: &'static str,
    /// Who gets an error.
    error: &'static str,
    user: Frequency,
    log: Level,
}

macro_rules! losses {
    ($($loss:ident: $what:literal, $error:literal, $user:expr, $log:ident;)*) => {
        /// A kind of what is dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Loss {
            $(#[doc = $what] $loss,)*
        }

        impl Loss {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$loss),*];

            const fn row(self) -> Row {
                match self {
                    $(Self::$loss => Row { what: $what, error: $error, user: $user, log: Level::$log },)*
                }
            }
        }
    };
}

use Frequency::{Each, First, Missed, Never};

losses! {
    Line: "a line of the agent, or of a proxy, that is no message",
        "the sender, if it may wait; the requester, if the line was an answer", First, WARN;
    Misplaced: "a notification in a session that the proxy is not a part of, of the method `proxy/…` from an end, or a \
                `$/cancel_request` without an id",
        "—", First, WARN;
    Unasked: "an answer to a request that never was",
        "—", First, WARN;
    Guarded: "a message that cannot pass a guard, since readers could take it for different things",
        "the sender of a request; the requester, if it was an answer", Missed, WARN;
    Undecided: "a message about which a proxy could not decide, or which it held for too long",
        "the sender of a request; the requester, if it was an answer", Missed, ERROR;
    Offer: "a tool, a resource or a prompt that a proxy lists, and an agent could not use",
        "—", Each, WARN;
    Server: "an MCP server that cannot be declared to the agent",
        "—", Each, WARN;
    Broken: "a message that a proxy had when it broke, or that came for it once it was given up",
        "the sender of a request; the requester, if it was an answer",
        Never("the user is told that the proxy broke, and that it is given up"), ERROR;
    Refused: "a request that is refused, or a line of the client that is no message",
        "the sender", Never("the sender knows why"), WARN;
    Early: "a notification, or an answer, before `initialize`",
        "—", Never("there is no session yet that it could be missed in"), WARN;
    Late: "an answer to a request that is answered already",
        "—", Never("the requester has an answer: what was withdrawn or has failed may still be answered"), WARN;
    Crossed: "a cancellation of a request that is answered already",
        "—", Never("it and the answer crossed"), DEBUG;
    Unconnected: "an MCP notification for a server or a connection that is not there",
        "—", Never("those end with their session, and what is on its way then comes too late"), WARN;
    Orphaned: "an answer for an earlier instance of a proxy, which broke",
        "—", Never("the user is told that the proxy broke"), DEBUG;
    Unread: "what waits for an end that no longer reads",
        "the sender of a request", Never("the client is no longer there, or its requests fail"), DEBUG;
}

impl Loss {
    /// How often the user is told.
    #[must_use]
    pub const fn user(self) -> Frequency {
        self.row().user
    }
}

/// The table in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(
        "| What is dropped | Who gets an error | Whether the user is told |\n|---|---|---|\n",
    );
    for loss in Loss::ALL {
        let Row { what, error, .. } = loss.row();
        let user = match loss.user() {
            First => "the first of each sender".to_owned(),
            Missed => "at each proxy, the first for which the client gets no error".to_owned(),
            Each => "each, once".to_owned(),
            Never(why) => format!("no: {why}"),
        };
        let _ = writeln!(text, "| {what} | {error} | {user} |");
    }
    text
}

/// What one connection has dropped, and which of it the user was told.
#[derive(Debug, Default)]
pub struct Losses {
    /// By sender, or by the proxy at which it was dropped.
    counts: HashMap<(Loss, Place), u64>,
    told: HashSet<(Loss, Place)>,
    /// What each sender, or each proxy, was told of by name.
    each: HashMap<Place, HashSet<String>>,
    things: HashSet<String>,
}

impl Losses {
    /// Counts one more of a sender, or at a proxy. The log gets the first hundred of each kind, and ever fewer of the
    /// others.
    pub fn note(&mut self, loss: Loss, at: Place, why: &dyn Display) {
        const ALL: u64 = 100;
        let count = self.counts.entry((loss, at)).or_default();
        *count += 1;
        if *count > ALL && !count.is_power_of_two() {
            return;
        }
        let why = Untrusted::within(why, MAX_QUOTE);
        match loss.row().log {
            Level::ERROR => tracing::error!(count, ?loss, "{why}"),
            Level::DEBUG => tracing::debug!(count, ?loss, "{why}"),
            _ => tracing::warn!(count, ?loss, "{why}"),
        }
    }

    /// Notes that the user is told of a kind of loss there. Returns whether it is the first.
    pub fn note_first(&mut self, loss: Loss, at: Place) -> bool {
        self.told.insert((loss, at))
    }

    /// Notes that the user is told of what was lost there. Returns whether it is new. Of one place no more than some are
    /// remembered, and told.
    pub fn note_each(&mut self, at: Place, what: String) -> bool {
        const EACH: usize = 32;
        let told = self.each.entry(at).or_default();
        told.len() < EACH && told.insert(what)
    }

    /// Notes that the user is told of a thing. Returns whether it is new. No more than some are remembered, and told.
    pub fn note_thing(&mut self, thing: &str) -> bool {
        const THINGS: usize = 256;
        self.things.len() < THINGS && self.things.insert(thing.to_owned())
    }

    /// Another proxy has this place from now on.
    pub fn forget(&mut self, at: Place) {
        self.counts.retain(|(_, place), _| *place != at);
        self.told.retain(|(_, place)| *place != at);
        self.each.remove(&at);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_book_shows_this_table() {
        let page = include_str!("../../../docs/behaviour.md");
        let table = super::markdown();
        assert!(page.contains(&table), "docs/behaviour.md lacks\n{table}");
    }
}
