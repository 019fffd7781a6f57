//! What the host itself tells the user: in the client, as a message of the agent's.
//!
//! A client shows such a message in a turn. So a notice is sent when a turn is open, and otherwise
//! waits for the next one.

use serde_json::json;

use super::Router;
use crate::chain::exchange::{Exchange, Origin};
use crate::chain::parcel::HopIndex;
use crate::channel::{Peer, quote};
use crate::limits::{Account, Charge, NOTICES};
use crate::rpc::Message;
use crate::untrusted::Untrusted;

/// The longest notice, in bytes.
const LONGEST: usize = 16 * 1024;

/// The request that opens a turn.
pub(super) const PROMPT: &str = "session/prompt";

/// What the user is to be told in the next turn.
#[derive(Debug)]
pub(super) struct Notices {
    texts: Vec<(String, Charge)>,
    account: Account,
    /// How many did not fit.
    left_out: u64,
}

impl Notices {
    /// None yet; what they take will be a part of this account.
    pub fn new(kept: &Account) -> Self {
        Self {
            texts: Vec::new(),
            account: kept.part(NOTICES),
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

impl Router {
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

    /// Sends what waits to be told, if a turn is open.
    pub(super) fn send_notices(&mut self) {
        if self.notices.is_empty() {
            return;
        }
        let turns = self
            .exchanges
            .iter()
            .filter(|(_, exchange)| is_turn(exchange));
        let latest = turns.max_by_key(|(number, _)| **number);
        let Some(session) = latest.and_then(|(_, turn)| turn.session.clone()) else {
            return;
        };
        for text in self.notices.take() {
            self.told += 1;
            let update = json!({
                "sessionId": &*session,
                "update": {
                    "sessionUpdate": "agent_message_chunk",
                    "messageId": format!("acp-chain-{}", self.told),
                    "content": { "type": "text", "text": format!("\n\n**acp-chain**: {text}\n\n") },
                },
            });
            let message = Message::notification("session/update", &update.to_string());
            self.send(Peer::Client, &message, None);
        }
    }
}

fn is_turn(exchange: &Exchange) -> bool {
    matches!(exchange.origin, Origin::Edge(Peer::Client, _))
        && &*exchange.method == PROMPT
        && exchange.session.is_some()
}
