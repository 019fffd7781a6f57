//! The two ends of a chain that a transcript plays.

use std::collections::HashMap;

use super::act::{Kind, Said};
use super::json::Json;
use super::wire::{READ, Wire};
use acp_chain_rpc::{self as rpc, Id, Message};

/// A message received at an end.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Kind and name, without the body. A request has no name yet.
    pub said: Said,
    pub body: Json,
    /// The id of a request.
    pub id: Option<Id>,
}

/// The client's or the agent's end.
pub struct End {
    pub wire: Wire,
    /// The requests that it received, by name.
    pub got: HashMap<String, Id>,
    /// Received messages that no step has expected yet.
    pub inbox: Vec<Arrival>,
}

impl End {
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            got: HashMap::new(),
            inbox: Vec::new(),
        }
    }

    /// Moves received messages to the inbox, up to a limit. Returns whether there may be more.
    pub fn receive(&mut self) -> bool {
        let before = self.inbox.len();
        while let Some(message) = self.wire.receive() {
            let came = self.parse(&message);
            self.inbox.push(came);
        }
        !self.wire.is_full() && self.inbox.len() - before >= READ
    }

    /// Empties the inbox.
    pub fn take(&mut self) -> Vec<Arrival> {
        self.wire.release();
        std::mem::take(&mut self.inbox)
    }

    fn parse(&self, message: &Message) -> Arrival {
        let id = message.id();
        // A body that cannot be parsed, as with a number out of range, is compared as text.
        let body = Json::read(message.body());
        let mut body = body.unwrap_or_else(|_| Json::Text(message.body().to_owned()));
        let method = message.method().to_string();
        let own_name = || serde_json::from_str::<Option<String>>(id.as_ref()?.as_str()).ok()?;
        let (kind, name) = match message.kind() {
            rpc::Kind::Request => (Kind::Request(method), None),
            rpc::Kind::Result => (Kind::Result, own_name()),
            rpc::Kind::Error => (Kind::Error, own_name()),
            rpc::Kind::Notification => match self.cancelled(&method, &body) {
                Some(name) => {
                    body = Json::Null;
                    (Kind::Cancel, Some(name))
                }
                None => (Kind::Notification(method), None),
            },
        };
        let id = id.filter(|_| matches!(kind, Kind::Request(_)));
        let said = Said {
            kind,
            name,
            body: None,
        };
        Arrival { said, body, id }
    }

    /// The name of the request that a notification cancels; `None` for other notifications.
    fn cancelled(&self, method: &str, body: &Json) -> Option<String> {
        let id = body
            .get("requestId")
            .filter(|_| method == acp_chain_acp::CANCEL_REQUEST)?;
        let id = Id::parse(&id.to_string())?;
        let mut got = self.got.iter();
        got.find_map(|(name, known)| (*known == id).then(|| name.clone()))
    }
}
