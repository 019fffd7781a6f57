//! How a connection to the provider begins and ends.

use super::own::Legacy;
use super::{CallerRequest, ConnectedProvider, Open, Owner, ProviderConnection, Waits};
use crate::protocol::{self, quoted};
use crate::seat::{Asked, ConnectionId, Output, Question, connected};
use crate::wire;
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

impl ConnectedProvider {
    pub(super) fn connect(
        &mut self,
        place: Owner,
        ask: Option<Asked>,
        meta: Option<&str>,
        out: &mut Vec<Output>,
    ) {
        let link = ProviderConnection {
            ask,
            ..ProviderConnection::default()
        };
        self.links.insert(place, link);
        out.push(Output::AskProvider {
            question: self.ask(Open::Connect(place)),
            method: "mcp/connect",
            params: with_meta(
                &format!(r#"{{"{}":{}}}"#, self.named, quoted(&self.id)),
                meta,
            ),
        });
    }

    pub(super) fn connect_answered(
        &mut self,
        place: Owner,
        outcome: Message,
        out: &mut Vec<Output>,
    ) {
        let theirs = match outcome.kind() {
            Kind::Result => self
                .accepted(&outcome)
                .map_err(|error| Message::error(&error)),
            _ => Err(outcome.clone()),
        };
        let Some(link) = self.links.get_mut(&place) else {
            // Nobody wants it any more.
            if let Ok(theirs) = theirs {
                self.hang_up(&theirs, None, None, out);
            }
            return;
        };
        let theirs = match theirs {
            Ok(theirs) => theirs,
            Err(error) => return self.fail(place, &error, out),
        };
        link.theirs = Some(theirs.clone());
        let ask = link.ask.take();
        self.theirs.insert(theirs, place);
        match place {
            Owner::Own => self.probe(out),
            Owner::Caller(connection) => {
                let outcome = connected(connection, wire::meta(outcome.body()));
                out.extend(ask.map(|ask| protocol::answer(ask, outcome)));
                self.open(place, out);
            }
        }
    }

    /// The id that the provider gave a connection.
    pub(super) fn accepted(&self, outcome: &Message) -> Result<Id, Error> {
        let text = member(outcome.body(), "connectionId").filter(|text| text.starts_with('"'));
        let fault = |reason| {
            let text = format!("The provider of the MCP server {:?} {reason}", self.name);
            Error::new(code::INTERNAL_ERROR, text)
        };
        let theirs = protocol::token(text)
            .ok_or_else(|| fault("answered mcp/connect without a connectionId"))?;
        match self.theirs.contains_key(&theirs) {
            true => Err(fault("gave two connections the same connectionId")),
            false => Ok(theirs),
        }
    }

    /// A connection is ready: what waits goes out.
    pub(super) fn open(&mut self, place: Owner, out: &mut Vec<Output>) {
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        link.open = true;
        for waits in std::mem::take(&mut link.waiting) {
            match waits {
                Waits::Request(said) => self.send(place, said, out),
                Waits::Notification {
                    method,
                    params,
                    meta,
                } => self.tell(place, &method, [params.as_deref(), meta.as_deref()], out),
            }
        }
    }

    /// A connection could not be made: so say all that wait for it.
    pub(super) fn fail(&mut self, place: Owner, error: &Message, out: &mut Vec<Output>) {
        let Some(link) = self.links.remove(&place) else {
            return;
        };
        if let Some(theirs) = &link.theirs {
            self.hang_up(theirs, None, None, out);
        }
        let answer = |ask| protocol::answer(ask, error.clone());
        out.extend(link.asks().map(answer));
    }

    /// Tells the provider that a connection is over.
    pub(super) fn hang_up(
        &mut self,
        theirs: &Id,
        ask: Option<Asked>,
        meta: Option<&str>,
        out: &mut Vec<Output>,
    ) {
        self.theirs.remove(theirs);
        out.push(Output::AskProvider {
            question: self.ask(Open::Disconnect(ask)),
            method: "mcp/disconnect",
            params: with_meta(&format!(r#"{{"connectionId":{}}}"#, theirs.as_str()), meta),
        });
    }

    pub(super) fn disconnect(
        &mut self,
        ask: Option<Asked>,
        connection: ConnectionId,
        meta: Option<&str>,
        out: &mut Vec<Output>,
    ) {
        let place = Owner::Caller(connection);
        let Some(link) = self.links.remove(&place) else {
            out.extend(ask.map(|ask| protocol::result(ask, "{}")));
            return;
        };
        let over = Error::cancelled();
        out.extend(link.asks().map(|ask| protocol::failed(ask, &over)));
        let over = Error::new(code::REQUEST_CANCELLED, "The connection is over");
        self.withdraw_provider(Some(place), &over, out);
        match &link.theirs {
            Some(theirs) => self.hang_up(theirs, ask, meta, out),
            None => {
                self.withdraw_connect(place, out);
                out.extend(ask.map(|ask| protocol::result(ask, "{}")));
            }
        }
    }

    /// The server is gone: so are the connections that are left.
    pub(super) fn close(&mut self, out: &mut Vec<Output>) {
        let gone = protocol::unavailable(&self.name);
        for place in self.links.keys().copied().collect::<Vec<_>>() {
            self.withdraw_connect(place, out);
            self.fail(place, &Message::error(&gone), out);
        }
    }

    pub(super) fn withdraw_connect(&self, place: Owner, out: &mut Vec<Output>) {
        let connects = |open: &Open| matches!(open, Open::Connect(of) if *of == place);
        let found = self.questions.iter().find(|(_, open)| connects(open));
        out.extend(found.map(|(question, _)| Output::Withdraw {
            question: *question,
        }));
    }
}

impl ConnectedProvider {
    /// Takes back from callers what the provider asked, on one connection or on all of them. The
    /// provider hears why at once; the answers come, and mean nothing.
    fn withdraw_provider(&mut self, on: Option<Owner>, why: &Error, out: &mut Vec<Output>) {
        for (question, open) in &mut self.questions {
            match *open {
                Open::Provider { ask, place } if on.is_none_or(|on| on == place) => {
                    *open = Open::Over;
                    let question = *question;
                    out.push(Output::Withdraw { question });
                    out.push(protocol::failed(ask, why));
                }
                _ => {}
            }
        }
    }

    /// The provider was started again: what was open with it is over, and it is not asked for it.
    pub(super) fn lose(&mut self, out: &mut Vec<Output>) {
        let lost = protocol::lost(&self.name);
        self.withdraw_provider(None, &lost, out);
        self.theirs.clear();
        for link in std::mem::take(&mut self.links).into_values() {
            out.extend(link.asks().map(|ask| protocol::failed(ask, &lost)));
        }
        // What callers still have counts until they answer.
        let theirs = |_: &Question, open: &mut Open| !matches!(open, Open::Over);
        let gone: Vec<_> = self.questions.extract_if(.., theirs).collect();
        for (_, open) in gone {
            match open {
                Open::Caller(relayed) => out.push(protocol::failed(relayed.ask, &lost)),
                Open::Disconnect(ask) => out.extend(ask.map(|ask| protocol::result(ask, "{}"))),
                _ => {}
            }
        }
    }
}

/// The answer to a good-bye: the provider's, or that all is well with what that says beside it.
pub(super) fn disconnected(ask: Asked, outcome: Message) -> Output {
    match outcome.kind() {
        Kind::Result => protocol::result(ask, &with_meta("{}", wire::meta(outcome.body()))),
        _ => protocol::answer(ask, outcome),
    }
}

/// An object with this `_meta`, if there is any.
fn with_meta(object: &str, meta: Option<&str>) -> String {
    match meta {
        Some(meta) => protocol::with(object, "/_meta", Some(meta)),
        None => object.to_owned(),
    }
}

impl ProviderConnection {
    /// How many bytes wait.
    pub(super) fn weight(&self) -> usize {
        let waiting = self.waiting.iter().map(|waits| match waits {
            Waits::Request(said) => said.weight(),
            Waits::Notification {
                method,
                params,
                meta,
            } => {
                let texts = [params, meta].into_iter().flatten();
                method.len() + texts.map(String::len).sum::<usize>()
            }
        });
        let listens = self.listens.waiting.iter().map(CallerRequest::weight);
        waiting.chain(listens).sum()
    }

    /// The requests that wait.
    pub(super) fn requests(&self) -> impl Iterator<Item = &CallerRequest<'static>> {
        let waiting = self.waiting.iter().filter_map(|waits| match waits {
            Waits::Request(said) => Some(said),
            Waits::Notification { .. } => None,
        });
        waiting.chain(&self.listens.waiting)
    }

    /// All that wait for an answer of which the provider does not know.
    pub(super) fn asks(&self) -> impl Iterator<Item = Asked> {
        let requests = self.requests().map(|said| said.ask);
        let listeners = self.legacy.iter().flat_map(Legacy::asks);
        self.ask.into_iter().chain(requests).chain(listeners)
    }

    /// How many wait that the provider has answered in advance.
    pub(super) fn local(&self) -> usize {
        self.legacy
            .as_ref()
            .map_or(0, |legacy| legacy.asks().count())
    }

    /// Gives up on what waits, and answers it.
    pub(super) fn forget(&mut self, ask: Asked) -> Option<Output> {
        let waits = |waits: &Waits| matches!(waits, Waits::Request(said) if said.ask == ask);
        if let Some(at) = self.waiting.iter().position(waits) {
            self.waiting.remove(at);
            return Some(protocol::failed(ask, &Error::cancelled()));
        }
        let listens = &mut self.listens.waiting;
        if let Some(at) = listens.iter().position(|said| said.ask == ask) {
            listens.remove(at);
            return Some(protocol::failed(ask, &Error::cancelled()));
        }
        let result = self.legacy.as_mut()?.forget(ask)?;
        Some(protocol::result(ask, &result))
    }
}
