//! Clients that begin with `initialize`, at a provider that supports only requests that stand alone.
//!
//! - `initialize` is answered from the result of `server/discover`; the seat answers `ping`.
//! - The client's capabilities and software are added to the `_meta` of every request. The members that 2026-07-28
//!   added to results are removed, and so are those that older clients reject: an `outputSchema` or `structuredContent`
//!   that is not an object.
//! - The level of `logging/setLevel` is sent with every later request. The provider sends log messages for the request.
//! - For changes of lists, and `resources/subscribe`, see [`subscription`](super::subscription).
//! - For the provider's requests to the client during a call, see [`rounds`](super::rounds).
//!
//! Limits: a client's notifications, such as `notifications/roots/list_changed`, are not sent to the provider. A result
//! of a type that the client's version does not have, such as a task, becomes the error -32603.

use std::borrow::Cow;

use super::called::{Called, Legacy};
use super::subscription::Changes;
use super::{Of, StatelessProvider};
use crate::protocol::{
    self, LISTS, Version, invalid, is_object, key, no_method, object, quoted, with_meta,
};
use crate::versions;
use crate::wire::Said;
use crate::{Asked, ConnectionId};
use acp_chain_rpc::{Error, Kind, Message, code, member, resolve};

/// The levels of `logging/setLevel` (MCP 2025-11-25, `LoggingLevel`).
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// A connected client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// The version negotiated by `initialize`.
    pub version: Option<Version>,
    /// JSON text.
    capabilities: Option<String>,
    /// `clientInfo`, as JSON text.
    software: Option<String>,
    level: Option<&'static str>,
    pub changes: Changes,
}

impl Client {
    /// Whether the client declared this capability.
    pub fn can(&self, capability: &str) -> bool {
        let capabilities = self.capabilities.as_deref();
        capabilities.is_some_and(|text| member(text, capability).is_some_and(is_object))
    }

    /// Keeps the client's capabilities and software from `initialize`.
    fn introduce(&mut self, params: Option<&str>) -> Result<(), Error> {
        let given = |name| Ok(protocol::introduced(params, name)?.map(str::to_owned));
        (self.capabilities, self.software) = (given("capabilities")?, given("clientInfo")?);
        Ok(())
    }

    /// How many bytes are kept for the client.
    pub fn weight(&self) -> usize {
        let texts = [&self.capabilities, &self.software].into_iter().flatten();
        texts.map(String::len).sum::<usize>() + self.changes.weight()
    }

    /// The params of a request, in the form of 2026-07-28.
    pub fn stand_alone(&self, params: Option<&str>) -> Result<String, Error> {
        let meta = params.and_then(|params| member(params, "_meta"));
        let is_fine = |text: &str| is_object(text) || text == "null";
        if !params.is_none_or(is_object) || !meta.is_none_or(is_fine) {
            return Err(invalid("params and params._meta are objects"));
        }
        let version = quoted(Version::Stateless.as_str());
        let capabilities = self.capabilities.as_deref().unwrap_or("{}");
        let mut params = with_meta(params, key::VERSION, Some(&version));
        params = with_meta(Some(&params), key::CAPABILITIES, Some(capabilities));
        if let Some(software) = &self.software {
            params = with_meta(Some(&params), key::CLIENT_INFO, Some(software));
        }
        if let Some(level) = self.level {
            params = with_meta(Some(&params), key::LOG_LEVEL, Some(&quoted(level)));
        }
        Ok(params)
    }
}

