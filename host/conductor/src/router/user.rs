//! The host's own notices for the user, in the client.
//!
//! In version 1, it is a message of the agent, which a client shows in a turn: it is sent while a turn is open, and
//! otherwise waits for the next one. In version 2, where the answer to a prompt does not end its turn, it is a
//! notice, which is allowed whenever there is a session (v2, Session Notices): it waits for the first prompt, then
//! goes to the session prompted last.

use std::sync::Arc;

use serde_json::json;

use super::core::Core;
use super::turns::ACKNOWLEDGED;
use crate::exchange::{Exchange, Origin};
use crate::route::HopIndex;
use acp_chain_acp::{Life, PROMPT, UPDATE};
use acp_chain_channel::Peer;
use acp_chain_rpc::Message;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_rpc::untrusted::quote;

/// The longest notice, in bytes.
const LONGEST: usize = 16 * 1024;

impl Core {
    /// Tells the user that a proxy broke: the first time, and when it is given up.
    pub(super) fn tell_failure(&mut self, index: HopIndex, reason: &str, restarts: bool) {
        let told = std::mem::replace(&mut self.hops[index].told, true);
        let hop = &self.hops[index];
        let name = hop.title();
        let fate = match restarts {
            true if told => return,
            true => "It is started again.",
            false if hop.terms.on_failure.ends_open() && hop.has_begun => {
                "It is given up; everything passes it by from now on."
            }
            false => "It is given up; what it was to see is refused from now on.",
        };
        self.tell_user(&format!("{name} broke: {reason}. {fate}"));
    }

    /// Tells the user of the first message that is lost at a guard, or at none.
    pub fn tell_lost(&mut self, at: Option<HopIndex>, why: &str) {
        if self.lost.insert(at) {
            self.tell_user(&format!(
                "{why}. If something is missing, that may be why. Of more like it only the log tells."
            ));
        }
    }

    /// Tells the user something, and where to find more, as soon as there is a turn.
    pub fn tell_user(&mut self, text: &str) {
        let mut text = quote(text, LONGEST);
        if let Some(log) = &self.log {
            let end = match text.ends_with(['.', '!', '?']) {
                true => "",
                false => ".",
            };
            let log = Untrusted::new(log.display());
            text = format!("{text}{end} More is in {log}.");
        }
        self.notices.add(text);
        self.send_notices();
    }

    /// The client has sent a request in a session: it may prompt or end it.
    pub(super) fn note_request(&mut self, method: &str, session: &Arc<str>) {
        match Life::of(method) {
            Life::Prompts => {
                let charge = self.notices.account.charge(session.len());
                self.notices.session = charge.map(|charge| (session.clone(), charge));
                self.send_notices();
            }
            Life::Ends => {
                let last = &mut self.notices.session;
                last.take_if(|(last, _)| last == session);
            }
            _ => {}
        }
    }

    /// Sends the waiting notices, if they can be shown.
    fn send_notices(&mut self) {
        if self.notices.is_empty() {
            return;
        }
        let session = match self.version {
            ..ACKNOWLEDGED => self.turn(),
            _ => self
                .notices
                .session
                .as_ref()
                .map(|(session, _)| session.clone()),
        };
        let Some(session) = session else {
            return;
        };
        for text in self.notices.take() {
            let update = match self.version {
                ..ACKNOWLEDGED => {
                    self.told += 1;
                    json!({
                        "sessionUpdate": "agent_message_chunk",
                        "messageId": format!("acp-chain-{}", self.told),
                        "content": { "type": "text", "text": format!("\n\n**acp-chain**: {text}\n\n") },
                    })
                }
                _ => json!({
                    "sessionUpdate": "notice",
                    "severity": "warning",
                    "title": format!("acp-chain: {text}"),
                }),
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
        && &*exchange.method == PROMPT
        && exchange.session.is_some()
}
