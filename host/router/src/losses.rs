//! What the chain drops, and who is notified.
//!
//! Invariants: code that drops a message, a line or an entry names a [`Loss`], whose row in the table says who is
//! notified, or why the user is not. The book shows the table, and the tests check each row (`wire::losses`).

use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write};

use tracing::Level;

use acp_chain_hops::route::Place;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};

/// How often the user is notified of a kind of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Of the first one of each sender, or at each proxy.
    First,
    /// Of the first one at each proxy for which the client gets no error.
    Missed,
    /// Of each one, once.
    Each,
    /// Never, for this reason.
    Never(&'static str),
}

/// A row of the table.
struct Row {
    what: &'static str,
    /// Who gets an error.
    error: &'static str,
    user: Frequency,
    log: Level,
}

macro_rules! losses {
    ($($loss:ident: $what:literal, $error:literal, $user:expr, $log:ident;)*) => {
        /// A kind of loss.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Loss {
            $(#[doc = $what] $loss,)*
        }

        impl Loss {
            /// All kinds, in the order of the table.
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
    Line: "a malformed line of the agent, or of a proxy",
        "the sender, if it may wait; the requester, if the line was an answer", First, WARN;
    Misplaced: "a notification in a session that the proxy is not a part of, of the method `proxy/…` from an end, or a \
                `$/cancel_request` without an id",
        "—", First, WARN;
    Unasked: "an answer to a request that was never sent",
        "—", First, WARN;
    Guarded: "a message that cannot pass a guard, since readers could read it differently: names that differ in case only, from each other or from those of the protocol, or a list in the place of an object",
        "the sender of a request; the requester, if it was an answer", Missed, WARN;
    Undecided: "a message about which a proxy could not decide, or which it held for too long",
        "the sender of a request; the requester, if it was an answer", Missed, ERROR;
    Offer: "a tool, a resource or a prompt that a proxy lists, and an agent could not use",
        "—", Each, WARN;
    Server: "an MCP server that cannot be declared to the agent",
        "—", Each, WARN;
    Broken: "a message that a proxy had when it broke, or that came for it once it was given up",
        "the sender of a request; the requester, if it was an answer",
        Never("the user is notified that the proxy broke, and that it is given up"), ERROR;
    Refused: "a request that is refused, or a malformed line of the client",
        "the sender", Never("the error tells the sender why"), WARN;
    Early: "a notification, or an answer, before `initialize`",
        "—", Never("there is no session yet in which it could be missed"), WARN;
    Late: "an answer to a request that is answered already",
        "—", Never("the requester has an answer: what was withdrawn or has failed may still be answered"), WARN;
    Nameless: "an answer without an id, unless it states that a message could not be read",
        "—", Never("some software answers notifications"), WARN;
    Crossed: "a cancellation of a request that is answered already",
        "—", Never("the cancellation and the answer crossed"), DEBUG;
    Unconnected: "an MCP notification for a server or a connection that does not exist",
        "—", Never("servers and connections end with their session; notifications in transit then arrive too late"), WARN;
    Orphaned: "an answer for an earlier instance of a proxy, which broke",
        "—", Never("the user is notified that the proxy broke"), DEBUG;
    Unread: "what waits for an end that no longer reads",
        "the sender of a request", Never("the client is no longer there, or its requests fail"), DEBUG;
}

impl Loss {
    /// How often the user is notified.
    pub const fn user(self) -> Frequency {
        self.row().user
    }
}

/// The table in Markdown.
pub fn markdown() -> String {
    let mut text = String::from(
        "| What is dropped | Who gets an error | Whether the user is notified |\n|---|---|---|\n",
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

/// What one connection has dropped, and of which losses the user was notified.
#[derive(Debug, Default)]
pub struct Losses {
    /// The number of losses, by sender, or by the proxy at which it happened.
    counts: HashMap<(Loss, Place), u64>,
    notified: HashSet<(Loss, Place)>,
    /// The texts of which the user was notified, by sender or by proxy (see [`Frequency::Each`]); without a place,
    /// other topics.
    texts: HashMap<Option<Place>, HashSet<String>>,
}

impl Losses {
    /// Counts a loss of a sender, or at a proxy. The log gets the first hundred of each kind, and those whose number is
    /// a power of two.
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

    /// Notes that the user is notified of a kind of loss at a place. Returns whether it is the first time.
    pub fn note_first(&mut self, loss: Loss, at: Place) -> bool {
        self.notified.insert((loss, at))
    }

    /// Notes that the user is notified of this text at a place, or of a topic. Returns whether it is new. For each
    /// place, only a limited number of texts is remembered and shown.
    pub fn note_text(&mut self, at: Option<Place>, text: &str) -> bool {
        let most = if at.is_some() { 32 } else { 256 };
        let texts = self.texts.entry(at).or_default();
        texts.len() < most && texts.insert(text.to_owned())
    }

    /// Forgets the losses of a place, as another proxy has it from now on.
    pub fn forget(&mut self, at: Place) {
        self.counts.retain(|(_, place), _| *place != at);
        self.notified.retain(|(_, place)| *place != at);
        self.texts.remove(&Some(at));
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
