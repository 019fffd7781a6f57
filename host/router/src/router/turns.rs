//! Turns that the client stops. When `session/cancel`, or a request that ends the session, passes a proxy that holds a
//! prompt or a permission request of the turn, the held request is stopped: it goes no further, and the proxy is
//! notified (protocol v1, Prompt Turn; v2, Prompt Lifecycle; RFD session-close). The host stops all turns where none
//! may go on without receipts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::core::Core;
use acp_chain_acp::{CANCEL, ELICITATION, Life, PERMISSION, TurnState, Turns, asks_in_turn};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{Exchange, Origin, PromptState, Stage, Turn};
use acp_chain_hops::hop::Item;
use acp_chain_hops::route::Place;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Message, code};
use serde_json::json;

/// The turns as the agent has them, by its names of their sessions.
pub(super) type AgentTurns = Turns<Arc<str>, Turn>;

impl Core {
    /// Handles a message that leaves its place: if it stops a turn, the prompts and permission requests of its session
    /// that are held there are stopped.
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
        // A proxy that sends the message itself handles what it holds.
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

    /// Notes that the client stops the turns of a session, and so does not wait for their ends.
    pub(super) fn give_up_turns(&mut self, session: &Arc<str>) {
        self.exchanges.give_up_turns(session);
        if let Some(turn) = self.turns.get_mut(session) {
            turn.is_given_up = true;
        }
    }

    /// Notes that the client gets the answer to a prompt.
    pub(super) fn note_answered(&mut self, prompt: &Exchange, answer: &Message) {
        let Some(session) = prompt
            .session
            .as_ref()
            .filter(|_| self.turns.acknowledges())
        else {
            return;
        };
        let is_given_up = prompt.turn == PromptState::GivenUp || prompt.cancel.is_some();
        let cost = session.len() + size_of::<Turn>();
        let Some(charge) = self.client.kept.charge(cost) else {
            return;
        };
        let turn = Turn {
            is_given_up,
            charge,
        };
        let ends = prompt.turn == PromptState::Over || answer.says_end();
        if let TurnState::Joins(_) = self.turns.answer(session.clone(), turn, ends)
            && let Some(running) = self.turns.get_mut(session)
        {
            // The turn is awaited as long as one of its prompts is.
            running.is_given_up &= is_given_up;
        }
    }

    /// Notes that the agent gets a message: if that stops a session's turns, nothing more is allowed in them, whoever
    /// sent it.
    #[inline]
    pub(super) fn note_stop(&mut self, of_agent: &mut AgentTurns, message: &Routed) {
        if message.life == Life::Stops
            && let Some(session) = message.session()
        {
            self.exchanges.note_stop(session);
            if let Some(turn) = of_agent.get_mut(session) {
                turn.is_given_up = true;
            }
        }
    }

    /// Notes that the client gets a notification, which may end a turn: unless the agent says that the turn goes on, so
    /// that a native proxy cannot end it.
    #[inline]
    pub(super) fn note_notification(&mut self, of_agent: &AgentTurns, message: &Message) {
        if !self.turns.is_empty()
            && message.is_idle()
            && let Some(session) = message.session()
            && !of_agent.has(session)
        {
            self.turns.end(session);
            self.tell_deeds(session);
        }
    }

    /// Whether the agent has an open prompt in this session, which is named as the agent does.
    pub(super) fn has_turn(&self, session: &Arc<str>) -> bool {
        let mut open = self.prompts_of(session);
        open.any(|asked| asked.stage == Stage::Out)
    }

    /// Asks the agent to stop all turns.
    pub(super) fn stop_turns(&mut self) {
        let prompts = self.exchanges.iter().filter(|(_, asked)| {
            asked.toward == Peer::Agent && asked.stage == Stage::Out && asked.life == Life::Prompts
        });
        let prompted = prompts.filter_map(|(_, asked)| asked.far_session());
        let sessions: BTreeSet<_> = prompted.chain(self.turns.sessions()).cloned().collect();
        for session in sessions {
            self.exchanges.note_stop(&session);
            let params = json!({ "sessionId": &*session }).to_string();
            let cancel = Message::notification(CANCEL, &params);
            self.send(Peer::Agent, &cancel, None);
        }
    }

