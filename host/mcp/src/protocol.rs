//! The parts of MCP that the seats read and write. Everything else passes as text.
//!
//! Versions up to 2025-11-25 begin a connection with `initialize`, and are called legacy here. In 2026-07-28 every
//! request stands alone, and its `_meta` has the version and the sender's capabilities.

use acp_chain_channel::limits::{self, Account, Charge};
use acp_chain_channel::{Offer, Offers};
use acp_chain_rpc::{self as rpc, Error, Id, Kind, Message, is_by_position, member, text_member};

/// The versions that the host supports, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 2024-11-05, a subset of 2025-03-26.
    V2024November,
    /// 2025-03-26.
    V2025March,
    /// 2025-06-18.
    V2025June,
    /// 2025-11-25, the newest that begins with `initialize`.
    V2025November,
    /// 2026-07-28, in which every request stands alone.
    Stateless,
}

impl Version {
    /// All versions, the newest first.
    pub const ALL: [Self; 5] = [
        Self::Stateless,
        Self::V2025November,
        Self::V2025June,
        Self::V2025March,
        Self::V2024November,
    ];

    /// The version's name in MCP.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024November => "2024-11-05",
            Self::V2025March => "2025-03-26",
            Self::V2025June => "2025-06-18",
            Self::V2025November => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }

    /// The version with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// The version for a client that requests this one in `initialize`: the requested version if the host supports it,
    /// otherwise the newest that has `initialize` (MCP lifecycle, version negotiation).
    pub fn negotiated(asked: &str) -> Self {
        let legacy = Self::named(asked).filter(|version| *version < Self::Stateless);
        legacy.unwrap_or(Self::V2025November)
    }
}

/// Keys of `_meta` (MCP 2026-07-28, `RequestMetaObject` and its like).
pub mod key {
    /// Of a request: the MCP version.
    pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Of a request: the sender's software.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Of a request: the sender's capabilities.
    pub use acp_chain_channel::CAPABILITIES;
    /// Of a request: the minimum level of log messages.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Of a notification or the final result: the id of its `subscriptions/listen`.
    pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
    /// Of a result: the server's software.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// Of a request: the token of its progress notifications.
    pub const PROGRESS: &str = "progressToken";
}

/// Error codes of MCP and MCP over ACP.
pub mod code {
    // `RESOURCE_NOT_FOUND` is of versions before 2026-07-28.
    pub use acp_chain_rpc::code::{INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND};
    /// The headers of a request over HTTP do not match its body (MCP 2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The server does not support the version of a request (MCP 2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Too much is open (schema 1.15, outer errors of `mcp/message`).
    pub const LIMIT: i64 = -33000;
    /// There is no server with this id (schema 1.15).
    pub const UNAVAILABLE: i64 = -33001;
    /// The provider gave no valid answer (schema 1.15).
    pub const BACKEND: i64 = -33002;
}

/// How many requests may be open at one seat in total, and how many connections it may have.
pub const OPEN: usize = limits::MCP_OPEN;

/// How many bytes of peers' messages a seat keeps until they are sent or no longer needed. A single message may be
/// larger.
pub const KEPT: usize = limits::MCP_KEPT;

/// The maximum size of a kept member of a client's `initialize`, or of a server's whole result of `initialize`, in
/// bytes.
pub(super) const MAX_SAID: usize = 64 * 1024;

/// The maximum length of a peer's token or id, in bytes of JSON text.
pub const TOKEN: usize = 1024;

/// How much of a peer's text an error quotes, in bytes.
const QUOTED: usize = 300;

/// The error that too many requests are open at the server with this name.
pub(super) fn full(server: &str) -> Error {
    Error::new(
        code::LIMIT,
        format!("{OPEN} requests are open at the MCP server {server:?}; wait for one to end"),
    )
}

/// The error that the requests at the server with this name are too large together.
pub(super) fn heavy(server: &str) -> Error {
    let text = format!(
        "The open requests at the MCP server {server:?} are too large together; wait for one to end"
    );
    Error::new(code::LIMIT, text)
}

/// The error that the server with this name is closed.
pub(super) fn unavailable(server: &str) -> Error {
    let text = format!("The MCP server {server:?} was closed with its session");
    Error::new(code::UNAVAILABLE, text)
}

