//! Opening and closing of connections to the provider.

use std::collections::HashSet;

use super::{CallerRequest, ConnectedProvider, Open, Owner, ProviderConnection, WaitingMessage};
use crate::protocol;
use crate::seat::connected;
use crate::wire;
use crate::{IncomingId, OutgoingId};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

impl ConnectedProvider {
    /// Requests a connection from the provider.
    pub(super) fn begin(&mut self, place: Owner, ask: Option<IncomingId>, meta: Option<&str>) {
        let link = ProviderConnection {
            ask,
            ..ProviderConnection::default()
        };
        self.links.insert(place, link);
        let question = self.ask(Open::Connect(place));
        let params = wire::connect(&[self.named], &self.id, meta);
        self.out.ask_provider(question, "mcp/connect", &params);
    }

    pub(super) fn connect_answered(&mut self, place: Owner, outcome: &Message) {
        let theirs = match outcome.kind() {
            Kind::Result => self
                .accepted(outcome)
                .map_err(|error| Message::error(&error)),
            _ => Err(outcome.clone()),
        };
        let Some(link) = self.links.get_mut(&place) else {
            // The connection is no longer needed.
            if let Ok(theirs) = theirs {
                self.hang_up(&theirs, None, None);
            }
            return;
        };
        let theirs = match theirs {
            Ok(theirs) => theirs,
            Err(error) => return self.fail(place, &error),
        };
        link.theirs = Some(theirs.clone());
        let ask = link.ask.take();
        self.theirs.insert(theirs, place);
        match place {
            Owner::Own => self.probe(),
            Owner::Caller(connection) => {
                if let Some(ask) = ask {
                    let outcome = connected(connection, wire::meta(outcome.body()));
                    self.out.answer(ask, outcome);
                }
                self.open(place);
            }
        }
    }

    /// The id that the provider assigned to a connection.
    fn accepted(&self, outcome: &Message) -> Result<Id, Error> {
        let text = member(outcome.body(), "connectionId").filter(|text| text.starts_with('"'));
        let fault = |reason| {
            let text = format!("The provider of the MCP server {:?} {reason}", self.name);
            Error::new(code::INTERNAL_ERROR, text)
        };
        let theirs = protocol::token(text)
            .ok_or_else(|| fault("answered mcp/connect without a connectionId"))?;
        if self.theirs.contains_key(&theirs) {
            Err(fault("gave two connections the same connectionId"))
        } else {
            Ok(theirs)
        }
    }

    /// A connection is ready: sends the waiting messages.
    pub(super) fn open(&mut self, place: Owner) {
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        link.open = true;
        for (waits, _) in std::mem::take(&mut link.waiting) {
            match waits {
                WaitingMessage::Request(request) => self.send(place, request),
                WaitingMessage::Notification(said) => self.tell(place, &said),
            }
        }
    }

    /// A connection failed: so do the requests that wait for it.
    pub(super) fn fail(&mut self, place: Owner, error: &Message) {
        let Some(link) = self.links.remove(&place) else {
            return;
        };
        if let Some(theirs) = &link.theirs {
            self.hang_up(theirs, None, None);
        }
        for ask in link.asks() {
            self.out.answer(ask, error.clone());
        }
    }

    /// Closes a connection to the provider.
    fn hang_up(&mut self, theirs: &Id, ask: Option<IncomingId>, meta: Option<&str>) {
        self.theirs.remove(theirs);
        let question = self.ask(Open::Disconnect(ask));
        let params = wire::disconnect(theirs.as_str(), meta);
        self.out.ask_provider(question, "mcp/disconnect", &params);
    }

    /// Passes on the provider's answer to a disconnect. Of a result, only `_meta` passes.
    pub(super) fn disconnect_answered(&mut self, ask: Option<IncomingId>, outcome: Message) {
        let Some(ask) = ask else { return };
        let outcome = match outcome.kind() {
            Kind::Result => {
                let meta = wire::meta(outcome.body());
                Message::result(&protocol::object(&[("_meta", meta)]))
            }
            _ => outcome,
        };
        self.out.answer(ask, outcome);
    }

