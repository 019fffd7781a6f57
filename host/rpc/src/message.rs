//! A message: its line, and where the envelope's fields are in the line.
//!
//! A message always holds a whole line of valid JSON, without a line feed or a carriage return: some readers end a line
//! at either, and would find a second message in the first. Otherwise an unchanged message is written with
//! exactly the bytes that were received; only the id is replaced, since every hop has its own ids.

use std::borrow::Cow;

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use acp_chain_acp::UPDATES;
use acp_chain_powers::Kind;
use bytes::Bytes;
use bytestring::ByteString;

use super::envelope::{Malformed, explain};
use super::one_line::one_line;
use super::outline::{Field, Outline, UPDATE};
use super::pointer::{decoded, member, spells, walk};
use super::session::{named_by, session, sessions};
use super::{Error, Id};
use crate::transport::Outbox;

/// Where the body of a `session/update` has its kind.
pub const UPDATE_KIND: &str = "/update/sessionUpdate";

/// The tokens of [`UPDATE_KIND`].
static UPDATE_TOKENS: LazyLock<[String; 2]> = LazyLock::new(|| UPDATE.map(String::from));

fn body_field(kind: Kind) -> &'static str {
    match kind {
        Kind::Request | Kind::Notification => "params",
        Kind::Result => "result",
        Kind::Error => "error",
    }
}

/// A JSON-RPC message. It is as small as a pointer, and cloning it shares everything.
#[derive(Clone, Debug)]
pub struct Message(Arc<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    line: ByteString,
    kind: Kind,
    method: Arc<str>,
    id: Option<Range<usize>>,
    body: Option<Range<usize>>,
    session: OnceLock<Option<Arc<str>>>,
    /// Where the text at [`UPDATE_KIND`] is in the line, if it was found with the envelope.
    update_kind: Option<Range<usize>>,
    /// What that text says, if it is one of [`UPDATES`].
    update: OnceLock<Option<&'static str>>,
    /// Whether the line has a field that some parsers take for another.
    is_ambiguous: bool,
    /// Whether the message has another envelope than its line, so that the envelope must be composed when it is
    /// written.
    has_other_envelope: bool,
}

impl Message {
    /// The cost of keeping the message, in bytes: its line, the copy of its method, and its fields.
    pub fn cost(&self) -> usize {
        self.len() + self.0.method.len() + size_of::<Parts>()
    }

    /// Reads the envelope of a text. Line breaks between its values become spaces.
    pub fn parse(line: Bytes) -> Result<Self, Malformed> {
        let line = ByteString::try_from(line)?;
        match Outline::of(&line) {
            Ok(outline) => Self::outlined(line, outline),
            Err(flaw) => Err(explain(&line, flaw)),
        }
    }