/// The error that the provider of the server with this name was restarted, and lost its open requests.
pub(super) fn lost(server: &str) -> Error {
    let text = format!("The provider of the MCP server {server:?} was restarted; retry");
    Error::new(code::BACKEND, text)
}

/// Charges an account of the seat of the server with this name for a message of which it keeps this many bytes. A
/// single message may be larger than the limit.
pub(super) fn keep(kept: &Account, bytes: usize, server: &str) -> Result<Charge, Error> {
    if bytes == 0 || kept.kept() == 0 {
        return Ok(kept.charge_anyway(bytes));
    }
    kept.charge(bytes).ok_or_else(|| heavy(server))
}

/// The error that a method is unknown.
pub fn no_method(method: &str) -> Error {
    let text = format!("Method not found: {}", clipped(method));
    Error::new(code::METHOD_NOT_FOUND, text)
}

/// The error that the parameters are invalid.
pub(super) fn invalid(reason: impl Into<String>) -> Error {
    Error::new(code::INVALID_PARAMS, reason)
}

/// A peer's text, truncated to be quoted in an error.
pub(super) fn clipped(text: &str) -> String {
    if text.len() <= QUOTED {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(QUOTED)])
}

/// The JSON text of a string.
pub(super) fn quoted(text: &str) -> String {
    // A string always serializes.
    serde_json::to_string(text).unwrap_or_else(|_| String::from("\"\""))
}

/// The JSON text of an object with these members. The values are JSON text; a member without one is left out.
pub fn object(members: &[(&str, Option<&str>)]) -> String {
    let values = members.iter().filter_map(|(_, value)| *value);
    let mut text = String::with_capacity(values.map(str::len).sum::<usize>() + 128);
    text.push('{');
    for (name, value) in members {
        let Some(value) = value else { continue };
        if text.len() > 1 {
            text.push(',');
        }
        for part in [&*quoted(name), ":", value] {
            text.push_str(part);
        }
    }
    text.push('}');
    text
}

/// The JSON text of an array of these values, which are JSON text.
pub(super) fn array(values: &[&str]) -> String {
    ["[", &values.join(","), "]"].concat()
}

/// The JSON text of a number; `None` if JSON cannot represent it.
pub(super) fn number(value: f64) -> Option<String> {
    let is_whole = value.fract() == 0.0 && value.abs() < 1e15;
    if is_whole {
        return Some(format!("{value:.0}"));
    }
    let text = serde_json::to_string(&value).ok();
    text.filter(|_| value.is_finite())
}

/// Whether a JSON text is an object.
pub(super) fn is_object(json: &str) -> bool {
    json.trim_ascii_start().starts_with('{')
}

/// Whether a JSON text is a list without elements, as which some software writes an object without members.
pub(super) fn is_empty_list(json: &str) -> bool {
    json.trim_ascii_start().starts_with('[') && !is_by_position(json)
}

/// The text of a value in the `_meta` of some params or a result.
pub fn meta<'a>(body: &'a str, key: &str) -> Option<&'a str> {
    member(member(body, "_meta")?, key)
}

/// An id or token chosen by a peer, if it is valid (MCP `RequestId`, `ProgressToken`).
pub fn token(text: Option<&str>) -> Option<Id> {
    let text = text.filter(|text| text.len() <= TOKEN && *text != "null")?;
    Id::parse(text)
}

/// The object with this member set; `None` removes it. Anything but an object stays unchanged.
pub(super) fn with(object: &str, pointer: &str, value: Option<&str>) -> String {
    rpc::edit(object, pointer, value).unwrap_or_else(|_| object.to_owned())
}

/// The object with this member set, whose name has any characters; `None` removes it.
pub(super) fn with_key(object: &str, key: &str, value: Option<&str>) -> String {
    with(object, &format!("/{}", key.replace('/', "~1")), value)
}

/// The params or result with a value in its `_meta`; `None` removes it. `_meta` must be an object if present. `null`
/// stands for no params.
pub(super) fn with_meta(body: &str, key: &str, value: Option<&str>) -> String {
    let body = if body == "null" { "{}" } else { body };
    let pointer = format!("/_meta/{}", key.replace('/', "~1"));
    match (member(body, "_meta"), value) {
        (None | Some("null"), Some(value)) => {
            let meta = object(&[(key, Some(value))]);
            with(body, "/_meta", Some(&meta))
        }
        _ => with(body, &pointer, value),
    }
}

