//! Turns that the user stops. When `session/cancel`, or what ends the session, passes a prompt that a proxy holds, the
//! prompt goes no further, and the proxy is told (protocol v1, Prompt Turn; v2, Prompt Lifecycle; RFD
//! session-close). The same happens to the permission requests of the turn.

use std::sync::Arc;

use super::core::Core;
use crate::exchange::{Exchange, Stage, Standing, Turn};
use crate::hop::Item;
use crate::route::Place;
use crate::routed::Routed;
use acp_chain_acp::{Answered, Life, PERMISSION};
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
        if hop.held().len() == 0
            || routed.toward != Peer::Agent
            || !matches!(routed.life, Life::Stops | Life::Ends)
        {
            return;
        }
        // A proxy that stops a turn itself knows what it holds.
        if routed.is_response() || routed.labels.maker() == Some(index) {
            return;
        }
        let held = hop.held().filter(|(_, held)| {
            let held = &held.routed;
            can_be_stopped(held) && held.session().is_some() && held.session() == routed.session()
        });
        let held = held.filter_map(|(id, held)| Some((id, held.routed.exchange?)));
        for (id, number) in held.collect::<Vec<_>>() {
            let exchange = self.exchanges.get_mut(number);
            let first = exchange.is_some_and(|exchange| {
                let withdrawn = exchange.cancel.is_some();
                !std::mem::replace(&mut exchange.stopped, true) && !withdrawn
            });
            if first {
                self.enqueue(index, Item::Cancel(id));
            }
        }
    }

    /// The client stops the turns of a session: it waits for none of them.
    pub(super) fn give_up_turns(&mut self, session: &Arc<str>) {
        self.exchanges.give_up_turns(session);
        if let Some(turn) = self.turns.get_mut(session) {
            turn.is_given_up = true;
        }
    }

    /// The client gets the answer to a prompt.
    pub(super) fn note_answered(&mut self, prompt: &Exchange, answer: &Message) {
        let Some(session) = prompt
            .session
            .as_ref()
            .filter(|_| self.turns.acknowledges())
        else {
            return;
        };
        let is_given_up = prompt.turn == Standing::GivenUp || prompt.cancel.is_some();
        let cost = session.len() + size_of::<Turn>();
        let Some(charge) = self.client.kept.charge(cost) else {
            return;
        };
        let turn = Turn {
            is_given_up,
            _charge: charge,
        };
        let ends = prompt.turn == Standing::Over || answer.says_end();
        if let Answered::Joins(_) = self.turns.answer(session.clone(), turn, ends)
            && let Some(running) = self.turns.get_mut(session)
        {
            // Of the prompts in one turn, one that is waited for is enough.
            running.is_given_up &= is_given_up;
        }
    }

    /// The client gets a notification, which may end a turn.
    #[inline]
    pub(super) fn note_told(&mut self, message: &Message) {
        if !self.turns.is_empty()
            && message.is_idle()
            && let Some(session) = message.session()
        {
            self.turns.end(session);
        }
    }

    /// Whether the agent has a prompt in this session, by its own name for it.
    pub(super) fn has_turn(&self, session: &Arc<str>) -> bool {
        let mut open = self.exchanges.iter();
        open.any(|(_, asked)| {
            asked.toward == Peer::Agent
                && asked.stage == Stage::Out
                && asked.life == Life::Prompts
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
            false if self.turns.acknowledges() => Message::error(&Error::cancelled()),
            false => Message::result(r#"{"stopReason":"cancelled"}"#),
        }
    }
}

fn can_be_stopped(routed: &Routed) -> bool {
    let belongs_to_turn = match routed.toward {
        Peer::Agent => routed.life == Life::Prompts,
        Peer::Client => &*routed.method == PERMISSION,
    };
    belongs_to_turn && !routed.is_response()
}
