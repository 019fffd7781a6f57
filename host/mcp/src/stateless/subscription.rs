//! Notifications of changes for a legacy client.
//!
//! From `notifications/initialized` on, the seat has one `subscriptions/listen` per client open at the provider, for
//! changes of lists and of the resources that the client subscribes to. When the filter changes, the seat opens a new
//! one. Once the new one is acknowledged, the seat cancels the old one, and answers the client's request. If the
//! provider ends it, the seat opens another only when the client subscribes again.

use std::borrow::Cow;

use super::{Of, StatelessProvider};
use crate::listening::Filter;
use crate::protocol::{self, key, with_meta};
use crate::seat::{Caller, Output};
use crate::wire::Said;
use crate::{Asked, ConnectionId, Question};
use acp_chain_rpc::{Error, Kind, Message};

/// The notifications of a client.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether `notifications/initialized` has arrived.
    ready: bool,
    /// Whether the provider supports subscriptions to resources.
    pub subscribes: bool,
    /// The lists whose changes the provider reports, and the resources that the client subscribes to.
    pub filter: Filter,
    /// The open `subscriptions/listen`, the newest last.
    listens: Vec<Question>,
}

/// A `subscriptions/listen` for a client.
#[derive(Debug)]
pub(super) struct Listen {
    pub connection: ConnectionId,
    acknowledged: bool,
    /// The client's request that waits for the acknowledgement, and the resource that it subscribes to.
    pub ask: Option<(Asked, Option<String>)>,
}

impl Listen {
    /// Cancels the client's request, if it is this one. Returns whether it is.
    pub fn forget(&mut self, ask: Asked) -> bool {
        self.ask.take_if(|(waits, _)| *waits == ask).is_some()
    }
}

impl Changes {
    /// The size of the filter in bytes.
    pub fn weight(&self) -> usize {
        self.filter.weight()
    }
}

impl StatelessProvider {
    /// A client sent `notifications/initialized`.
    pub(super) fn ready(&mut self, connection: ConnectionId) {
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        let is_first =
            client.version.is_some() && !std::mem::replace(&mut client.changes.ready, true);
        if is_first && client.changes.filter.lists.contains(&true) && !self.is_full() {
            self.listen(connection, None);
        }
    }

    /// A client subscribes to a resource, or unsubscribes.
    pub(super) fn subscribe(
        &mut self,
        ask: Asked,
        connection: ConnectionId,
        uri: String,
        adds: bool,
    ) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&connection) else {
            return Err(Error::cancelled());
        };
        let filter = &mut client.changes.filter;
        let is_changed = if adds {
            filter.resources.add(&uri)?
        } else {
            filter.resources.remove(&uri)
        };
        if is_changed && !filter.is_empty() {
            self.listen(connection, Some((ask, adds.then_some(uri))));
            return Ok(());
        }
        if is_changed {
            for question in std::mem::take(&mut client.changes.listens) {
                self.out.withdraw(question);
            }
        }
        self.out.result(ask, "{}");
        Ok(())
    }

    fn listen(&mut self, connection: ConnectionId, ask: Option<(Asked, Option<String>)>) {
        let client = self.clients.get(&connection);
        let params = client.and_then(|client| {
            let filter = client.changes.filter.to_json();
            let params = format!(r#"{{"notifications":{filter}}}"#);
            client.stand_alone(Some(&params)).ok()
        });
        let Some(params) = params else {
            return;
        };
        let of = Of::Listen(Listen {
            connection,
            acknowledged: false,
            ask,
        });
        let question = self.ask(of, None, &Said::made("subscriptions/listen", params));
        if let Some(client) = self.clients.get_mut(&connection) {
            client.changes.listens.push(question);
        }
    }

    /// A `subscriptions/listen` has ended.
    pub(super) fn listened(&mut self, question: Question, listen: Listen, outcome: &Message) {
        if let Some(client) = self.clients.get_mut(&listen.connection) {
            let before = client.changes.listens.len();
            client.changes.listens.retain(|of| *of != question);
            if client.changes.listens.is_empty() && before > 0 {
                let (name, why) = (&self.name, protocol::clipped(outcome.body()));
                let why = format!(
                    "the MCP server {name:?} no longer notifies a client of changes: {why}"
                );
                self.out.push(Output::Drop { why });
            }
            if let Some((_, Some(uri))) = &listen.ask {
                client.changes.filter.resources.remove(uri);
            }
        }
        let Some((ask, _)) = listen.ask else {
            return;
        };
        if outcome.kind() == Kind::Error {
            return self.out.answer(ask, outcome.clone());
        }
        let text = "The provider ended the subscription";
        let error = Error::new(protocol::code::BACKEND, text);
        self.out.fail(ask, &error);
    }

    /// Passes on a notification of a `subscriptions/listen`.
    pub(super) fn published(&mut self, question: Question, said: &Said) {
        let open = self.questions.get_mut(&question);
        let Some(Of::Listen(listen)) = open.map(|open| &mut open.of) else {
            return;
        };
        let connection = listen.connection;
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        if said.method == protocol::ACKNOWLEDGED {
            listen.acknowledged = true;
            let mut done: Vec<_> = listen.ask.take().into_iter().collect();
            let at = client.changes.listens.iter().position(|of| *of == question);
            for older in client.changes.listens.drain(..at.unwrap_or(0)) {
                if let Some(Of::Listen(older)) =
                    self.questions.get_mut(&older).map(|open| &mut open.of)
                {
                    done.extend(older.ask.take());
                }
                self.out.withdraw(older);
            }
            for (ask, _) in done {
                self.out.result(ask, "{}");
            }
        } else if listen.acknowledged {
            let params = said.params();
            let params = params.map(|params| with_meta(Some(params), key::SUBSCRIPTION, None));
            let said = Said {
                method: said.method.to_string().into(),
                params: params.map(Cow::Owned),
                meta: None,
            };
            self.out.tell_caller(Caller::Connection(connection), said);
        }
    }
}
