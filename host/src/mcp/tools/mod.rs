//! The MCP server that the host speaks for a component with tools.
//!
//! It speaks every [`Version`]: a connection that begins with `initialize` has the version that this
//! negotiates, and a request that names 2026-07-28 in its `_meta` stands alone, on a connection too.
//!
//! What always holds beside what every [seat](super::seat) promises: a request that was withdrawn is
//! answered as well, once; no client sees a tool, and no component a call, that was not checked.
//!
//! - What the component lists is asked for when a client first needs it, and kept until the component
//!   says that it has changed. Clients are then told, though not twice before one of them looks, and
//!   not twice in a row because of what it says while it lists.
//! - A tool that is wrong is left out of the list, and the user is told why.
//! - A list that is none, or an error of the component's, is the error -32603 of `tools/list` and
//!   `tools/call`, which names the proxy and what is wrong; the next request asks again.
//!   `initialize` and `server/discover` then go without `instructions`.
//! - Arguments that do not match the `inputSchema` are a tool result with `isError` from 2025-11-25 on
//!   (SEP-1303), and the error -32602 before. A schema that refers to itself or elsewhere, that is
//!   large, or that has a regular expression which looks around is not checked against, and neither
//!   are large arguments, the sooner the larger the schema: `schema.rs` has the numbers.
//! - A result that is no `CallToolResult`, or that breaks the promise of the `outputSchema`, is the
//!   error -32603.
//! - Progress goes to a caller that gave a token, as long as it grows.
//! - More than [`OPEN`](protocol::OPEN) open requests are the error -33000, and so is what is too much
//!   at once: to keep while the component lists its tools, or to check and answer when it has.
//!
//! Not offered: `logging/setLevel`, prompts, resources, completion, tasks, input that a tool needs
//! while it works.

mod answers;
mod catalog;
mod mirrors;
mod notices;
mod outcome;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::catalog::{Catalog, Tool};
use super::mirrored::Mirrored;
use super::protocol::{self, Dropped, Version, connection_version, invalid, key, no_method};
use super::seat::{Asked, Caller, ConnectionId, Input, Output, Question, Seat, connected};
use crate::rpc::{Error, Id, Kind, Message, code, member};

/// The server of one component.
#[derive(Debug)]
pub struct Server {
    name: String,
    last: Question,
    connections: BTreeMap<ConnectionId, Connection>,
    listed: Listed,
    /// Counts the catalogs, so that a cursor into another one is told.
    generation: u64,
    /// Whether clients know that the list has changed, and none has looked since.
    told: bool,
    /// Whether they were told while the component was listing, and it has said so only then since. It
    /// is not believed again until it says so otherwise: in every list, it would have everybody list
    /// for ever.
    told_while_listing: bool,
    waiting: Vec<Waiting>,
    calls: BTreeMap<Question, Call>,
    listeners: BTreeMap<Asked, Listener>,
    /// Lists that were none.
    dropped: Dropped,
}

#[derive(Debug, Default)]
struct Connection {
    /// What `initialize` negotiated.
    version: Option<Version>,
    /// Whether `notifications/initialized` came.
    ready: bool,
}

/// What is known of the component's tools.
#[derive(Debug)]
enum Listed {
    Nothing,
    Asked {
        question: Question,
        /// Whether the list has changed since.
        stale: bool,
    },
    Known(Catalog),
}

/// A request as its caller knows it.
#[derive(Clone, Debug)]
struct Request {
    ask: Asked,
    caller: Caller,
    id: Option<Id>,
    version: Version,
}

/// A request that needs the catalog.
#[derive(Debug)]
struct Waiting {
    request: Request,
    wants: Wants,
}

#[derive(Debug)]
enum Wants {
    Initialize,
    Discover,
    Page(Option<String>),
    Call {
        name: String,
        arguments: String,
        token: Option<Id>,
    },
}

impl Wants {
    /// How many bytes it keeps that a client chose.
    fn weight(&self) -> usize {
        match self {
            Self::Initialize | Self::Discover => 0,
            Self::Page(cursor) => cursor.as_ref().map_or(0, String::len),
            Self::Call {
                name, arguments, ..
            } => name.len() + arguments.len(),
        }
    }
}

/// A call that the component has.
#[derive(Debug)]
struct Call {
    request: Request,
    tool: Arc<Tool>,
    token: Option<Id>,
    progress: Option<f64>,
}

/// An open `subscriptions/listen`.
#[derive(Debug)]
struct Listener {
    request: Request,
    id: Id,
    tools: bool,
}