/// The host's `Implementation` object, with this name.
pub(super) fn software(name: &str) -> String {
    implementation(name, env!("CARGO_PKG_VERSION"))
}

/// MCP's `Implementation` object.
pub(super) fn implementation(name: &str, version: &str) -> String {
    let (name, version) = (quoted(name), quoted(version));
    object(&[("name", Some(&name)), ("version", Some(&version))])
}

/// The error that a request's version is not supported.
pub(super) fn unsupported(version: &str) -> Error {
    let supported = Version::ALL.map(Version::as_str);
    let data = serde_json::json!({"supported": supported, "requested": clipped(version)});
    Error::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(&data)
}

/// Checks the required `_meta` of a request of 2026-07-28.
pub fn stands_alone(params: &str) -> Result<(), Error> {
    let lacks =
        |key: &str, what: &str| invalid(format!("the request lacks {key} in params._meta, {what}"));
    let version = meta(params, key::VERSION).and_then(|text| serde_json::from_str(text).ok());
    let version: String = version.ok_or_else(|| lacks(key::VERSION, "a string"))?;
    if version != Version::Stateless.as_str() {
        return Err(unsupported(&version));
    }
    let has = meta(params, key::CAPABILITIES).is_some_and(is_object);
    let lacking = || lacks(key::CAPABILITIES, "an object");
    has.then_some(()).ok_or_else(lacking)
}

/// The version of a request on a connection. `initialize` sets `negotiated`, the version of the connection. A request
/// that names 2026-07-28 stands alone nevertheless.
pub(super) fn connection_version(
    negotiated: &mut Option<Version>,
    method: &str,
    params: &str,
) -> Result<Version, Error> {
    let invalid_request = |text: String| Error::new(rpc::code::INVALID_REQUEST, text);
    if method == "initialize" {
        if negotiated.is_some() {
            let text = String::from("The connection is initialized already");
            return Err(invalid_request(text));
        }
        let asked = text_member(params, "protocolVersion")
            .ok_or_else(|| invalid("initialize lacks a protocolVersion, a string"))?;
        return Ok(*negotiated.insert(Version::negotiated(&asked)));
    }
    match (*negotiated, meta(params, key::VERSION)) {
        (Some(version), None) => Ok(version),
        // Some clients name the version that they negotiated.
        (Some(version), Some(named)) if named == quoted(version.as_str()) => Ok(version),
        (_, Some(_)) => stands_alone(params).map(|()| Version::Stateless),
        (None, None) if method == "ping" => Ok(Version::V2025November),
        (None, None) => Err(invalid_request(format!(
            "{} comes before `initialize`, and names no {} in params._meta",
            clipped(method),
            key::VERSION
        ))),
    }
}

/// Whether the result of this method says how long it may be cached (MCP 2026-07-28, `CacheableResult`).
pub(super) fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// The lists whose changes a server may report.
pub(super) const LISTS: [Offer; 3] = [Offer::Tools, Offer::Prompts, Offer::Resources];

/// The method of the notification that a list has changed.
pub(super) fn list_changed(list: Offer) -> String {
    format!("notifications/{}/list_changed", list.as_str())
}

/// The lists whose changes a server with these capabilities reports.
pub(super) fn reported_lists(capabilities: &str) -> Offers {
    let reports = |list: &Offer| {
        let pointer = format!("/{}/listChanged", list.as_str());
        rpc::resolve(capabilities, &pointer) == Ok(Some("true"))
    };
    LISTS.into_iter().filter(reports).collect()
}

/// The notification that acknowledges a subscription, with its filter.
pub(super) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The notification that cancels a request on an MCP connection, by the request's id.
pub const CANCELLED: &str = "notifications/cancelled";

/// Sets the subscription id in the result or a notification of a `subscriptions/listen`. Other messages pass unchanged;
/// for them `subscription` is `None`, or they have no such id.
pub(super) fn subscribed(message: Message, subscription: Option<&Id>) -> Message {
    match subscription {
        Some(id)
            if message.kind() != Kind::Error
                && meta(message.body(), key::SUBSCRIPTION).is_some() =>
        {
            let id = Some(id.as_str());
            message.with_body(&with_meta(message.body(), key::SUBSCRIPTION, id))
        }
        _ => message,
    }
}
