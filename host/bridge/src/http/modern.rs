//! MCP 2026-07-28, which has no sessions: every POST opens a link, which ends with the answer or the connection.
//!
//! Headers repeat parts of the body, for intermediaries that do not read bodies. They must match the body
//! (`HeaderMismatch`, -32020). The server checks `Mcp-Param-…`, as this requires the schemas of its tools.

use std::time::Duration;

use acp_chain_http::answer::bare;
use acp_chain_http::headers::single;
use hyper::header::HeaderName;
use hyper::{HeaderMap, StatusCode};

use super::reply::{self, SOON, answer, refuse, server_closed};
use super::{AnswerResult, ClientRequest, VERSION};
use crate::connections::Load;
use crate::link::LinkKind;
use acp_chain_mcp::param_headers::{PREFIX, ParamHeaders, decode};
use acp_chain_mcp::protocol::{self, Version};
use acp_chain_rpc::{self as rpc, Error, Kind, Message};

static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The JSON Pointer to a request's version.
const SAID_VERSION: &str = "/_meta/io.modelcontextprotocol~1protocolVersion";

/// How long to wait for an answer before a stream begins. Within this time, an error can still determine the status.
const UNTIL_STREAM: Duration = Duration::from_secs(5);

/// Whether a request without a session is of 2026-07-28, or of an unknown version.
pub fn is_meant(headers: &HeaderMap, message: &Message) -> bool {
    let named = single(headers, &VERSION).ok().flatten();
    let is_modern = |named| Version::named(named) == Some(Version::Stateless);
    match (named, said_version(message)) {
        (Some(named), Some(said)) if named != said => true,
        // Older clients may name their preferred version there.
        (Some(named), said) if is_initialize(message) => is_modern(named) || said.is_some(),
        (Some(named), _) => is_modern(named) || Version::named(named).is_none(),
        (None, said) => said.is_some(),
    }
}

impl ClientRequest<'_> {
    /// POST: a request, or a notification.
    pub(super) async fn ask(&self, message: Message, load: Load) -> AnswerResult {
        let id = message.id();
        let checked = check(&self.headers, &message);
        checked.map_err(|wrong| reply::error(StatusCode::BAD_REQUEST, id.as_ref(), &wrong))?;
        if message.kind().is_response() {
            let why = "without a session, the server sends no requests to respond to";
            return Err(refuse(StatusCode::BAD_REQUEST, why));
        }
        if is_initialize(&message) {
            // A server whose connection is shared by several clients must not receive it.
            let error = protocol::no_method(message.method());
            return Err(reply::error(StatusCode::NOT_FOUND, id.as_ref(), &error));
        }
        let within = match &**message.method() {
            // These may take long.
            "tools/call"
            | "prompts/get"
            | "resources/read"
            | "completion/complete"
            | "subscriptions/listen" => SOON,
            _ => UNTIL_STREAM,
        };
        let (link, place) = self.admit(LinkKind::Single, &message)?;
        let (is_request, mirrored) = (message.kind() == Kind::Request, self.mirrored());
        let received = self.visit.registry.receive(link, message, mirrored).await;
        drop(load);
        if received && !is_request {
            return Ok(bare(StatusCode::ACCEPTED));
        }
        let answered = answer(place, self.accepts, within, reply::status_of).await;
        answered.map_err(|_| server_closed(id.as_ref()))
    }

    /// The headers that repeat arguments of tools.
    fn mirrored(&self) -> ParamHeaders {
        let mut mirrored = ParamHeaders::default();
        for (name, value) in &self.headers {
            if let Some(name) = name.as_str().strip_prefix(PREFIX) {
                mirrored.add(name, value.to_str().ok());
            }
        }
        mirrored
    }
}

/// Checks that the required headers are present, and match the body.
fn check(headers: &HeaderMap, message: &Message) -> Result<(), Error> {
    let header = |name| single(headers, name).map_err(|wrong| mismatch(wrong.to_string()));
    let version = header(&VERSION)?;
    let said = said_version(message);
    agree("MCP-Protocol-Version", version, said.as_deref().or(version))?;
    if message.kind().is_response() {
        return Ok(());
    }
    if message.kind() == Kind::Request {
        match protocol::stands_alone(message.body()) {
            // The server's error names the versions that it supports.
            Err(error) if error.code == protocol::code::UNSUPPORTED_VERSION => return Ok(()),
            other => other?,
        }
    }
    let method = header(&METHOD)?;
    // Some clients omit it with notifications.
    if message.kind() == Kind::Request || method.is_some() {
        agree("Mcp-Method", method, Some(message.method()))?;
    }
    let Some(said) = said_name(message) else {
        return Ok(());
    };
    let name = header(&NAME)?.map(|name| {
        decode(name).ok_or_else(|| mismatch("the header Mcp-Name is not Base64".to_owned()))
    });
    agree("Mcp-Name", name.transpose()?.as_deref(), Some(&said))
}

fn mismatch(why: String) -> Error {
    Error::new(protocol::code::HEADER_MISMATCH, why)
}

/// Checks that a header is present, and matches the body.
fn agree(name: &str, given: Option<&str>, said: Option<&str>) -> Result<(), Error> {
    match given {
        None => Err(mismatch(format!("the header {name} is missing"))),
        Some(_) if given == said => Ok(()),
        Some(_) => Err(mismatch(format!(
            "the header {name} does not match the body"
        ))),
    }
}

/// Whether a message is `initialize`, the first of a session.
pub fn is_initialize(message: &Message) -> bool {
    message.kind() == Kind::Request && &**message.method() == "initialize"
}

fn said_version(message: &Message) -> Option<String> {
    if message.kind().is_response() {
        return None;
    }
    rpc::value_at(message.body(), SAID_VERSION)
}

/// The value that `Mcp-Name` must repeat.
fn said_name(message: &Message) -> Option<String> {
    let member = match &**message.method() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    rpc::text_member(message.body(), member)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    fn checked(
        headers: &[(&'static HeaderName, &'static str)],
        body: &'static str,
    ) -> Result<(), i64> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let message = Message::parse(Bytes::from_static(body.as_bytes())).unwrap();
        check(&map, &message).map_err(|error| error.code)
    }

    #[test]
    fn headers_must_match_the_body() {
        let (version, method) = (
            (&VERSION, Version::Stateless.as_str()),
            (&METHOD, "tools/call"),
        );
        let name = (&NAME, "add");
        assert_eq!(checked(&[version, method, name], CALL), Ok(()));
        let wrapped = (&NAME, "=?base64?YWRk?=");
        assert_eq!(checked(&[version, method, wrapped], CALL), Ok(()));
        for wrong in [
            &[method, name][..],
            &[version, method],
            &[version, name],
            &[version, (&METHOD, "tools/list"), name],
            &[version, method, (&NAME, "sub")],
            &[version, method, (&NAME, "=?base64?!?=")],
            &[version, method, name, name],
        ] {
            assert_eq!(checked(wrong, CALL), Err(-32020), "{wrong:?}");
        }
        for other in ["2031-01-01", "2025-11-25"] {
            assert_eq!(
                checked(&[(&VERSION, other), method, name], CALL),
                Err(-32020)
            );
        }
        let future = (&VERSION, "2031-01-01");
        let later = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}"#;
        assert_eq!(checked(&[future], later), Ok(()), "the server's to say");
        let list = (&METHOD, "tools/list");
        for lacking in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        ] {
            assert_eq!(checked(&[version, list], lacking), Err(-32602), "{lacking}");
        }
    }
}