    /// The message of a line with this outline.
    pub(super) fn outlined(line: ByteString, outline: Outline) -> Result<Self, Malformed> {
        let invalid = |reason: &str| Malformed::Invalid(reason.to_owned());
        let is_ambiguous = outline.is_ambiguous;
        let line = if outline.is_broken {
            ByteString::try_from(one_line(line.into_bytes()))?
        } else {
            line
        };
        let [version, id, mut method, params, mut result, mut error] = outline.fields;
        let text = |field: &Field| line.get(field.value.clone()).unwrap_or_default();
        let is_version = |text: &str| text.starts_with('"') && spells(text, "2.0");
        if !version.as_ref().map(text).is_some_and(is_version) {
            return Err(invalid(r#"the message lacks "jsonrpc": "2.0""#));
        }
        if id.as_ref().map(text).is_some_and(|id| !Id::is_one(id)) {
            return Err(invalid("an id is a number, a string or null"));
        }
        // Some software writes all fields and gives null to those that do not apply.
        let is_given =
            |field: &Option<Field>| field.as_ref().map(text).is_some_and(|text| text != "null");
        let mut has_other_envelope = false;
        match (is_given(&result), is_given(&error)) {
            // Passed on with these members, a reader could take it for a response.
            (false, false) if is_given(&method) => {
                let outcomes = [result.take(), error.take()];
                has_other_envelope = outcomes.iter().any(Option::is_some);
            }
            // Only a result can be null.
            (false, false) if result.is_some() => {
                let others = [method.take(), error.take()];
                has_other_envelope = others.iter().any(Option::is_some);
            }
            // Without a result, an error of null is none either.
            (false, false) => error = None,
            // Some readers take any response with a result for a success, and any message with a method for a request.
            (has_result, has_error) => {
                let others = [
                    method.take_if(|method| text(method) == "null"),
                    result.take_if(|_| !has_result),
                    error.take_if(|_| !has_error),
                ];
                has_other_envelope = others.iter().any(Option::is_some);
            }
        }
        let (kind, body) = match (&method, &id, result, error) {
            (Some(_), Some(_), None, None) => (Kind::Request, params),
            (Some(_), None, None, None) => (Kind::Notification, params),
            (None, Some(_), Some(result), None) => (Kind::Result, Some(result)),
            (None, Some(_), None, Some(error)) => (Kind::Error, Some(error)),
            (Some(_), ..) => return Err(invalid("a message has a method or an outcome, not both")),
            (None, None, ..) => return Err(invalid("the message has neither a method nor an id")),
            (None, Some(_), Some(_), Some(_)) => {
                return Err(invalid("a response has a result or an error, not both"));
            }
            (None, Some(_), None, None) => {
                return Err(invalid("the message has no method, result or error"));
            }
        };
        let method: Arc<str> = match method.as_ref().map(text) {
            None => Arc::from(""),
            Some(method) => match decoded(method).filter(|_| method.starts_with('"')) {
                Some(method) => method.into(),
                None => return Err(invalid("the method is not a string")),
            },
        };
        let update_kind = outline.update.filter(|_| kind == Kind::Notification);
        let (body, session) = body.map_or((None, None), |body| (Some(body.value), body.session));
        let session = session
            .and_then(|session| line.get(session))
            .and_then(named_by);
        Ok(Self::of(Parts {
            id: id.map(|id| id.value),
            line,
            kind,
            method,
            body,
            session: session.into(),
            update_kind,
            update: OnceLock::new(),
            is_ambiguous,
            has_other_envelope,
        }))
    }

    fn of(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// The message wrapped as `{method, params?}` in the params of this one, if any, with the same kind and id.
    pub fn carried(&self) -> Option<Self> {
        if self.0.kind.is_response() {
            return None;
        }
        let method = member(self.body(), "method")?;
        let method = serde_json::from_str::<Cow<str>>(method).ok()?;
        let params = member(self.body(), "params").filter(|params| *params != "null");
        let span = |text: &str| {
            let start = text.as_ptr().addr() - self.0.line.as_ptr().addr();
            start..start + text.len()
        };
        Some(Self::of(Parts {
            line: self.0.line.clone(),
            kind: self.0.kind,
            method: method.into(),
            id: self.0.id.clone(),
            body: params.map(span),
            session: OnceLock::new(),
            update_kind: None,
            update: OnceLock::new(),
            is_ambiguous: false,
            has_other_envelope: true,
        }))
    }

    /// This request or notification, with another method.
    #[must_use]
    pub fn with_method(&self, method: &str) -> Self {
        Self::of(Parts {
            method: method.into(),
            has_other_envelope: true,
            ..(*self.0).clone()
        })
    }

    /// A new request. `params` is JSON text; `null` stands for none.
    pub fn request(method: &str, params: &str) -> Self {
        Self::compose(Kind::Request, Arc::from(method), params)
    }

    /// A new notification. `params` is JSON text; `null` stands for none.
    pub fn notification(method: &str, params: &str) -> Self {
        Self::compose(Kind::Notification, Arc::from(method), params)
    }

    /// A new successful response. `result` is JSON text.
    pub fn result(result: &str) -> Self {
        Self::compose(Kind::Result, Arc::from(""), result)
    }

    /// A new error response.
    pub fn error(error: &Error) -> Self {
        Self::compose(Kind::Error, Arc::from(""), &error.to_json())
    }

    /// This message with another body. An error response turns into a result.
    #[must_use]
    pub fn with_body(&self, body: &str) -> Self {
        let kind = match self.0.kind {
            Kind::Error => Kind::Result,
            kind => kind,
        };
        Self::compose(kind, self.0.method.clone(), body)
    }

    /// This message with only a part of its body.
    #[must_use]
    pub fn with_part(&self, part: &str) -> Self {
        Self::compose(self.0.kind, self.0.method.clone(), part)
    }

    /// A new message. `body` must be valid JSON text, in which line breaks are only white space.
    fn compose(kind: Kind, method: Arc<str>, body: &str) -> Self {
        let mut line = String::with_capacity(body.len() + method.len() + 64);
        line.push_str(r#"{"jsonrpc":"2.0""#);
        let mut id = None;
        if kind != Kind::Notification {
            line.push_str(r#","id":"#);
            id = Some(line.len()..line.len() + 4);
            line.push_str("null");
        }
        if !kind.is_response() {
            line.push_str(r#","method":"#);
            // A string always serializes.
            line.push_str(&serde_json::to_string(&*method).unwrap_or_default());
        }
        let mut span = None;
        if kind.is_response() || body != "null" {
            line.push_str(",\"");
            line.push_str(body_field(kind));
            line.push_str("\":");
            let start = line.len();
            if memchr::memchr2(b'\n', b'\r', body.as_bytes()).is_some() {
                line.push_str(&body.replace(['\n', '\r'], " "));
            } else {
                line.push_str(body);
            }
            span = Some(start..line.len());
        }
        line.push('}');
        Self::of(Parts {
            line: line.into(),
            kind,
            method,
            id,
            body: span,
            session: OnceLock::new(),
            update_kind: None,
            update: OnceLock::new(),
            is_ambiguous: false,
            has_other_envelope: false,
        })
    }

    /// The kind of the message.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The method; empty for a response.
    pub fn method(&self) -> &Arc<str> {
        &self.0.method
    }

    /// The id; `None` for a notification.
    pub fn id(&self) -> Option<Id> {
        self.0
            .id
            .clone()
            .and_then(|span| Id::parse(self.text(span)))
    }

    /// The JSON text of `params`, `result` or `error`; `null` if there are no `params`.
    pub fn body(&self) -> &str {
        self.0.body.clone().map_or("null", |span| self.text(span))
    }

    /// The `sessionId` in the body, read at the first call.
    pub fn session(&self) -> Option<&Arc<str>> {
        self.0.session.get_or_init(|| session(self.body())).as_ref()
    }

    /// Whether this is an error response with this code.
    pub fn is_error(&self, code: i64) -> bool {
        let own_code = || member(self.body(), "code")?.parse().ok();
        self.kind() == Kind::Error && own_code() == Some(code)
    }

    /// All sessions that some reader may find in the body: names may occur twice, and in another case.
    pub fn sessions(&self) -> Vec<Arc<str>> {
        sessions(self.body())
    }

    /// The kind of a `session/update`, if it is one of [`UPDATES`], read at the first call.
    pub fn update(&self) -> Option<&'static str> {
        *self.0.update.get_or_init(|| {
            let kind = decoded(self.update_text()?)?;
            UPDATES.iter().copied().find(|known| *known == kind)
        })
    }

    /// The JSON text at [`UPDATE_KIND`] in the body. Found with the envelope, or else at each call.
    pub fn update_text(&self) -> Option<&str> {
        match self.0.update_kind.clone() {
            Some(place) => Some(self.text(place)),
            None => walk(self.body(), UPDATE_TOKENS.as_slice()),
        }
    }

    /// Whether an answer to a prompt states that the turn has ended: an error, or a result with a stop reason.
    pub fn says_end(&self) -> bool {
        self.kind() == Kind::Error
            || member(self.body(), "stopReason").is_some_and(|reason| reason != "null")
    }

    /// Whether this is an update by which the agent ends its work in a session (v2, Prompt Lifecycle: `idle`).
    pub fn is_idle(&self) -> bool {
        self.update() == Some("state_update")
            && member(self.body(), "update").and_then(|update| member(update, "state"))
                == Some(r#""idle""#)
    }

    /// Whether the line has a field that parsers that ignore case take for one of JSON-RPC's.
    pub fn is_ambiguous(&self) -> bool {
        self.0.is_ambiguous
    }

    /// The line in which the message was received, or that was composed for it.
    pub fn line(&self) -> &str {
        &self.0.line
    }

    /// The bytes of the line, which are shared.
    pub fn into_line(self) -> Bytes {
        self.0.line.as_bytes().clone()
    }

    /// The length of the line, in bytes.
    pub fn len(&self) -> usize {
        self.0.line.len()
    }

    /// Whether the line is empty, which is never so.
    pub fn is_empty(&self) -> bool {
        self.0.line.is_empty()
    }

    /// Writes the message as a line, with `id` instead of its own.
    pub fn write(&self, id: Option<&str>, out: &mut Outbox) {
        self.write_text(id, out);
        out.push_str("\n");
    }

    /// Writes the message without a line end, for use in a batch.
    pub fn write_text(&self, id: Option<&str>, out: &mut Outbox) {
        if self.0.has_other_envelope {
            let own = self.0.id.clone().map(|span| self.text(span));
            out.push_str(r#"{"jsonrpc":"2.0""#);
            push_id(id.or(own), out);
            out.push_str(",");
            let outcome = self.0.body.clone();
            match outcome.filter(|_| self.0.kind.is_response()) {
                Some(outcome) => self.write_body(outcome, out),
                None => self.write_call(out),
            }
            return out.push_str("}");
        }
        match (&self.0.id, id) {
            (Some(span), Some(id)) => {
                out.push(&self.0.line.as_bytes().slice(..span.start));
                out.push_str(id);
                out.push(&self.0.line.as_bytes().slice(span.end..));
            }
            _ => out.push(self.0.line.as_bytes()),
        }
    }

    /// Writes a line with a message that wraps this request or notification in its params: `{method, params?}`. Without
    /// an id, the outer message is a notification.
    pub fn write_within(&self, outer: &str, id: Option<&str>, out: &mut Outbox) {
        out.push_str(r#"{"jsonrpc":"2.0""#);
        push_id(id, out);
        out.push_str(r#","method":"#);
        push_quoted(outer, out);
        out.push_str(r#","params":{"#);
        self.write_call(out);
        out.push_str("}}\n");
    }

    /// Writes the members `method` and `params`.
    fn write_call(&self, out: &mut Outbox) {
        out.push_str(r#""method":"#);
        push_quoted(&self.0.method, out);
        if let Some(span) = self.0.body.clone().filter(|_| self.body() != "null") {
            out.push_str(",");
            self.write_body(span, out);
        }
    }

    /// Writes the member with the body, which is at this place in the line.
    fn write_body(&self, span: Range<usize>, out: &mut Outbox) {
        out.push_str("\"");
        out.push_str(body_field(self.0.kind));
        out.push_str("\":");
        // A small part must not keep the whole line alive.
        if span.len() < self.len() / 2 {
            out.push(&Bytes::copy_from_slice(self.body().as_bytes()));
        } else {
            out.push(&self.0.line.as_bytes().slice(span));
        }
    }

    fn text(&self, span: Range<usize>) -> &str {
        // Spans begin and end at values of the line.
        self.0.line.get(span).unwrap_or_default()
    }
}

/// Two messages are equal if they are clones of one.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Message {}

fn push_id(id: Option<&str>, out: &mut Outbox) {
    if let Some(id) = id {
        out.push_str(r#","id":"#);
        out.push_str(id);
    }
}

fn push_quoted(text: &str, out: &mut Outbox) {
    // A string always serializes.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Message, Malformed> {
        Message::parse(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn written(message: &Message, id: Option<&str>) -> String {
        let mut out = Outbox::default();
        message.write(id, &mut out);
        out.into_text()
    }

    #[test]
    fn the_kind_of_an_update_is_found_as_by_its_pointer() {
        for (params, known) in [
            (r#"{"update":{"sessionUpdate":"plan"}}"#, Some("plan")),
            (r#"{"update":{"sessionUpdate":"pl\u0061n"}}"#, Some("plan")),
            (
                r#"{"update":{"sessionUpdate":"tool_call"},"update":{"sessionUpdate":"plan"}}"#,
                Some("plan"),
            ),
            (r#"{"update":{"sessionUpdate":"_of_tomorrow"}}"#, None),
            (r#"{"update":{"sessionUpdate":7}}"#, None),
            (r#"{"update":{"sessionUpdate":"plan"},"update":7}"#, None),
            (r#"{"update":{}}"#, None),
            ("null", None),
        ] {
            let line =
                format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
            let made = Message::notification("session/update", params);
            for message in [parse(&line).unwrap(), made] {
                assert_eq!(message.update(), known, "{params}");
                let found = crate::resolve(message.body(), UPDATE_KIND).unwrap();
                assert_eq!(message.update_text(), found, "{params}");
                let renamed = message.with_method("other");
                assert_eq!(renamed.update_text(), found, "{params}");
            }
        }
    }

    #[test]
    fn only_the_id_changes_on_the_way() {
        let text =
            r#" { "result" : {"n": 1e400, "s":"\u00e9\/"}, "x": -0.0, "id" : 0 ,"jsonrpc":"2.0"}"#;
        let message = parse(text).unwrap();
        assert_eq!(message.kind(), Kind::Result);
        assert_eq!(message.body(), r#"{"n": 1e400, "s":"\u00e9\/"}"#);
        assert_eq!(
            written(&message, Some("\"u\"")),
            text.replace(": 0 ,", ": \"u\" ,") + "\n"
        );
    }

    #[test]
    fn a_null_id_is_an_id_and_no_id_is_none() {
        assert_eq!(
            parse(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#)
                .unwrap()
                .kind(),
            Kind::Request
        );
        let notification = parse(r#"{"jsonrpc":"2.0","method":"m"}"#).unwrap();
        assert_eq!(notification.kind(), Kind::Notification);
        assert_eq!(notification.body(), "null");
    }

    #[test]
    fn a_null_beside_what_applies_is_as_good_as_absent() {
        let kind = |text: &str| parse(text).unwrap().kind();
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#),
            Kind::Result
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{},"method":null}"#),
            Kind::Error
        );
        for null in [
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null,"method":null,"params":null}"#,
        ] {
            assert_eq!(kind(null), Kind::Result, "{null}");
        }
        for (text, plain) in [
            (
                r#"{"jsonrpc":"2.0","id":"\u0061","method":"m","params":{"n": 1e400},"result":null,"error":null}"#,
                r#"{"jsonrpc":"2.0","id":"\u0061","method":"m","params":{"n": 1e400}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","error":null,"method":"m","params":null}"#,
                r#"{"jsonrpc":"2.0","method":"m"}"#,
            ),
            (
                r#"{"id":"a","result":null,"error":{"code":1,"message":"m"},"jsonrpc":"2.0"}"#,
                r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":{"n": 1e400},"error":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"n": 1e400}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            ),
            // Nothing beside what applies: the line as it is.
            (
                r#"{"id":1, "result":null, "jsonrpc":"2.0"}"#,
                r#"{"id":1, "result":null, "jsonrpc":"2.0"}"#,
            ),
        ] {
            assert_eq!(
                written(&parse(text).unwrap(), None),
                plain.to_owned() + "\n"
            );
        }
        assert!(parse(r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#).is_err());
        assert!(parse(r#"{"jsonrpc":"2.0","id":1,"error":null}"#).is_err());
    }

    #[test]
    fn the_session_is_found_in_the_body_only() {
        let message = parse(
            r#"{"jsonrpc":"2.0","method":"m","params":{"a":{"sessionId":"no"},"sessionId":"\u0041"}}"#,
        );
        assert_eq!(message.unwrap().session().map(|s| &**s), Some("A"));
        let odd = parse(
            r#"{"\ud800":0,"jsonrpc":"2.0","method":"m","params":{"\ud800":0,"\u0073essionId":"A"}}"#,
        );
        assert_eq!(odd.unwrap().session().map(|s| &**s), Some("A"));
        for none in [r#"{"sessionId":7}"#, "[1]", "{}", r#"{"sessionId":null}"#] {
            let message = parse(&format!(
                r#"{{"jsonrpc":"2.0","sessionId":"no","method":"m","params":{none}}}"#
            ));
            assert_eq!(message.unwrap().session(), None, "{none}");
        }
    }

    #[test]
    fn malformed_texts_have_their_codes() {
        let code = |text: &str| parse(text).unwrap_err().to_error().code;
        assert_eq!(code("hello"), -32700);
        assert_eq!(code(r#"{"jsonrpc":"2.0","method":"m""#), -32700);
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","method":"m","params":{]}}"#),
            -32700
        );
        assert_eq!(code("[]"), -32600);
        assert_eq!(code("7"), -32600);
        assert_eq!(code("1e400"), -32600);
        assert_eq!(code(r#""\ud800""#), -32600);
        assert_eq!(code(r#"{"id":1,"method":"m"}"#), -32600);
        assert_eq!(code(r#"{"jsonrpc":12.03,"method":"m"}"#), -32600);
        assert!(parse(r#"{"jsonrpc":"2\u002e0","method":"m"}"#).is_ok());
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#), -32600);
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#),
            -32600
        );
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","method":"m","method":"n"}"#),
            -32600
        );
        assert_eq!(code(r#"{"jsonrpc":"2.0","method":7}"#), -32600);
        assert!(matches!(
            Message::parse(Bytes::from_static(b"{\"\xff\":1}")),
            Err(Malformed::NotUtf8(_))
        ));
    }

    #[test]
    fn a_message_within_another_keeps_the_bytes_of_its_params() {
        let within = |text: &str, id| {
            let mut out = Outbox::default();
            parse(text).unwrap().write_within("outer", id, &mut out);
            out.into_text()
        };
        assert_eq!(
            within(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a" : 1e400}}"#, Some("9")),
            r#"{"jsonrpc":"2.0","id":9,"method":"outer","params":{"method":"m","params":{"a" : 1e400}}}"#
                .to_owned()
                + "\n"
        );
        assert_eq!(
            within(r#"{"jsonrpc":"2.0","method":"m","params":null}"#, None),
            r#"{"jsonrpc":"2.0","method":"outer","params":{"method":"m"}}"#.to_owned() + "\n"
        );
    }

    #[test]
    fn a_carried_message_keeps_the_id_and_the_bytes_of_its_params() {
        let carried = |text: &str| parse(text).unwrap().carried();
        for (text, inner) in [
            (
                r#"{"jsonrpc":"2.0","id":"\u0061","method":"o","params":{"_meta":{},"params":{"n" : 1e400},"method":"\u006d"},"x":1}"#,
                r#"{"jsonrpc":"2.0","id":"\u0061","method":"m","params":{"n" : 1e400}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"o","params":{"method":"m","params":null}}"#,
                r#"{"jsonrpc":"2.0","method":"m"}"#,
            ),
        ] {
            let message = carried(text).unwrap();
            assert_eq!(written(&message, None), inner.to_owned() + "\n");
        }
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"o","params":{"method":"m"}}"#;
        assert_eq!(
            written(&carried(request).unwrap(), Some("9")),
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"m\"}\n"
        );
        for none in [
            r#"{"jsonrpc":"2.0","method":"o"}"#,
            r#"{"jsonrpc":"2.0","method":"o","params":{"method":7}}"#,
            r#"{"jsonrpc":"2.0","method":"o","params":["method","m"]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"method":"m"}}"#,
        ] {
            assert!(carried(none).is_none(), "{none}");
        }
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{deep}}}"#);
        assert_eq!(parse(&text).unwrap().body(), deep);
        assert_eq!(parse(&text).unwrap().session(), None);
    }

    #[test]
    fn line_breaks_between_values_become_spaces() {
        let message = parse(
            "{\r\"jsonrpc\":\n\"2.0\",\"id\":\r7,\"method\":\"m\",\"params\":{\r\"a\":\"\\r\"}\r\n}\r",
        );
        let message = message.unwrap();
        assert_eq!(
            message.line(),
            r#"{ "jsonrpc": "2.0","id": 7,"method":"m","params":{ "a":"\r"}  } "#
        );
        assert_eq!(message.body(), r#"{ "a":"\r"}"#);
    }

    #[test]
    fn a_new_body_stays_on_one_line() {
        let message = parse(r#"{"jsonrpc":"2.0","id":4,"method":"a\u0062","params":{}}"#).unwrap();
        let message = message.with_body("{\n  \"x\": \"\\n\"\r\n}");
        assert_eq!(
            written(&message, Some("9")),
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ab\",\"params\":{   \"x\": \"\\n\"  }}\n"
        );
    }
}
