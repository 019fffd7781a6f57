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
use crate::losses::{Frequency, Loss};
use acp_chain_acp::{Life, UPDATE};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::Origin;
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};
use acp_chain_rpc::{Kind, Message};

impl Core {
    /// Notifies the user that a proxy broke: the first time, and when it is given up.
    pub(super) fn tell_failure(&mut self, index: HopIndex, reason: &str, restarts: bool) {
        let is_notified = self.hops[index].note_user_notified();
        let hop = &self.hops[index];
        let name = hop.title();
        if restarts && is_notified {
            return;
        }
        let fate = if restarts {
            "It is restarted."
        } else if hop.ends_open() {
            "It is given up: from now on, all messages pass without it."
        } else {
            "It is given up: from now on, the messages that it should see are refused."
        };
        self.tell_user(&format!("{name} broke: {reason}. {fate}"));
    }

    /// Notes a loss of a sender, or at a proxy; notifies the user as the table says.
    pub fn lose(&mut self, loss: Loss, at: Place, why: &dyn Display) {
        self.losses.note(loss, at, why);
        match loss.user() {
            Frequency::First | Frequency::Missed if self.losses.note_first(loss, at) => {
                let why = Untrusted::within(why, MAX_QUOTE);
                self.tell_user(&format!(
                    "{why}. If something is missing, that may be why. Further losses of this kind are only logged."
                ));
            }
            Frequency::Each => {
                let text = Untrusted::within(why, LONGEST).to_string();
                if self.losses.note_text(Some(at), &text) {
                    self.tell_user(&text);
                }
            }
            _ => {}
        }
    }

    /// Notes the loss of a message on its way. The user is not notified if the client gets an error in its place.
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

    /// Notes the loss of something that a proxy has sent.
    pub fn lose_of_proxy(&mut self, loss: Loss, index: HopIndex, what: &dyn Display) {
        let name = self.hops[index].title();
        let why = format_args!("dropped what {name} sent: {what}");
        self.lose(loss, Place::Hop(index), &why);
    }

    /// Notifies the user, once for each topic.
    pub fn tell_once(&mut self, topic: &str, text: &str) {
        if self.losses.note_text(None, topic) {
            tracing::info!("{text}");
            self.tell_user(text);
        }
    }

    /// Notifies the user as soon as there is a turn. The notice names the log.
    pub fn tell_user(&mut self, text: &str) {
        self.notices.add(text);
        self.send_notices();
    }

    /// Notes a request of the client that prompts or ends a session.
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
        let Some(session) = session else { return };
        for text in self.notices.take() {
            self.show_notice(&session, &text);
        }
    }

    /// Sends a notice in a session. In version 1, a turn must be open there.
    pub(super) fn show_notice(&mut self, session: &str, text: &str) {
        let update = if self.turns.acknowledges() {
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
        let params = json!({ "sessionId": session, "update": update });
        let message = Message::notification(UPDATE, &params.to_string());
        self.send(Peer::Client, &message, None);
    }

    /// The session of the latest open turn, in version 1.
    fn turn(&self) -> Option<Arc<str>> {
        let exchanges = self.exchanges.iter();
        let turns = exchanges.filter(|(_, exchange)| {
            matches!(exchange.origin, Origin::Edge(Peer::Client, _))
                && exchange.life == Life::Prompts
                && exchange.session.is_some()
        });
        let latest = turns.max_by_key(|(number, _)| *number);
        latest.and_then(|(_, turn)| turn.session.clone())
    }
}
