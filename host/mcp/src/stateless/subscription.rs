//! What a legacy client is told without asking.
//!
//! The changes of lists that the provider offers, and the resources that the client subscribes to, are
//! one `subscriptions/listen` a client, from `notifications/initialized` on. When what it is for
//! changes a new one is opened, and the old one ends as soon as the new one is acknowledged: then the
//! client's request is answered. One that the provider ends is not opened again until the client
//! subscribes to something else.

use super::called::Called;
use super::{Of, StatelessProvider};
use crate::protocol::{self, LISTS, key, with, with_meta};
use crate::seat::{Asked, Caller, ConnectionId, Output, Question};
use crate::uris::Uris;
use acp_chain_rpc::{Error, Kind, Message};

/// What a client hears of without asking.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether `notifications/initialized` came.
    ready: bool,
    /// Of which [`LISTS`] the provider tells that they have changed.
    pub offers: [bool; 3],
    /// Whether the provider tells that a resource has changed.
    pub subscribes: bool,
    /// The resources that the client subscribes to.
    resources: Uris,
    /// The open `subscriptions/listen`, the newest last.
    listens: Vec<Question>,
}

/// A `subscriptions/listen` for a client.
#[derive(Debug)]
pub(super) struct Listen {
    pub connection: ConnectionId,
    acknowledged: bool,
    /// The client's request that led to it, and the resource that it subscribes to.
    pub ask: Option<(Asked, Option<String>)>,
}

impl Listen {
    /// Whether this request waited for it, and no longer does.
    pub fn forget(&mut self, ask: Asked) -> bool {
        self.ask.take_if(|(waits, _)| *waits == ask).is_some()
    }
}

impl Changes {
    /// How many bytes are kept of what it wants to hear of.
    pub fn weight(&self) -> usize {
        self.resources.weight()
    }

    /// What it wants to hear of, in the filter of `subscriptions/listen`.
    pub(super) fn filter(&self) -> Option<String> {
        if !self.offers.contains(&true) && self.resources.is_empty() {
            return None;
        }
        let mut filter = String::from("{}");
        for ((_, name, _), offered) in LISTS.into_iter().zip(self.offers) {
            if offered {
                filter = with(&filter, &format!("/{name}"), Some("true"));
            }
        }
        if !self.resources.is_empty() {
            let resources = self.resources.to_json();
            filter = with(&filter, "/resourceSubscriptions", Some(&resources));
        }
        Some(filter)
    }
}

impl StatelessProvider {
    /// A client has said that it is ready to be told.
    pub(super) fn ready(&mut self, connection: ConnectionId, out: &mut Vec<Output>) {
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        let is_first =
            client.version.is_some() && !std::mem::replace(&mut client.changes.ready, true);
        if is_first && client.changes.offers.contains(&true) && !self.is_full() {
            self.listen(connection, None, out);
        }
    }

    pub(super) fn subscribe(
        &mut self,
        called: &Called,
        uri: String,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&called.connection) else {
            return Err(Error::cancelled());
        };
        let adds = called.method == "resources/subscribe";
        let is_news = match adds {
            true => client.changes.resources.add(&uri)?,
            false => client.changes.resources.remove(&uri),
        };
        match (is_news, client.changes.filter()) {
            (true, Some(_)) => {
                let ask = (called.ask, Some(uri).filter(|_| adds));
                self.listen(called.connection, Some(ask), out);
            }
            (true, None) => {
                let listens = std::mem::take(&mut client.changes.listens);
                let over = listens
                    .into_iter()
                    .map(|question| Output::Withdraw { question });
                out.extend(over);
                out.push(protocol::result(called.ask, "{}"));
            }
            (false, _) => out.push(protocol::result(called.ask, "{}")),
        }
        Ok(())
    }

    pub(super) fn listen(
        &mut self,
        connection: ConnectionId,
        ask: Option<(Asked, Option<String>)>,
        out: &mut Vec<Output>,
    ) {
        let client = self.clients.get(&connection);
        let params = client.and_then(|client| {
            let filter = client.changes.filter()?;
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
        let question = self.ask(of, None, "subscriptions/listen", [Some(&params), None], out);
        if let Some(client) = self.clients.get_mut(&connection) {
            client.changes.listens.push(question);
        }
    }

    /// A `subscriptions/listen` is over.
    pub(super) fn listened(
        &mut self,
        question: Question,
        listen: Listen,
        outcome: &Message,
        out: &mut Vec<Output>,
    ) {
        let client = self.clients.get_mut(&listen.connection);
        if let Some(client) = client {
            let before = client.changes.listens.len();
            client.changes.listens.retain(|of| *of != question);
            if client.changes.listens.is_empty() && before > 0 {
                let why = protocol::clipped(outcome.body());
                let reason = format!("it tells a client no changes any more: {why}");
                self.dropped.note(&self.name, &reason);
            }
            if let Some((_, Some(uri))) = &listen.ask {
                client.changes.resources.remove(uri);
            }
        }
        let Some((ask, _)) = listen.ask else {
            return;
        };
        out.push(match outcome.kind() {
            Kind::Error => protocol::answer(ask, outcome.clone()),
            _ => protocol::failed(
                ask,
                &Error::new(
                    protocol::code::BACKEND,
                    "The provider ended the subscription",
                ),
            ),
        });
    }

    /// Passes on what belongs to a `subscriptions/listen`.
    pub(super) fn published(
        &mut self,
        question: Question,
        method: String,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) {
        let open = self.questions.get_mut(&question);
        let Some(Of::Listen(listen)) = open.map(|open| &mut open.of) else {
            return;
        };
        let connection = listen.connection;
        let Some(client) = self.clients.get_mut(&connection) else {
            return;
        };
        if method == protocol::ACKNOWLEDGED {
            listen.acknowledged = true;
            let mut done: Vec<_> = listen.ask.take().into_iter().collect();
            let at = client.changes.listens.iter().position(|of| *of == question);
            let older: Vec<_> = client.changes.listens.drain(..at.unwrap_or(0)).collect();
            for older in older {
                if let Some(Of::Listen(older)) =
                    self.questions.get_mut(&older).map(|open| &mut open.of)
                {
                    done.extend(older.ask.take());
                }
                out.push(Output::Withdraw { question: older });
            }
            out.extend(done.into_iter().map(|(ask, _)| protocol::result(ask, "{}")));
        } else if listen.acknowledged {
            out.push(Output::TellCaller {
                caller: Caller::Connection(connection),
                method,
                params: params.map(|params| with_meta(Some(params), key::SUBSCRIPTION, None)),
                meta: None,
            });
        }
    }
}