impl Seat for Server {
    fn take(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        match input {
            Input::Connect {
                ask, connection, ..
            } => out.push(self.connect(ask, connection)),
            Input::Disconnect {
                ask, connection, ..
            } => self.disconnect(ask, connection, &mut out),
            Input::Request {
                ask,
                caller,
                id,
                method,
                params,
                ..
            } => {
                let id = protocol::token(Some(id));
                if let Err(error) = self.request(ask, caller, id, method, params, &mut out) {
                    out.push(protocol::failed(ask, &error));
                }
            }
            Input::Notification {
                connection,
                method,
                params,
                ..
            } => self.notification(connection, method, params, &mut out),
            Input::Withdrawn { ask } => self.withdraw(ask, &mut out),
            Input::Answered { question, outcome } => self.answered(question, outcome, &mut out),
            Input::ProviderRequest { ask, .. } => {
                out.push(protocol::failed(ask, &no_method("mcp/message")));
            }
            Input::ProviderNotification { .. } | Input::ProviderLost | Input::Over => {}
            Input::ToolsChanged => self.changed(&mut out),
            Input::Progress {
                question,
                progress,
                total,
                message,
            } => out.extend(self.progress(question, progress, total, message)),
        }
        out
    }

    fn check_headers(&self, params: &str, headers: &Mirrored) -> Result<(), Error> {
        // Of a list that is not known here no client can know.
        let Listed::Known(catalog) = &self.listed else {
            return Ok(());
        };
        let name = protocol::string(Some(params), "name").unwrap_or_default();
        let Some(tool) = catalog.tool(&name) else {
            return Ok(());
        };
        let arguments = member(params, "arguments").unwrap_or("{}");
        mirrors::check(&tool.mirrors, arguments, headers)
            .map_err(|reason| Error::new(protocol::code::HEADER_MISMATCH, reason))
    }

    fn weight(&self) -> usize {
        let catalog = match &self.listed {
            Listed::Known(catalog) => catalog.weight(),
            _ => 0,
        };
        self.kept() + catalog
    }
}

