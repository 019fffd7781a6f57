//! Translation of a server that begins with `initialize`, from and to MCP 2026-07-28.
//!
//! - The result of `server/discover` is that of `initialize`.
//! - The keys of 2026-07-28 are removed from the `_meta` of requests, and its required members are added to results:
//!   `resultType`, and for cacheable results `ttlMs` 0 and `cacheScope` "private".
//! - Methods that need a connection are refused with -32601.
//!
//! There are no subscriptions to resources, and no log messages: neither names a call. Tasks are not supported: they
//! differ from those of 2026-07-28.

use crate::listening::Listeners;
use crate::protocol::{
    self, Version, array, key, no_method, object, quoted, software, with, with_meta,
};
use crate::versions;
use crate::wire::McpMessage;
use acp_chain_channel::Offers;
use acp_chain_rpc::{Error, Kind, Message, member};

/// The keys in the `_meta` of requests that 2026-07-28 added.
const ADDED: [&str; 4] = [
    key::VERSION,
    key::CLIENT_INFO,
    key::CAPABILITIES,
    key::LOG_LEVEL,
];

/// A server that begins with `initialize`.
#[derive(Debug)]
pub(super) struct LegacyServer {
    /// The result of `server/discover`.
    pub discovered: String,
    /// The lists whose changes the server reports.
    pub lists: Offers,
    /// The open subscriptions, which the seat answers.
    pub listeners: Listeners,
}

impl LegacyServer {
    /// The server with this result of `initialize`.
    pub fn new(initialized: &str) -> Self {
        let capabilities = member(initialized, "capabilities").unwrap_or("{}");
        let lists = protocol::reported_lists(capabilities);
        // These do not exist in 2026-07-28, or need a connection.
        let mut capabilities = capabilities.to_owned();
        for unsupported in ["/resources/subscribe", "/logging", "/tasks"] {
            capabilities = with(&capabilities, unsupported, None);
        }
        let software = member(initialized, "serverInfo");
        let meta = software.map(|software| object(&[(key::SERVER_INFO, Some(software))]));
        let discovered = object(&[
            (
                "supportedVersions",
                Some(&array(&[&quoted(Version::Stateless.as_str())])),
            ),
            ("capabilities", Some(&capabilities)),
            ("resultType", Some(r#""complete""#)),
            ("ttlMs", Some("0")),
            ("cacheScope", Some(r#""private""#)),
            ("instructions", member(initialized, "instructions")),
            ("_meta", meta.as_deref()),
        ]);
        Self {
            discovered,
            lists,
            listeners: Listeners::default(),
        }
    }

    /// Translates a request for the server. Not for requests that the seat answers.
    pub fn request(said: &mut McpMessage) -> Result<(), Error> {
        match said.method() {
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe" => return Err(no_method(said.method())),
            _ => {}
        }
        let mut params = said.params().to_owned();
        for key in ADDED {
            params = with_meta(&params, key, None);
        }
        said.set_params(&params);
        Ok(())
    }

    /// Translates the server's answer.
    pub fn answer(outcome: Message, cacheable: bool) -> Message {
        match outcome.kind() {
            Kind::Result if protocol::is_object(outcome.body()) => {
                Message::result(&versions::newer(outcome.body(), cacheable))
            }
            Kind::Result => outcome,
            _ => versions::newer_error(outcome),
        }
    }
}

/// The params of `server/discover`, for a client with these capabilities and this software.
pub(super) fn discover(capabilities: Option<&str>, software: Option<&str>) -> String {
    let meta = object(&[
        (key::VERSION, Some(&quoted(Version::Stateless.as_str()))),
        (key::CAPABILITIES, capabilities.or(Some("{}"))),
        (key::CLIENT_INFO, software),
    ]);
    object(&[("_meta", Some(&meta))])
}

/// The params of `initialize`, for a client with this software.
pub(super) fn initialize(client: Option<String>) -> String {
    let version = quoted(Version::V2025November.as_str());
    let client = client.unwrap_or_else(|| software("acp-chain"));
    object(&[
        ("protocolVersion", Some(&version)),
        ("capabilities", Some("{}")),
        ("clientInfo", Some(&client)),
    ])
}
