//! A provider that speaks the stateless dialect: every request stands alone, has a `requestId`, and is of MCP
//! 2026-07-28 (schema 1.15, `mcp/message`).
//!
//! Requests that stand alone pass unchanged, with their own `requestId`. Requests on a connection get a `requestId` of
//! the seat.
//!
//! Invariants beside those of every [seat](super::seat): a cancelled request is also answered, once; a provider's
//! notification reaches only the caller of the request that it names, and only while the request is open.
//!
//! - The member `result` or `error` of the provider's result is the MCP outcome; if both are present, `result`. A
//!   result with neither becomes the error -33002. An ACP error passes unchanged, and so does the `_meta` of ACP's
//!   messages and answers.
//! - A `requestId` that is already open fails with -32602.
//! - Requests of the provider fail with -32601. A notification that names no open request is dropped, and so is
//!   `notifications/cancelled`.
//! - When the provider is restarted, open requests fail with -33002, except those that it has not received yet.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::edge::{CallerEdge, Provider, Request};
use super::protocol::{self, invalid, quoted};
use super::seat::{Caller, Output, Outputs};
use super::wire::{self, Address, McpMessage};
use super::{IncomingId, OutgoingId};
use acp_chain_channel::limits::Account;
use acp_chain_rpc::{Error, Id, Kind, Message};

/// The seat of one provider.
pub type StatelessProvider = CallerEdge<Stateless>;

impl StatelessProvider {
    /// The seat of the provider that declared its server with this `serverId`. The seat's own `requestId`s begin with
    /// `prefix`, which must differ between seats of one provider. What it keeps is charged to parts of `kept`.
    pub fn new(id: &str, prefix: &str, kept: &Account) -> Self {
        let provider = Stateless {
            id: id.to_owned(),
            name: protocol::clipped(id),
            prefix: prefix.to_owned(),
            questions: BTreeMap::new(),
            requests: HashMap::new(),
        };
        Self::of(provider, kept)
    }
}

/// A provider in the stateless dialect.
#[derive(Debug)]
pub struct Stateless {
    id: String,
    /// The id, truncated for errors.
    name: String,
    /// The prefix of the seat's own request ids.
    prefix: String,
    questions: BTreeMap<OutgoingId, Open>,
    /// The open requests, by `requestId`.
    requests: HashMap<Arc<str>, OutgoingId>,
}

/// An open request at the provider.
#[derive(Debug)]
struct Open {
    /// The `requestId`.
    known: Arc<str>,
    request: Request,
    /// The caller's id, if this is a `subscriptions/listen` with another id at the provider.
    subscription: Option<Id>,
    withdrawn: bool,
}

impl Provider for Stateless {
    const IS_HOST: bool = false;

    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> usize {
        self.questions.len()
    }

    fn request(
        &mut self,
        request: Request,
        said: &McpMessage,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        if let Caller::Request(own) = &request.caller
            && self.requests.contains_key(own)
        {
            return Err(invalid("The requestId is that of a request that is open"));
        }
        let question = out.number();
        let known = match &request.caller {
            Caller::Request(own) => own.clone(),
            Caller::Connection(_) => {
                let mut own: Arc<str> = format!("{}-{question}", self.prefix).into();
                // A caller may have chosen this id.
                while self.requests.contains_key(&own) {
                    own = format!("{own}-").into();
                }
                own
            }
        };
        // For a client on the bridge, the request has an id that differs from the `requestId`.
        let renamed = |id: &Id| id.as_str() != quoted(&known);
        let listens = said.method() == "subscriptions/listen";
        let subscription = request.id.clone().filter(|id| listens && renamed(id));
        let params = wire::alone(&self.id, &known, said);
        out.ask_provider(question, "mcp/message", &params);
        self.requests.insert(known.clone(), question);
        let open = Open {
            known,
            request,
            subscription,
            withdrawn: false,
        };
        self.questions.insert(question, open);
        Ok(())
    }

    fn withdraw(&mut self, ask: IncomingId, out: &mut Outputs) {
        let is_it = |open: &Open| open.request.ask == ask && !open.withdrawn;
        let mut open = self.questions.iter_mut();
        if let Some((question, open)) = open.find(|(_, open)| is_it(open)) {
            open.withdrawn = true;
            out.withdraw(*question);
        }
    }

    fn answered(&mut self, question: OutgoingId, outcome: Message, out: &mut Outputs) {
        let Some(open) = self.questions.remove(&question) else {
            return;
        };
        self.requests.remove(&open.known);
        let outer = outcome.kind() == Kind::Error;
        let meta = wire::meta(outcome.body()).filter(|_| !outer);
        let meta = meta.map(str::to_owned);
        let outcome = if outer {
            outcome
        } else {
            wire::carried(&outcome).unwrap_or_else(|| {
                let text =
                    "The provider answered mcp/message with neither a result nor an MCP error";
                Message::error(&Error::new(protocol::code::BACKEND, text))
            })
        };
        out.push(Output::Answer {
            ask: open.request.ask,
            outcome: protocol::subscribed(outcome, open.subscription.as_ref()),
            meta,
            outer,
        });
    }

    fn tells(&mut self, message: &Message, out: &mut Outputs) {
        let named = Address::read(message.body());
        let known = named
            .request
            .filter(|_| named.server.as_deref() == Some(&*self.id));
        let question = known.and_then(|known| self.requests.get(&*known));
        let open = question.and_then(|question| self.questions.get(question));
        let Some((open, mut said)) = open.zip(McpMessage::read(message)) else {
            let name = &self.name;
            let why = format!(
                "the MCP server {name:?}: dropped a notification from its provider: it names no open request"
            );
            return out.push(Output::Drop { why });
        };
        // If the request was cancelled, the notification has no recipient.
        if said.method() == protocol::CANCELLED || open.withdrawn {
            return;
        }
        said.message = protocol::subscribed(said.message, open.subscription.as_ref());
        let Request { ask, caller, .. } = &open.request;
        out.tell_caller(caller.clone(), Some(*ask), said);
    }

    fn lost(&mut self, waiting: &HashSet<OutgoingId>, out: &mut Outputs) {
        let lost = protocol::lost(&self.name);
        let is_lost = |question: &OutgoingId, _: &mut Open| !waiting.contains(question);
        for (_, open) in self.questions.extract_if(.., is_lost) {
            self.requests.remove(&open.known);
            out.fail(open.request.ask, &lost);
        }
    }

    fn has(&self, request: &str) -> bool {
        // A longer id cannot exist. It is not looked up, as it may come from any caller.
        request.len() <= protocol::TOKEN && self.requests.contains_key(request)
    }
}