    /// Whether a message asks for something in a turn that is stopped: by the client, or by a proxy whose stop has
    /// reached the agent that asks.
    #[inline]
    pub(super) fn asks_too_late(&self, of_agent: &AgentTurns, routed: &Routed) -> bool {
        let asks =
            routed.toward == Peer::Client && asks_in_turn(&routed.method) && !routed.is_response();
        let session = routed.session().filter(|_| asks);
        session.is_some_and(|session| {
            self.has_given_up(session)
                || self.is_of_agent(routed) && self.has_stopped(of_agent, session)
        })
    }

    /// Whether a request is one of the agent or of its hooks, which no proxy has sent again.
    fn is_of_agent(&self, routed: &Routed) -> bool {
        let exchange = self.exchanges.of(routed);
        exchange.is_some_and(|asked| matches!(asked.origin, Origin::Edge(..) | Origin::Hook(_)))
    }

    /// The open prompts of a session, which is named as the agent does.
    fn prompts_of(&self, session: &Arc<str>) -> impl Iterator<Item = &Exchange> {
        let all = self.exchanges.iter().map(|(_, asked)| asked);
        all.filter(move |asked| asked.toward == Peer::Agent && asked.is_prompt_in(session))
    }

    /// Whether the client waits for the end of no turn of a session, as it has stopped those that there are.
    fn has_given_up(&self, session: &Arc<str>) -> bool {
        let open = self.prompts_of(session);
        let open = open.map(|asked| asked.turn == PromptState::GivenUp || asked.cancel.is_some());
        let running = self.turns.get(session).map(|turn| turn.is_given_up);
        are_all(open.chain(running))
    }

    /// Whether the agent was told to stop all turns that it has in a session.
    fn has_stopped(&self, of_agent: &AgentTurns, session: &Arc<str>) -> bool {
        let open = self.prompts_of(session);
        let open = open.filter(|asked| asked.stage == Stage::Out);
        let open = open.map(|asked| asked.stopped || asked.cancel.is_some());
        let running = of_agent.get(session).map(|turn| turn.is_given_up);
        are_all(open.chain(running))
    }

    /// Whether a message is a prompt or a permission request that was stopped.
    pub(super) fn is_stopped(&self, routed: &Routed) -> bool {
        let is_marked = || self.exchanges.of(routed).is_some_and(|one| one.stopped);
        can_be_stopped(routed) && is_marked()
    }

    /// A proxy's answer; a cancellation of a stopped request is replaced by the answer that the protocol defines for
    /// it.
    pub(super) fn adapted_if_stopped(&self, routed: &Routed, answer: Message) -> Message {
        if self.is_stopped(routed) && answer.is_error(code::REQUEST_CANCELLED) {
            self.end_of_stopped(routed)
        } else {
            answer
        }
    }

    /// The answer to a request that was stopped before it reached its receiver. The answer to a prompt ends its turn;
    /// in version 2, where an answer means that the agent has the prompt, it is an error. It is also an error if the
    /// sender cancelled the request.
    pub(super) fn end_of_stopped(&self, routed: &Routed) -> Message {
        let exchange = self.exchanges.of(routed);
        let withdrawn = exchange.is_some_and(|exchange| exchange.cancel.is_some());
        if withdrawn || routed.is_of_hook() {
            Message::error(&Error::cancelled())
        } else if &*routed.method == PERMISSION {
            Message::result(r#"{"outcome":{"outcome":"cancelled"}}"#)
        } else if &*routed.method == ELICITATION {
            Message::result(r#"{"action":"cancel"}"#)
        } else if self.turns.acknowledges() {
            Message::error(&Error::cancelled())
        } else {
            Message::result(r#"{"stopReason":"cancelled"}"#)
        }
    }
}

/// Whether there are any, and all of them hold.
fn are_all(states: impl Iterator<Item = bool>) -> bool {
    states.reduce(|all, one| all && one) == Some(true)
}

fn can_be_stopped(routed: &Routed) -> bool {
    let belongs_to_turn = match routed.toward {
        Peer::Agent => routed.life == Life::Prompts,
        Peer::Client => asks_in_turn(&routed.method) || routed.is_of_hook(),
    };
    belongs_to_turn && !routed.is_response()
}
