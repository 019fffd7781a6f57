//! Turns that the user stops. When `session/cancel` passes a prompt that a proxy holds, the prompt goes no further,
//! and the proxy is told (protocol v1, Prompt Turn; v2, Prompt Lifecycle).

use super::core::Core;
use crate::hop::Item;
use crate::route::Place;
use crate::routed::Routed;
use acp_chain_channel::Peer;
use acp_chain_rpc::{Error, Kind, Message, code, member};

/// The request that opens a turn.
pub(super) const PROMPT: &str = "session/prompt";

/// The notification that stops a session's turn.
const STOP: &str = "session/cancel";

/// The first version of the protocol in which the answer to a prompt does not end its turn.
pub(super) const ACKNOWLEDGED: u64 = 2;

impl Core {
    /// A message leaves its place. If it stops a turn, the prompts of its session that are held there
    /// are stopped.
    pub(super) fn pass_turns(&mut self, routed: &Routed) {
        let Place::Hop(index) = routed.route.place(routed.at) else {
            return;
        };
        let hop = &self.hops[index];
        if hop.held.is_empty() || &*routed.method != STOP || routed.toward != Peer::Agent {
            return;
        }
        // A proxy that stops a turn itself knows which prompts it holds.
        if routed.is_response() || routed.maker == Some(index) {
            return;
        }
        let held = hop.held.iter().filter(|(_, held)| {
            let held = &held.routed;
            is_prompt(held) && held.session().is_some() && held.session() == routed.session()
        });
        let held = held.filter_map(|(id, held)| Some((*id, held.routed.exchange?)));
        for (id, number) in held.collect::<Vec<_>>() {
            let exchange = self.exchanges.get_mut(number);
            let first = exchange.is_some_and(|exchange| {
                let withdrawn = exchange.cancel.is_some();
                !std::mem::replace(&mut exchange.stopped, true) && !withdrawn
            });
            if first {
                self.hops[index].push(Item::Cancel(id));
                self.make_ready(index);
            }
        }
    }

    /// Whether a message is a prompt that was stopped.
    pub(super) fn is_stopped(&self, routed: &Routed) -> bool {
        let number = routed.exchange.filter(|_| is_prompt(routed));
        let exchange = number.and_then(|number| self.exchanges.get(number));
        exchange.is_some_and(|exchange| exchange.stopped)
    }

    /// A proxy's answer to a prompt, in the protocol's form for a stopped one.
    pub(super) fn in_words_of_turns(&self, routed: &Routed, answer: Message) -> Message {
        let is_cancelled = || {
            let code = member(answer.body(), "code");
            answer.kind() == Kind::Error && code == Some(&*code::REQUEST_CANCELLED.to_string())
        };
        match self.is_stopped(routed) && is_cancelled() {
            true => self.end_of_stopped(routed),
            false => answer,
        }
    }

    /// The answer to a prompt that was stopped before any agent had it: the end of its turn. It is an error where an
    /// answer means that the agent has the prompt, or if the client cancelled it.
    pub(super) fn end_of_stopped(&self, routed: &Routed) -> Message {
        let exchange = routed
            .exchange
            .and_then(|number| self.exchanges.get(number));
        let withdrawn = exchange.is_some_and(|exchange| exchange.cancel.is_some());
        match withdrawn || self.version >= ACKNOWLEDGED {
            false => Message::result(r#"{"stopReason":"cancelled"}"#),
            true => Message::error(&Error::cancelled()),
        }
    }
}

fn is_prompt(routed: &Routed) -> bool {
    !routed.is_response() && routed.toward == Peer::Agent && &*routed.method == PROMPT
}
