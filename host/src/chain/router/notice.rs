//! What the host itself tells the user, in the client.
//!
//! In version 1 it is a message of the agent's, which a client shows in a turn: it is sent when a turn is
//! open, and otherwise waits for the next one. In version 2, in which the answer to a prompt does not end
//! its turn, it is a notice, which may come at any time while there is a session (v2, Session Notices): it
//! waits for the first prompt, and then goes to the session that was prompted last.

use std::sync::Arc;

use serde_json::json;

use super::core::Core;
use super::turns::{ACKNOWLEDGED, PROMPT};
use crate::chain::exchange::{Exchange, Origin};
use crate::chain::route::HopIndex;
use crate::channel::Peer;
use crate::limits::{Account, Charge, NOTICES};
use crate::rpc::Message;
use crate::untrusted::Untrusted;
use crate::untrusted::quote;

/// The longest notice, in bytes.
const LONGEST: usize = 16 * 1024;

/// What the user is to be told in the next turn.
#[derive(Debug)]
pub(super) struct Notices {
    texts: Vec<(String, Charge)>,
    account: Account,
    /// The session that was prompted last, while the client has it.
    session: Option<(Arc<str>, Charge)>,
    /// How many did not fit.
    left_out: u64,
}

impl Notices {
    /// None yet; what they take will be a part of this account.
    pub fn new(kept: &Account) -> Self {
        Self {
            texts: Vec::new(),
            account: kept.part(NOTICES),
            session: None,
            left_out: 0,
        }
    }

    fn add(&mut self, text: String) {
        match self.account.charge(size_of::<String>() + text.len()) {
            Some(charge) => self.texts.push((text, charge)),
            None => self.left_out += 1,
        }
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.left_out == 0
    }

    /// All of it, and how much it is not.
    fn take(&mut self) -> Vec<String> {
        let mut texts: Vec<_> = self.texts.drain(..).map(|(text, _)| text).collect();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            texts.push(format!(
                "there was more to tell than is kept until a turn; {left_out} such messages are \
                 left out."
            ));
        }
        texts
    }
}

impl Core {
    /// Tells the user that a proxy broke, the first time that it does, and when it is given up.
    pub(super) fn tell_failure(&mut self, index: HopIndex, reason: &str, restarts: bool) {
        let told = std::mem::replace(&mut self.hops[index].told, true);
        let hop = &self.hops[index];
        let name = &hop.name;
        let fate = match restarts {
            true if told => return,
            true => "It is started again.",
            false if hop.terms.on_failure.ends_open() => {
                "It is given up; everything passes it by from now on."
            }
            false => "It is given up; what it was to see is refused from now on.",
        };
        self.tell_user(&format!("the proxy `{name}` broke: {reason}. {fate}"));
    }

    /// Tells the user something, and where there is more about it, as soon as there is a turn.
    pub fn tell_user(&mut self, text: &str) {
        let log = match &self.log {
            Some(log) => format!(" More is in {}.", Untrusted::new(log.display())),
            None => String::new(),
        };
        self.notices.add(format!("{}{log}", quote(text, LONGEST)));
        self.send_notices();
    }

    /// Looks at a request of the client's: it may prompt a session, or be done with it.
    pub(super) fn note_request(&mut self, method: &str, session: Option<&Arc<str>>) {
        let Some(session) = session else {
            return;
        };
        match method {
            PROMPT => {
                let charge = self.notices.account.charge(session.len());
                self.notices.session = charge.map(|charge| (session.clone(), charge));
                self.send_notices();
            }
            "session/close" | "session/delete" => {
                let last = &mut self.notices.session;
                last.take_if(|(last, _)| last == session);
            }
            _ => {}
        }
    }

    /// Sends what waits to be told, if it can be shown.
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
            let message = Message::notification("session/update", &params.to_string());
            self.send(Peer::Client, &message, None);
        }
    }

    /// The session of the latest turn that is open, in version 1.
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
