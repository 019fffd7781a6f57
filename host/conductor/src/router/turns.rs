//! Turns that the user stops. When `session/cancel`, or what ends the session, passes a prompt that a proxy holds, the
//! prompt goes no further, and the proxy is told (protocol v1, Prompt Turn; v2, Prompt Lifecycle; RFD
//! session-close). The same happens to the permission requests of the turn.

use std::sync::Arc;

use super::core::Core;
use crate::exchange::Stage;
use crate::hop::Item;
use crate::route::Place;
use crate::routed::Routed;
use acp_chain_acp::{ACKNOWLEDGED, Life, PERMISSION, PROMPT};
use acp_chain_channel::Peer;
use acp_chain_rpc::{Error, Message, code};

impl Core {
    /// A message leaves its place. If it stops a turn, the prompts and permission requests of its session that are held
    /// there are stopped.
    pub(super) fn pass_turns(&mut self, routed: &Routed) {
        let Place::Hop(index) = routed.route.place(routed.at) else {
            return;
        };
        let hop = &self.hops[index];
        if hop.held.is_empty() || routed.toward != Peer::Agent || !stops(&routed.method) {
            return;
        }
        // A proxy that stops a turn itself knows what it holds.
        if routed.is_response() || routed.maker == Some(index) {
            return;
        }
        let held = hop.held.iter().filter(|(_, held)| {
            let held = &held.routed;
            can_be_stopped(held) && held.session().is_some() && held.session() == routed.session()
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

    /// Whether the agent has a prompt in this session, by its own name for it.
    pub(super) fn has_turn(&self, session: &Arc<str>) -> bool {
        let mut open = self.exchanges.iter();
        open.any(|(_, asked)| {
            asked.toward == Peer::Agent
                && asked.stage == Stage::Out
                && &*asked.method == PROMPT
                && asked.far_session() == Some(session)
        })
    }

    /// Whether a message is a prompt or a permission request that was stopped.
    pub(super) fn is_stopped(&self, routed: &Routed) -> bool {
        let number = routed.exchange.filter(|_| can_be_stopped(routed));
        let exchange = number.and_then(|number| self.exchanges.get(number));
        exchange.is_some_and(|exchange| exchange.stopped)
    }

    /// A proxy's answer, in the protocol's form if its request was stopped.
    pub(super) fn in_words_of_turns(&self, routed: &Routed, answer: Message) -> Message {
        match self.is_stopped(routed) && answer.is_error(code::REQUEST_CANCELLED) {
            true => self.end_of_stopped(routed),
            false => answer,
        }
    }

    /// The answer to a request that was stopped before it arrived. That to a prompt is the end of its turn, and an error
    /// where an answer means that the agent has the prompt. It is also an error if the sender withdrew the request.
    pub(super) fn end_of_stopped(&self, routed: &Routed) -> Message {
        let exchange = routed
            .exchange
            .and_then(|number| self.exchanges.get(number));
        let withdrawn = exchange.is_some_and(|exchange| exchange.cancel.is_some());
        match withdrawn {
            true => Message::error(&Error::cancelled()),
            false if &*routed.method == PERMISSION => {
                Message::result(r#"{"outcome":{"outcome":"cancelled"}}"#)
            }
            false if self.version >= ACKNOWLEDGED => Message::error(&Error::cancelled()),
            false => Message::result(r#"{"stopReason":"cancelled"}"#),
        }
    }
}

/// Whether a message toward the agent stops the turns of its session.
fn stops(method: &str) -> bool {
    matches!(Life::of(method), Life::Stops | Life::Ends)
}

fn can_be_stopped(routed: &Routed) -> bool {
    let method = match routed.toward {
        Peer::Agent => PROMPT,
        Peer::Client => PERMISSION,
    };
    !routed.is_response() && &*routed.method == method
}