    /// A caller disconnects.
    pub(super) fn end(&mut self, ask: Option<IncomingId>, place: Owner, meta: Option<&str>) {
        let Some(link) = self.links.remove(&place) else {
            return self.out.done(ask);
        };
        for ask in link.asks() {
            self.out.fail(ask, &Error::cancelled());
        }
        let over = Error::new(code::REQUEST_CANCELLED, "The connection is closed");
        self.withdraw_provider(Some(place), &over);
        match &link.theirs {
            Some(theirs) => self.hang_up(theirs, ask, meta),
            None => {
                self.withdraw_connect(place);
                self.out.done(ask);
            }
        }
    }

    /// The server is closed: closes the remaining connections.
    pub(super) fn close(&mut self) {
        let closed = Message::error(&protocol::unavailable(&self.name));
        for place in self.links.keys().copied().collect::<Vec<_>>() {
            self.withdraw_connect(place);
            self.fail(place, &closed);
        }
    }

    pub(super) fn withdraw_connect(&mut self, place: Owner) {
        let connects = |open: &Open| matches!(open, Open::Connect(of) if *of == place);
        let found = self.questions.iter().find(|(_, open)| connects(open));
        if let Some((question, _)) = found {
            self.out.withdraw(*question);
        }
    }

    /// Cancels the provider's requests to callers, on one connection or all. Answers the provider with this error at
    /// once; the callers' answers are ignored.
    fn withdraw_provider(&mut self, on: Option<Owner>, why: &Error) {
        for (question, open) in &mut self.questions {
            match *open {
                Open::Provider { ask, place } if on.is_none_or(|on| on == place) => {
                    *open = Open::Over;
                    self.out.withdraw(*question);
                    self.out.fail(ask, why);
                }
                _ => {}
            }
        }
    }

    /// The provider was restarted: fails its open requests and connections. A connection stays if its `mcp/connect` is
    /// not delivered yet.
    pub(super) fn lose(&mut self, waiting: &HashSet<OutgoingId>) {
        let lost = protocol::lost(&self.name);
        self.withdraw_provider(None, &lost);
        self.theirs.clear();
        let connecting = |(question, open): (&OutgoingId, &Open)| match open {
            Open::Connect(place) if waiting.contains(question) => Some(*place),
            _ => None,
        };
        let connecting: HashSet<_> = self.questions.iter().filter_map(connecting).collect();
        let is_lost = |place: &Owner, _: &mut ProviderConnection| !connecting.contains(place);
        for (_, link) in self.links.extract_if(.., is_lost) {
            for ask in link.asks() {
                self.out.fail(ask, &lost);
            }
        }
        let is_lost = |question: &OutgoingId, open: &mut Open| match open {
            // A request that a caller has not answered yet still counts.
            Open::Over => false,
            Open::Connect(_) => !waiting.contains(question),
            _ => true,
        };
        for (question, open) in self.questions.extract_if(.., is_lost) {
            // It names a connection of the previous instance.
            if waiting.contains(&question) {
                self.out.withdraw(question);
            }
            match open {
                Open::Caller(relayed) => self.out.fail(relayed.ask, &lost),
                Open::Disconnect(ask) => self.out.done(ask),
                _ => {}
            }
        }
    }
}

impl ProviderConnection {
    /// The waiting requests.
    pub(super) fn requests(&self) -> impl Iterator<Item = &CallerRequest> {
        self.waiting.iter().filter_map(|(waits, _)| waits.request())
    }

    /// The unanswered requests that the provider has not received.
    pub(super) fn asks(&self) -> impl Iterator<Item = IncomingId> {
        let requests = self.requests().map(|request| request.ask);
        let listeners = self.legacy.iter();
        let listeners = listeners.flat_map(|legacy| legacy.listeners.asks());
        self.ask.into_iter().chain(requests).chain(listeners)
    }

    /// Cancels a waiting request or a local subscription, and returns its answer.
    pub(super) fn forget(&mut self, ask: IncomingId) -> Option<Message> {
        let is_it = |waits: &WaitingMessage| waits.request().is_some_and(|of| of.ask == ask);
        if let Some(at) = self.waiting.iter().position(|(waits, _)| is_it(waits)) {
            self.waiting.remove(at);
            return Some(Message::error(&Error::cancelled()));
        }
        let result = self.legacy.as_mut()?.listeners.end(ask)?;
        Some(Message::result(&result))
    }
}
