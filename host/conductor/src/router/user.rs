//! The host's own notices for the user, in the client.
//!
//! In version 1, it is a message of the agent, which a client shows in a turn: it is sent while a turn is open, and
//! otherwise waits for the next one. In version 2, where the answer to a prompt does not end its turn, it is a
//! notice, which is allowed whenever there is a session (v2, Session Notices): it waits for the first prompt, then
//! goes to the session prompted last.

use std::fmt::Display;
use std::sync::Arc;

use serde_json::json;

use super::core::Core;
use super::notices::LONGEST;
use crate::exchange::{Exchange, Origin};
use crate::losses::{Frequency, Loss};
use crate::route::{HopIndex, Place};
use crate::routed::Routed;
use acp_chain_acp::{Life, UPDATE};
use acp_chain_channel::Peer;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};
use acp_chain_rpc::{Kind, Message};

impl Core {
    /// Tells the user that a proxy broke: the first time, and when it is given up.
    pub(super) fn tell_failure(&mut self, index: HopIndex, reason: &str, restarts: bool) {
        let told = self.hops[index].note_told();
        let hop = &self.hops[index];
        let name = hop.title();
        let fate = match restarts {
            true if told => return,
            true => "It is started again.",
            false if hop.ends_open() => "It is given up; everything passes it by from now on.",
            false => "It is given up; what it was to see is refused from now on.",
        };
        self.tell_user(&format!("{name} broke: {reason}. {fate}"));
    }

    /// Drops something of a sender, or at a proxy: tells whom the table says.
    pub fn lose(&mut self, loss: Loss, at: Place, why: &dyn Display) {
        self.losses.note(loss, at, why);
        match loss.user() {
            Frequency::First | Frequency::Missed if self.losses.note_first(loss, at) => {
                let why = Untrusted::within(why, MAX_QUOTE);
                self.tell_user(&format!(
                    "{why}. If something is missing, that may be why. Of more like it only the log tells."
                ));
            }
            Frequency::Each => {
                let text = Untrusted::within(why, LONGEST).to_string();
                if self.losses.note_each(at, text.clone()) {
                    self.tell_user(&text);
                }
            }
            _ => {}
        }
    }

    /// The same for a message that an error may take the place of: one that the client gets says it.
    pub(super) fn lose_on_way(
        &mut self,
        loss: Loss,
        index: HopIndex,
        routed: &Routed,
        why: &dyn Display,
    ) {
        let at = Place::Hop(index);
        match (routed.toward, routed.message.kind()) {
            (Peer::Agent, Kind::Request) | (Peer::Client, Kind::Result | Kind::Error) => {
                self.losses.note(loss, at, why);
            }
            _ => self.lose(loss, at, why),
        }
    }

    /// The same for what a proxy has sent.
    pub fn lose_of_proxy(&mut self, loss: Loss, index: HopIndex, what: &dyn Display) {
        let name = self.hops[index].title();
        let why = format_args!("dropped what {name} sent: {what}");
        self.lose(loss, Place::Hop(index), &why);
    }

    /// Tells the user something about a thing, once.
    pub fn tell_once(&mut self, thing: &str, text: &str) {
        if self.losses.note_thing(thing) {
            tracing::info!("{text}");
            self.tell_user(text);
        }
    }

    /// Tells the user something, and where to find more, as soon as there is a turn.
    pub fn tell_user(&mut self, text: &str) {
        self.notices.add(text);
        self.send_notices();
    }

    /// The client has sent a request in a session: it may prompt or end it.
    pub(super) fn note_request(&mut self, life: Life, session: &Arc<str>) {
        match life {
            Life::Prompts => {
                self.notices.prompted(session);
                self.send_notices();
            }
            Life::Ends => self.notices.ended(session),
            _ => {}
        }
    }

    /// Sends the waiting notices, if they can be shown.
    fn send_notices(&mut self) {
        if self.notices.is_empty() {
            return;
        }
        let are_notices = self.turns.acknowledges();
        let session = if are_notices {
            self.notices.session()
        } else {
            self.turn()
        };
        let Some(session) = session else {
            return;
        };
        for text in self.notices.take() {
            let update = if are_notices {
                json!({
                    "sessionUpdate": "notice",
                    "severity": "warning",
                    "title": format!("acp-chain: {text}"),
                })
            } else {
                json!({
                    "sessionUpdate": "agent_message_chunk",
                    "messageId": self.notices.next_id(),
                    "content": { "type": "text", "text": format!("\n\n**acp-chain**: {text}\n\n") },
                })
            };
            let params = json!({ "sessionId": &*session, "update": update });
            let message = Message::notification(UPDATE, &params.to_string());
            self.send(Peer::Client, &message, None);
        }
    }

    /// The session of the latest open turn, in version 1.
    fn turn(&self) -> Option<Arc<str>> {
        let exchanges = self.exchanges.iter();
        let turns = exchanges.filter(|(_, exchange)| is_turn(exchange));
        let latest = turns.max_by_key(|(number, _)| *number);
        latest.and_then(|(_, turn)| turn.session.clone())
    }
}

fn is_turn(exchange: &Exchange) -> bool {
    matches!(exchange.origin, Origin::Edge(Peer::Client, _))
        && exchange.life == Life::Prompts
        && exchange.session.is_some()
}
