//! Translation of clients that begin with `initialize`, to and from MCP 2026-07-28.
//!
//! - The result of `initialize` is made of that of `server/discover`, which the edge sends the provider for it.
//! - The client's capabilities and software are added to the `_meta` of every request, and so is the level of
//!   `logging/setLevel`: the provider sends log messages for the request.
//! - Of results, `crate::versions` removes what older clients do not know.
//!
//! Limits: a client's notifications, such as `notifications/roots/list_changed`, are not sent to the provider. A result
//! of a type that the client's version does not have, such as a task, becomes the error -32603.

use super::subscription::Changes;
use crate::protocol::{
    self, MAX_SAID, Version, invalid, is_empty_list, is_object, key, object, quoted, with, with_key,
};
use crate::versions;
use crate::wire::McpMessage;
use acp_chain_channel::limits::{Account, Charge};
use acp_chain_rpc::{Error, member, resolve, text_member};

/// The levels of `logging/setLevel` (MCP 2025-11-25, `LoggingLevel`).
const LEVELS: &str = "debug info notice warning error critical alert emergency";

/// The level that the params of `logging/setLevel` name.
pub(super) fn level(params: &str) -> Result<&'static str, Error> {
    let level = text_member(params, "level");
    let mut levels = LEVELS.split(' ');
    let known = levels.find(|known| level.as_deref() == Some(known));
    let all = LEVELS.replace(' ', ", ");
    known.ok_or_else(|| invalid(format!("The level is none of {all}")))
}

/// A connected client.
#[derive(Debug, Default)]
pub struct Client {
    /// The version negotiated by `initialize`.
    pub version: Option<Version>,
    /// JSON text.
    capabilities: Option<String>,
    /// `clientInfo`, as JSON text.
    software: Option<String>,
    pub level: Option<&'static str>,
    pub changes: Changes,
    /// The charge for all this, since `initialize`.
    charge: Option<Charge>,
}

impl Client {
    /// Whether the client declared this capability.
    pub fn can(&self, capability: &str) -> bool {
        let capabilities = self.capabilities.as_deref();
        capabilities.is_some_and(|text| member(text, capability).is_some_and(is_object))
    }

    /// Keeps the client's capabilities and software from `initialize`, on this account of the server with this name.
    pub fn introduce(
        &mut self,
        params: &str,
        declared: &Account,
        server: &str,
    ) -> Result<(), Error> {
        let given = |name: &str| {
            let said = member(params, name).filter(|said| is_object(said));
            if said.is_some_and(|said| said.len() > MAX_SAID) {
                let text = format!("{name} is larger than {} KiB", MAX_SAID / 1024);
                return Err(invalid(text));
            }
            Ok(said.map(str::to_owned))
        };
        (self.capabilities, self.software) = (given("capabilities")?, given("clientInfo")?);
        self.charge = Some(protocol::keep(declared, self.weight(), server)?);
        Ok(())
    }

    /// Adds or removes a resource that the client of the server with this name subscribes to. Returns whether that is a
    /// change.
    pub fn subscribe(&mut self, uri: &str, adds: bool, server: &str) -> Result<bool, Error> {
        let resources = &mut self.changes.filter.resources;
        let is_changed = if adds {
            resources.add(uri)?
        } else {
            resources.remove(uri)
        };
        let weight = self.weight();
        let charge = self.charge.as_mut();
        if charge.is_none_or(|charge| charge.resize(weight)) {
            return Ok(is_changed);
        }
        self.changes.filter.resources.remove(uri);
        Err(protocol::heavy(server))
    }

    /// How many bytes are kept for the client.
    fn weight(&self) -> usize {
        let texts = [&self.capabilities, &self.software].into_iter().flatten();
        texts.map(String::len).sum::<usize>() + self.changes.filter.resources.weight()
    }

    /// The params of a request, in the form of 2026-07-28.
    pub fn stand_alone(&self, params: &str) -> Result<String, Error> {
        let is_nothing = params == "null" || is_empty_list(params);
        let params = if is_nothing { "{}" } else { params };
        if !is_object(params) {
            return Err(invalid("params is an object"));
        }
        let meta = member(params, "_meta").filter(|meta| is_object(meta));
        let mut meta = meta.unwrap_or("{}").to_owned();
        let version = quoted(Version::Stateless.as_str());
        let capabilities = self.capabilities.as_deref().or(Some("{}"));
        for (key, value) in [
            (key::VERSION, Some(&*version)),
            (key::CAPABILITIES, capabilities),
            (key::CLIENT_INFO, self.software.as_deref()),
            (key::LOG_LEVEL, self.level.map(quoted).as_deref()),
        ] {
            if value.is_some() {
                meta = with_key(&meta, key, value);
            }
        }
        Ok(with(params, "/_meta", Some(&meta)))
    }

    /// The subscription to the changes that the client subscribes to.
    pub fn listen(&self) -> McpMessage {
        let filter = self.changes.filter.to_json();
        let params = object(&[("notifications", Some(&filter))]);
        let params = self.stand_alone(&params).unwrap_or(params);
        McpMessage::new("subscriptions/listen", &params)
    }

    /// The result of `initialize` in this version, from that of `server/discover`. `name` is the server's.
    pub fn begin(
        &mut self,
        version: Version,
        discovered: &str,
        name: &str,
    ) -> Result<String, Error> {
        if versions::speaks_stateless(discovered) == Some(false) {
            let stateless = Version::Stateless.as_str();
            let text = format!("The MCP server {name:?} does not speak {stateless}");
            return Err(Error::new(protocol::code::BACKEND, text));
        }
        self.version = Some(version);
        let capabilities = member(discovered, "capabilities").filter(|text| is_object(text));
        let capabilities = capabilities.unwrap_or("{}");
        self.changes.filter.lists = protocol::reported_lists(capabilities);
        let subscribes = resolve(capabilities, "/resources/subscribe");
        self.changes.subscribes = subscribes == Ok(Some("true"));
        let software = protocol::meta(discovered, key::SERVER_INFO).filter(|software| {
            let has = |name| text_member(software, name).is_some();
            has("name") && has("version")
        });
        let unknown = || protocol::implementation(name, "unknown");
        let software = software.map_or_else(unknown, str::to_owned);
        let instructions = member(discovered, "instructions").filter(|text| text.starts_with('"'));
        Ok(object(&[
            ("protocolVersion", Some(&quoted(version.as_str()))),
            ("capabilities", Some(capabilities)),
            ("serverInfo", Some(&software)),
            ("instructions", instructions),
        ]))
    }
}
