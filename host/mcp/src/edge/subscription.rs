//! Notifications of changes for a client that begins with `initialize`.
//!
//! From `notifications/initialized` on, the edge has one `subscriptions/listen` per client open at the provider, for
//! changes of lists and of the resources that the client subscribes to. When the filter changes, the edge opens a new
//! one. Once the new one is acknowledged, the edge cancels the old one, and answers the client's request. If the
//! provider ends it, the edge opens another only when the client subscribes again.

use super::{CallerEdge, Provider, Purpose, Request};
use crate::listening::Filter;
use crate::protocol::{self, Version, key, with_meta};
use crate::seat::{Caller, Output};
use crate::wire::McpMessage;
use crate::{ConnectionId, IncomingId};
use acp_chain_rpc::{Error, Kind, Message};

/// The notifications of a client.
#[derive(Debug, Default)]
pub struct Changes {
    /// Whether `notifications/initialized` has arrived.
    ready: bool,
    /// Whether the provider supports subscriptions to resources.
    pub subscribes: bool,
    /// The lists whose changes the provider reports, and the resources that the client subscribes to.
    pub filter: Filter,
    /// The open `subscriptions/listen`, the newest last.
    listens: Vec<IncomingId>,
}

impl Changes {
    /// Whether the client has an open `subscriptions/listen`.
    pub fn is_open(&self) -> bool {
        !self.listens.is_empty()
    }
}

/// A `subscriptions/listen` for a client.
#[derive(Debug)]
pub(super) struct Listen {
    pub connection: ConnectionId,
    acknowledged: bool,
    /// The client's request that waits for the acknowledgement, and the resource that it subscribes to.
    pub ask: Option<(IncomingId, Option<String>)>,
}

impl<P: Provider> CallerEdge<P> {
    /// A client sent `notifications/initialized`.
    pub(super) fn ready(&mut self, connection: ConnectionId) {
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        let is_first =
            client.version.is_some() && !std::mem::replace(&mut client.changes.ready, true);
        if is_first {
            self.listen_to_lists(connection);
        }
    }

    /// Subscribes to changes of lists, once `initialize` is answered and `notifications/initialized` has arrived: a
    /// client may send the notification without waiting.
    pub(super) fn listen_to_lists(&mut self, connection: ConnectionId) {
        let client = self.clients.get(&connection);
        let wants = client.is_some_and(|client| {
            let changes = &client.changes;
            changes.ready && !changes.is_open() && !changes.filter.lists.is_empty()
        });
        if !wants {
            return;
        }
        match self.check_room(1) {
            Ok(()) => self.listen(connection, None),
            Err(error) => {
                let why = format!("a client is not notified of changes: {}", error.message);
                self.out.push(Output::Drop { why });
            }
        }
    }

    /// A client subscribes to a resource, or unsubscribes.
    pub(super) fn subscribe(
        &mut self,
        ask: IncomingId,
        connection: ConnectionId,
        uri: String,
        adds: bool,
    ) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&connection) else {
            return Err(Error::cancelled());
        };
        let is_changed = client.subscribe(&uri, adds, self.provider.name())?;
        // A subscription that the provider ended is opened again.
        let is_ended = adds && client.changes.listens.is_empty();
        if (is_changed || is_ended) && !client.changes.filter.is_empty() {
            self.listen(connection, Some((ask, adds.then_some(uri))));
            return Ok(());
        }
        if is_changed {
            for number in std::mem::take(&mut client.changes.listens) {
                // It is subscribed no longer; the request was served until now.
                if let Some(Purpose::Listen(listen)) = self.open.get_mut(&number)
                    && let Some((waiting, _)) = listen.ask.take()
                {
                    self.out.result(waiting, "{}");
                }
                self.withdraw_open(number);
            }
        }
        self.out.result(ask, "{}");
        Ok(())
    }

    fn listen(&mut self, connection: ConnectionId, ask: Option<(IncomingId, Option<String>)>) {
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        self.last += 1;
        client.changes.listens.push(self.last);
        let listen = Listen {
            connection,
            acknowledged: false,
            ask,
        };
        let request = Request {
            ask: self.last,
            caller: Caller::Connection(connection),
            id: None,
            version: client.version.unwrap_or(Version::V2025November),
        };
        self.open.insert(self.last, Purpose::Listen(listen));
        self.provider.listen(request, client, &mut self.made);
        self.pass();
    }

    /// A `subscriptions/listen` has ended.
    pub(super) fn listened(&mut self, ended: IncomingId, listen: Listen, outcome: Message) {
        if let Some(client) = self.clients.get_mut(&listen.connection) {
            let before = client.changes.listens.len();
            client.changes.listens.retain(|of| *of != ended);
            if client.changes.listens.is_empty() && before > 0 {
                let (name, why) = (self.provider.name(), protocol::clipped(outcome.body()));
                let why = format!(
                    "the MCP server {name:?} no longer notifies a client of changes: {why}"
                );
                self.out.push(Output::Drop { why });
            }
            if let Some((_, Some(uri))) = &listen.ask {
                // That never fails.
                let _ = client.subscribe(uri, false, self.provider.name());
            }
        }
        let Some((ask, _)) = listen.ask else { return };
        if outcome.kind() == Kind::Error {
            return self.out.answer(ask, outcome);
        }
        let text = "The provider ended the subscription";
        let error = Error::new(protocol::code::BACKEND, text);
        self.out.fail(ask, &error);
    }

    /// Passes on a notification of a `subscriptions/listen`.
    pub(super) fn published(&mut self, on: IncomingId, said: &McpMessage) {
        let Some(Purpose::Listen(listen)) = self.open.get_mut(&on) else {
            return;
        };
        let connection = listen.connection;
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        if said.method() == protocol::ACKNOWLEDGED {
            listen.acknowledged = true;
            let mut done: Vec<_> = listen.ask.take().into_iter().collect();
            let at = client.changes.listens.iter().position(|of| *of == on);
            let older = client.changes.listens.drain(..at.unwrap_or(0));
            for older in older.collect::<Vec<_>>() {
                if let Some(Purpose::Listen(older)) = self.open.get_mut(&older) {
                    done.extend(older.ask.take());
                }
                self.withdraw_open(older);
            }
            for (ask, _) in done {
                self.out.result(ask, "{}");
            }
        } else if listen.acknowledged {
            let mut said = McpMessage::of(said.message.clone());
            if said.params() != "null" {
                said.set_params(&with_meta(said.params(), key::SUBSCRIPTION, None));
            }
            let caller = Caller::Connection(connection);
            self.out.tell_caller(caller, None, said);
        }
    }
}
