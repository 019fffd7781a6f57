//! MCP 2026-07-28, which has no sessions: every POST is a link of its own, which its answer ends, or
//! the end of its connection.
//!
//! Headers repeat what the body says, for those on the way who do not read bodies. They have to agree
//! (`HeaderMismatch`, -32020). `Mcp-Param-…` is the server's to check: only it knows its tools.

use std::borrow::Cow;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::{HeaderMap, StatusCode};

use super::accepts::Accepts;
use super::refusals::{not_admitted, not_opened, server_gone};
use super::reply::{self, Form, done, refuse};
use super::{Answer, MODERN, VERSION, Visit, WITH_SESSIONS, single};
use crate::mcp::ServerId;
use crate::mcp::door::link::{Asked, Role, Shape};
use crate::mcp::door::load::Load;
use crate::rpc::{self, Error, Kind, Message};

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Where a request says its version, as a JSON Pointer.
const SAID_VERSION: &str = "/_meta/io.modelcontextprotocol~1protocolVersion";

const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

/// How long the status of an answer waits for it, since some errors have one of their own. Then a
/// stream begins.
const UNTIL_STREAM: Duration = Duration::from_secs(5);

/// Whether a request that names no session means this version, or one that we do not know.
pub fn is_meant(headers: &HeaderMap, message: &Message) -> bool {
    let named = single(headers, VERSION).ok().flatten();
    match named {
        Some(version) => !WITH_SESSIONS.contains(&version),
        None => said_version(message).is_some(),
    }
}

/// POST: a request, or a notification.
pub async fn ask(
    visit: &Visit,
    server: ServerId,
    headers: &HeaderMap,
    accepts: Accepts,
    message: Message,
    load: Load,
) -> Answer {
    let id = message.id();
    if let Err(mismatch) = check(headers, &message) {
        return Err(reply::error(
            StatusCode::BAD_REQUEST,
            id.as_ref(),
            &mismatch,
        ));
    }
    if message.kind().is_response() {
        let why = "without a session, no request is sent that a client could answer";
        return Err(refuse(StatusCode::BAD_REQUEST, why));
    }
    let hall = &visit.hall;
    let link = hall.admit(server, Shape::Single).map_err(not_admitted)?;
    let role = Role::Answers {
        asked: Asked::of(&message).into_iter().collect(),
        events: accepts.events,
    };
    let opened = hall.open(link, role, &visit.cut);
    let mut place = opened.map_err(|why| not_opened(why, id.as_ref()))?;
    let is_request = message.kind() == Kind::Request;
    let heard = hall.hear(link, message).await;
    drop(load);
    if heard && !is_request {
        return Ok(done(StatusCode::ACCEPTED));
    }
    let first = match accepts.events {
        true => tokio::time::timeout(UNTIL_STREAM, place.lane.next()).await,
        false => Ok(place.lane.next().await),
    };
    match first {
        Err(_) => Ok(reply::stream(place, Form::Events, None)),
        Ok(None) => Err(server_gone()),
        Ok(Some(first)) => {
            let status = reply::status_of(&first.message);
            let form = match accepts.events && status == StatusCode::OK {
                true => Form::Events,
                false => Form::Answer,
            };
            let mut response = reply::stream(place, form, Some(first));
            *response.status_mut() = status;
            Ok(response)
        }
    }
}

/// Whether headers and body agree.
fn check(headers: &HeaderMap, message: &Message) -> Result<(), Error> {
    let mismatch = |why: String| Error::new(HEADER_MISMATCH, why);
    let header = |name| single(headers, name).map_err(mismatch);
    let Some(version) = header(VERSION)? else {
        return Err(mismatch(
            "the header MCP-Protocol-Version is missing".to_owned(),
        ));
    };
    if version != MODERN {
        let mut supported = WITH_SESSIONS.to_vec();
        supported.push(MODERN);
        let data = serde_json::json!({"supported": supported, "requested": version});
        let why = "the header MCP-Protocol-Version names an unknown version";
        return Err(Error::new(UNSUPPORTED_VERSION, why).with_data(&data));
    }
    if message.kind().is_response() {
        return Ok(());
    }
    let agree = |name: &str, given: Option<&str>, said: &str| match given {
        None => Err(mismatch(format!("the header {name} is missing"))),
        Some(given) if given != said => Err(mismatch(format!(
            "the header {name} does not say what the body says"
        ))),
        Some(_) => Ok(()),
    };
    match (said_version(message), message.kind()) {
        (Some(said), _) => agree("MCP-Protocol-Version", Some(version), &said)?,
        (None, Kind::Request) => {
            let why = "the request lacks _meta[\"io.modelcontextprotocol/protocolVersion\"]";
            return Err(Error::new(rpc::code::INVALID_PARAMS, why));
        }
        (None, _) => {}
    }
    let method = header(METHOD)?;
    // Not all clients send it with notifications.
    if message.kind() == Kind::Request || method.is_some() {
        agree("Mcp-Method", method, message.method())?;
    }
    let Some(said) = said_name(message) else {
        return Ok(());
    };
    let name = header(NAME)?.map(|name| {
        decode(name).ok_or_else(|| mismatch("the header Mcp-Name is not Base64".to_owned()))
    });
    agree("Mcp-Name", name.transpose()?.as_deref(), &said)
}

fn said_version(message: &Message) -> Option<String> {
    if message.kind().is_response() {
        return None;
    }
    let said = rpc::resolve(message.body(), SAID_VERSION).ok().flatten()?;
    serde_json::from_str(said).ok()
}

/// What `Mcp-Name` has to repeat.
fn said_name(message: &Message) -> Option<String> {
    let member = match &**message.method() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    serde_json::from_str(rpc::member(message.body(), member)?).ok()
}

/// The text of a header that may be wrapped as `=?base64?…?=`.
fn decode(value: &str) -> Option<Cow<'_, str>> {
    let wrapped = value.strip_prefix("=?base64?");
    match wrapped.and_then(|value| value.strip_suffix("?=")) {
        None => Some(value.into()),
        Some(wrapped) => {
            let bytes = STANDARD.decode(wrapped).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

    fn checked(headers: &[(&'static str, &'static str)], body: &'static str) -> Result<(), i64> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let message = Message::parse(Bytes::from_static(body.as_bytes())).unwrap();
        check(&map, &message).map_err(|error| error.code)
    }

    #[test]
    fn headers_have_to_say_what_the_body_says() {
        let (version, method) = ((VERSION, MODERN), (METHOD, "tools/call"));
        let name = (NAME, "add");
        assert_eq!(checked(&[version, method, name], CALL), Ok(()));
        let wrapped = (NAME, "=?base64?YWRk?=");
        assert_eq!(checked(&[version, method, wrapped], CALL), Ok(()));
        for wrong in [
            &[method, name][..],
            &[version, method],
            &[version, name],
            &[version, (METHOD, "tools/list"), name],
            &[version, method, (NAME, "sub")],
            &[version, method, (NAME, "=?base64?!?=")],
            &[version, method, name, name],
        ] {
            assert_eq!(checked(wrong, CALL), Err(-32020), "{wrong:?}");
        }
        let future = (VERSION, "2031-01-01");
        assert_eq!(checked(&[future, method, name], CALL), Err(-32022));
        let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert_eq!(
            checked(&[version, (METHOD, "tools/list")], bare),
            Err(-32602)
        );
    }
}