impl Server {
    /// The server of the component with this id, which is also the name that clients see.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            last: 0,
            connections: BTreeMap::new(),
            listed: Listed::Nothing,
            generation: 0,
            told: false,
            told_while_listing: false,
            waiting: Vec::new(),
            calls: BTreeMap::new(),
            listeners: BTreeMap::new(),
            dropped: Dropped::default(),
        }
    }

    /// How many bytes wait for the list.
    fn kept(&self) -> usize {
        let waiting = self.waiting.iter();
        waiting.map(|waiting| waiting.wants.weight()).sum()
    }

    fn connect(&mut self, ask: Asked, connection: ConnectionId) -> Output {
        if self.connections.len() >= protocol::CONNECTIONS {
            return protocol::failed(ask, &protocol::full(&self.name));
        }
        self.connections.insert(connection, Connection::default());
        let outcome = connected(connection, None);
        protocol::answer(ask, outcome)
    }

    fn disconnect(&mut self, ask: Option<Asked>, connection: ConnectionId, out: &mut Vec<Output>) {
        self.connections.remove(&connection);
        let gone = Caller::Connection(connection);
        let open = self.open().filter(|request| request.caller == gone);
        let open: Vec<_> = open.map(|request| request.ask).collect();
        for ask in open {
            self.withdraw(ask, out);
        }
        out.extend(ask.map(|ask| protocol::result(ask, "{}")));
    }

    /// All requests that are not answered yet.
    fn open(&self) -> impl Iterator<Item = &Request> {
        let waiting = self.waiting.iter().map(|waiting| &waiting.request);
        let calls = self.calls.values().map(|call| &call.request);
        let listeners = self.listeners.values().map(|listener| &listener.request);
        waiting.chain(calls).chain(listeners)
    }

    fn request(
        &mut self,
        ask: Asked,
        caller: Caller,
        id: Option<Id>,
        method: &str,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        if self.open().count() >= protocol::OPEN {
            return Err(protocol::full(&self.name));
        }
        protocol::is_carried(&caller)?;
        let version = self.version(&caller, method, params)?;
        let request = Request {
            ask,
            caller,
            id,
            version,
        };
        let wants = match (method, version) {
            ("ping", version) if version < Version::Stateless => {
                out.push(protocol::result(ask, "{}"));
                return Ok(());
            }
            ("initialize", version) if version < Version::Stateless => Wants::Initialize,
            ("server/discover", Version::Stateless) => Wants::Discover,
            ("subscriptions/listen", Version::Stateless) => {
                return self.listen(request, params, out);
            }
            ("tools/list", _) => Wants::Page(cursor(params)?),
            ("tools/call", _) => call(params)?,
            _ => return Err(no_method(method)),
        };
        // With a catalog nothing waits.
        let unlisted = !matches!(self.listed, Listed::Known(_));
        if unlisted && !protocol::keeps(self.kept(), wants.weight()) {
            return Err(protocol::heavy(&self.name));
        }
        self.waiting.push(Waiting { request, wants });
        self.go_on(out);
        Ok(())
    }

    /// Which version a request is of.
    fn version(
        &mut self,
        caller: &Caller,
        method: &str,
        params: Option<&str>,
    ) -> Result<Version, Error> {
        let connection =
            match caller {
                Caller::Request(_) => None,
                Caller::Connection(id) => Some(self.connections.get_mut(id).ok_or_else(|| {
                    Error::new(code::INVALID_REQUEST, "There is no such connection")
                })?),
            };
        match connection {
            Some(connection) => connection_version(&mut connection.version, method, params),
            None => protocol::stands_alone(params).map(|()| Version::Stateless),
        }
    }

    fn notification(
        &mut self,
        connection: ConnectionId,
        method: &str,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) {
        match method {
            "notifications/initialized" => {
                if let Some(connection) = self.connections.get_mut(&connection) {
                    connection.ready = connection.version.is_some();
                }
            }
            protocol::CANCELLED => {
                let named = params.and_then(|params| member(params, "requestId"));
                let named = protocol::token(named);
                let caller = Caller::Connection(connection);
                let found = self.open().find(|request| {
                    named.is_some() && request.id == named && request.caller == caller
                });
                if let Some(ask) = found.map(|request| request.ask) {
                    self.withdraw(ask, out);
                }
            }
            _ => {}
        }
    }

    fn withdraw(&mut self, ask: Asked, out: &mut Vec<Output>) {
        let waits = |waiting: &Waiting| waiting.request.ask == ask;
        if let Some(at) = self.waiting.iter().position(waits) {
            self.waiting.remove(at);
            out.push(protocol::failed(ask, &Error::cancelled()));
            return;
        }
        if let Some(listener) = self.listeners.remove(&ask) {
            out.push(protocol::result(ask, &protocol::listened(&listener.id)));
            return;
        }
        let call = self
            .calls
            .iter_mut()
            .find(|(_, call)| call.request.ask == ask);
        if let Some((question, call)) = call {
            // Nobody is there to be told how far it is.
            call.token = None;
            let question = *question;
            out.push(Output::Withdraw { question });
        }
    }

    /// Serves what waits for the catalog, or asks for it.
    fn go_on(&mut self, out: &mut Vec<Output>) {
        match &self.listed {
            _ if self.waiting.is_empty() => {}
            Listed::Asked { .. } => {}
            Listed::Nothing => {
                self.last += 1;
                let question = self.last;
                self.listed = Listed::Asked {
                    question,
                    stale: false,
                };
                self.told = false;
                out.push(Output::ListTools { question });
            }
            Listed::Known(_) => {
                // Out of its place, so that nothing is borrowed twice.
                let listed = std::mem::replace(&mut self.listed, Listed::Nothing);
                if let Listed::Known(catalog) = &listed {
                    self.serve(Ok(catalog), out);
                }
                self.listed = listed;
            }
        }
    }

    fn answered(&mut self, question: Question, outcome: Message, out: &mut Vec<Output>) {
        if let Some(call) = self.calls.remove(&question) {
            out.push(self.called(&call, outcome));
            return;
        }
        let Listed::Asked {
            question: of,
            stale,
        } = self.listed
        else {
            return;
        };
        if of != question {
            return;
        }
        self.listed = Listed::Nothing;
        let catalog = match outcome.kind() {
            Kind::Result => Catalog::read(outcome.body()),
            _ => Err(match protocol::string(Some(outcome.body()), "message") {
                Some(message) => {
                    let message = protocol::clipped(&message);
                    format!("it could not list its tools: {message}")
                }
                None => String::from("it could not list its tools"),
            }),
        };
        self.generation += 1;
        match catalog {
            Ok(catalog) => {
                if let Some(reasons) = catalog.left_out() {
                    let text = format!("tools that it lists are left out: {reasons}");
                    self.dropped.note(&self.name, &text);
                    let name = &self.name;
                    out.push(Output::Notice {
                        text: format!("of the proxy `{name}`, {text}."),
                    });
                }
                self.serve(Ok(&catalog), out);
                // One that has changed serves those who asked before, and nobody after.
                if !stale {
                    self.listed = Listed::Known(catalog);
                }
            }
            Err(reason) => {
                self.dropped.note(&self.name, &reason);
                self.serve(Err(&reason), out);
            }
        }
    }
}

/// The cursor of `tools/list`.
fn cursor(params: Option<&str>) -> Result<Option<String>, Error> {
    let cursor = params.and_then(|params| member(params, "cursor"));
    match cursor.filter(|cursor| *cursor != "null") {
        None => Ok(None),
        Some(cursor) => serde_json::from_str(cursor)
            .map(Some)
            .map_err(|_| invalid("The cursor is no string")),
    }
}

/// What `tools/call` wants.
fn call(params: Option<&str>) -> Result<Wants, Error> {
    let Some(name) = protocol::string(params, "name") else {
        return Err(invalid("tools/call lacks the name of a tool"));
    };
    let arguments = params.and_then(|params| member(params, "arguments"));
    let arguments = arguments.filter(|arguments| *arguments != "null");
    let arguments = arguments.unwrap_or("{}");
    if !protocol::is_object(arguments) {
        return Err(invalid("The arguments of tools/call are no object"));
    }
    let token = protocol::meta(params, key::PROGRESS);
    Ok(Wants::Call {
        name,
        arguments: arguments.to_owned(),
        token: protocol::token(token),
    })
}