impl StatelessProvider {
    pub(super) fn legacy_request(
        &mut self,
        called: Called,
        connection: ConnectionId,
        said: &Said,
    ) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&connection) else {
            return Err(Error::cancelled());
        };
        let (ask, params) = (called.ask, said.params());
        match &*said.method {
            "initialize" => {
                let introduced = client.introduce(params);
                let introduced = introduced.and_then(|()| self.has_room_for(connection));
                let client = self.clients.entry(connection).or_default();
                if let Err(error) = introduced {
                    // The client may retry `initialize`.
                    *client = Client::default();
                    return Err(error);
                }
                let params = client.stand_alone(None)?;
                let discover = Said::made("server/discover", params);
                self.ask(Of::Initialize { ask, connection }, None, &discover);
            }
            "ping" => self.out.result(ask, "{}"),
            "logging/setLevel" => {
                let level = protocol::string(params, "level");
                let mut levels = LEVELS.into_iter();
                let known = levels.find(|known| level.as_deref() == Some(known));
                client.level = Some(known.ok_or_else(|| {
                    invalid(format!("The level is none of {}", LEVELS.join(", ")))
                })?);
                self.out.result(ask, "{}");
            }
            method @ ("resources/subscribe" | "resources/unsubscribe")
                if client.changes.subscribes =>
            {
                let uri = protocol::string(params, "uri")
                    .ok_or_else(|| invalid("the request lacks a uri, a string"))?;
                let adds = method == "resources/subscribe";
                if adds {
                    self.has_room_for(connection)?;
                }
                self.subscribe(ask, connection, uri, adds)?;
            }
            method @ ("resources/subscribe"
            | "resources/unsubscribe"
            | "server/discover"
            | "subscriptions/listen") => return Err(no_method(method)),
            method => {
                let legacy = Legacy {
                    connection,
                    method: method.to_owned(),
                    params: client.stand_alone(params)?,
                    rounds: 0,
                };
                if !protocol::keeps(self.kept(), legacy.weight()) {
                    return Err(protocol::heavy(&self.name));
                }
                self.call(called, legacy, None);
            }
        }
        Ok(())
    }

    /// An error if too much is kept for all clients together, including the latest message of this one.
    fn has_room_for(&self, connection: ConnectionId) -> Result<(), Error> {
        let others = self.clients.iter().filter(|(id, _)| **id != connection);
        let kept = others.map(|(_, client)| client.weight()).sum();
        let own = self.clients.get(&connection).map_or(0, Client::weight);
        if protocol::keeps(kept, own) {
            Ok(())
        } else {
            Err(protocol::heavy(&self.name))
        }
    }

    /// Sends a call to the provider. `again` are the params of a retry.
    pub(super) fn call(&mut self, mut called: Called, legacy: Legacy, again: Option<String>) {
        let params = again.unwrap_or_else(|| legacy.params.clone());
        let said = Said::made(&legacy.method, params);
        called.legacy = Some(legacy);
        self.ask(Of::Caller(called), None, &said);
    }

    /// The provider answered `server/discover`: answers `initialize`.
    pub(super) fn initialized(&mut self, ask: Asked, connection: ConnectionId, outcome: Message) {
        let outcome = match self.introduced(connection, &outcome) {
            Ok(result) => Message::result(&result),
            Err(fault) => fault.map_or(outcome, |error| Message::error(&error)),
        };
        self.out.answer(ask, outcome);
    }

    /// The result of `initialize`, from the answer to `server/discover`. `Err(None)` passes that answer on.
    fn introduced(
        &mut self,
        connection: ConnectionId,
        discovered: &Message,
    ) -> Result<String, Option<Error>> {
        let Some(client) = self.clients.get_mut(&connection) else {
            return Err(Some(Error::cancelled()));
        };
        // If this fails, the client may retry `initialize`.
        let version = client.version.take();
        let (version, body) = match (discovered.kind(), version) {
            (Kind::Result, Some(version)) => (version, discovered.body()),
            _ => return Err(None),
        };
        if versions::speaks_stateless(body) == Some(false) {
            let stateless = Version::Stateless.as_str();
            let text = format!("The MCP server {:?} does not speak {stateless}", self.name);
            return Err(Some(Error::new(protocol::code::BACKEND, text)));
        }
        client.version = Some(version);
        let capabilities = member(body, "capabilities").filter(|text| is_object(text));
        let capabilities = capabilities.unwrap_or("{}");
        let offered = |pointer: &str| resolve(capabilities, pointer) == Ok(Some("true"));
        client.changes.filter.lists =
            LISTS.map(|(of, _, _)| offered(&format!("/{of}/listChanged")));
        client.changes.subscribes = offered("/resources/subscribe");
        let software = protocol::meta(Some(body), key::SERVER_INFO).filter(|software| {
            let has = |name| protocol::string(Some(software), name).is_some();
            has("name") && has("version")
        });
        let software = software.map_or_else(
            || format!(r#"{{"name":{},"version":"unknown"}}"#, quoted(&self.name)),
            str::to_owned,
        );
        let instructions = member(body, "instructions").filter(|text| text.starts_with('"'));
        Ok(object(&[
            ("protocolVersion", Some(&quoted(version.as_str()))),
            ("capabilities", Some(capabilities)),
            ("serverInfo", Some(&software)),
            ("instructions", instructions),
        ]))
    }

    pub(super) fn legacy_answered(&mut self, called: Called, legacy: Legacy, outcome: Message) {
        let (ask, body) = (called.ask, outcome.body());
        if outcome.kind() != Kind::Result {
            return self.out.answer(ask, outcome);
        }
        match member(body, "resultType") {
            Some(r#""input_required""#) if called.withdrawn => {
                self.out.fail(ask, &Error::cancelled());
            }
            Some(r#""input_required""#) => {
                let begun = self.begin_round(called, legacy, body);
                self.out.settle(ask, begun);
            }
            None | Some(r#""complete""#) => {
                let outcome = match versions::older(&legacy.method, outcome.body()) {
                    Cow::Owned(older) => Message::result(&older),
                    Cow::Borrowed(_) => outcome,
                };
                self.out.answer(ask, outcome);
            }
            Some(other) => {
                let text = format!(
                    "The MCP server {:?} gave a result of the type {}, which the client's version \
                     of MCP does not have",
                    self.name,
                    protocol::clipped(other)
                );
                self.out.fail(ask, &Error::new(code::INTERNAL_ERROR, text));
            }
        }
    }
}
