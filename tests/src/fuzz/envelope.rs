//! The envelope of lines, and its remains in a cut line.

use acp_chain::rpc::{Error, Id, Kind, Malformed, Message, salvage};
use acp_chain::transport::Outbox;
use bytes::{Buf, Bytes};

use super::json::{self, Part, decoded, is_json, is_object, parts};

/// A line shorter than this is cut at each byte, a longer one at fewer places.
const SHORT: usize = 150;

/// A line is a message if a reader that only counts brackets reads one, and has the same parts; all
/// but the id is forwarded byte for byte. Of a cut line, only its own id is ever found. Each line of
/// the data is tried. Carriage returns between values become spaces.
///
/// # Panics
/// If this does not hold.
pub fn envelope(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n') {
        // Looking for an id is harmless in any line.
        let found = salvage(line, line);
        let text = std::str::from_utf8(line).unwrap_or_default();
        // JSON has carriage returns only between its values.
        let unbroken = text.replace('\r', " ");
        let expected = Reading::of(text).and_then(|_| Reading::of(&unbroken));
        match (Message::parse(Bytes::copy_from_slice(line)), expected) {
            (Ok(message), Some(expected)) => {
                expected.is(&message);
                expected.keeps_its_bytes(&message);
                expected.takes_another_body(&message);
                expected.is_found_in_pieces();
                let id = found.id.as_ref().map(Id::as_str);
                assert_eq!(id, expected.id, "salvaged from the whole line");
            }
            (Err(malformed), None) => is_told(line, &malformed),
            (Ok(message), None) => panic!("taken for a message: {message:?}"),
            (Err(malformed), Some(_)) => panic!("taken for no message: {malformed}"),
        }
    }
}

/// A message, read by counting brackets.
struct Reading<'l> {
    line: &'l str,
    kind: Kind,
    method: Option<&'l str>,
    id: Option<&'l str>,
    /// The params, the result or the error.
    body: Option<&'l str>,
    /// Whether the line also has a method or an outcome of null, which does not apply.
    has_more: bool,
}

impl<'l> Reading<'l> {
    /// The message in a line, if the line is one.
    fn of(line: &'l str) -> Option<Self> {
        if !is_json(line) || !is_object(line) {
            return None;
        }
        let members = parts(line)?;
        let names = ["jsonrpc", "id", "method", "params", "result", "error"];
        let [
            Ok(Some(version)),
            Ok(id),
            Ok(mut method),
            Ok(params),
            Ok(mut result),
            Ok(mut error),
        ] = names.map(|name| only(&members, name))
        else {
            return None;
        };
        if decoded(version)? != "2.0" || id.is_some_and(|id| !is_id(id)) {
            return None;
        }
        // A null beside the valid members counts as absent.
        let given = |field: Option<&'l str>| field.filter(|value| *value != "null");
        let has_outcome = given(result).or(given(error)).is_some();
        let has_null = |fields: &[Option<&str>]| fields.contains(&Some("null"));
        let is_call = given(method).is_some() && !has_outcome;
        let has_more = if is_call {
            result.or(error).is_some()
        } else if has_outcome {
            has_null(&[method, result, error])
        } else {
            result.is_some() && has_null(&[method, error])
        };
        if is_call {
            (result, error) = (None, None);
        } else if has_outcome {
            (method, result, error) = (given(method), given(result), given(error));
        } else if result.is_some() {
            (method, error) = (None, None);
        } else {
            error = None;
        }
        let (kind, body) = match (method, result, error, id) {
            (Some(_), None, None, Some(_)) => (Kind::Request, params),
            (Some(_), None, None, None) => (Kind::Notification, params),
            (None, Some(_), None, Some(_)) => (Kind::Result, result),
            (None, None, Some(_), Some(_)) => (Kind::Error, error),
            _ => return None,
        };
        if method.is_some_and(|method| decoded(method).is_none()) {
            return None;
        }
        Some(Self {
            line,
            kind,
            method,
            id,
            body,
            has_more,
        })
    }

    fn is(&self, message: &Message) {
        let method = self.method.and_then(decoded).unwrap_or_default();
        assert_eq!(message.kind(), self.kind);
        assert_eq!(**message.method(), method);
        assert_eq!(message.id().as_ref().map(Id::as_str), self.id);
        assert_eq!(message.body(), self.body.unwrap_or("null"));
        assert_eq!(message.len(), self.line.len());
        let session = self.body.filter(|body| is_object(body)).and_then(|body| {
            let session = parts(body)?
                .into_iter()
                .rfind(|part| part.is_named("sessionId"))?
                .value;
            // A string that cannot be decoded still identifies a session.
            let text = decoded(session).unwrap_or_else(|| session.to_owned());
            session.starts_with('"').then_some(text)
        });
        assert_eq!(
            message.session().map(|session| &**session),
            session.as_deref()
        );
        if let Some(id) = self.id {
            is_equal_to_its_like(id);
        }
    }

    /// The line of the message with this id, without members that do not apply.
    fn plain(&self, id: Option<&str>) -> String {
        let method = self.method.and_then(decoded);
        let method = method.map(|method| serde_json::Value::from(method).to_string());
        let body = match self.kind {
            Kind::Result => ("result", self.body),
            Kind::Error => ("error", self.body),
            Kind::Request | Kind::Notification => {
                ("params", self.body.filter(|body| *body != "null"))
            }
        };
        let members = [("id", id), ("method", method.as_deref()), body].map(|(name, value)| {
            let member = value.map(|value| format!(",\"{name}\":{value}"));
            member.unwrap_or_default()
        });
        format!("{{\"jsonrpc\":\"2.0\"{}}}\n", members.concat())
    }

    /// Only the id is replaced when the message is forwarded, unless the line has more than the message.
    fn keeps_its_bytes(&self, message: &Message) {
        let line = self.line;
        if self.has_more {
            let new = self.id.map(|_| "\"new\"");
            assert_eq!(written(message, None), self.plain(self.id));
            assert_eq!(written(message, new), self.plain(new));
            return;
        }
        assert_eq!(written(message, None), format!("{line}\n"));
        let expected = self.id.map_or(line.to_owned(), |id| {
            let at = json::start(line, id);
            [&line[..at], "\"new\"", &line[at + id.len()..]].concat()
        });
        assert_eq!(written(message, Some("\"new\"")), expected + "\n");
    }

    /// With another body, the message keeps its kind and method, and is one line.
    fn takes_another_body(&self, message: &Message) {
        let body = format!("[\r\n{}\n]", message.body());
        let line = written(&message.with_body(&body), self.id);
        let [line, ""] = line.split('\n').collect::<Vec<_>>()[..] else {
            panic!("not one line: {line}")
        };
        let read = Reading::of(line).expect("a valid message");
        let kind = match self.kind {
            Kind::Error => Kind::Result,
            kind => kind,
        };
        assert_eq!((read.kind, read.id), (kind, self.id));
        assert_eq!(read.method.and_then(decoded), self.method.and_then(decoded));
        assert_eq!(read.body, Some(&*body.replace(['\r', '\n'], " ")));
    }

    /// However little is left of the line's ends, only its own id is ever found; and it is found if the
    /// rest of the beginning extends beyond it.
    fn is_found_in_pieces(&self) {
        let line = self.line.as_bytes();
        let members = parts(self.line).unwrap_or_default();
        let has = |name: &str| members.iter().any(|part| part.is_named(name));
        let (request, answer) = (
            has("method") || has("params"),
            has("result") || has("error"),
        );
        for kept in (0..=line.len()).step_by(1 + line.len().pow(2) / SHORT.pow(2)) {
            let (head, tail) = (&line[..kept], &line[line.len() - kept..]);
            let found = salvage(head, tail);
            let id = found.id.as_ref().map(Id::as_str);
            assert!(id.is_none() || id == self.id, "{id:?} of {kept} bytes");
            let whole = self
                .id
                .filter(|id| json::start(self.line, id) + id.len() < kept);
            assert!(whole.is_none() || id == whole, "no id of {kept} bytes");
            assert!(!found.request || request, "a request of {kept} bytes");
            assert!(!found.answer || answer, "an answer of {kept} bytes");
        }
    }
}

/// A field occurs twice.
struct DuplicateField;

/// The field of that name, if there is one.
fn only<'l>(members: &[Part<'l>], name: &str) -> Result<Option<&'l str>, DuplicateField> {
    let mut fields = members.iter().filter(|part| part.is_named(name));
    let field = fields.next().map(|part| part.value);
    fields.next().map_or(Ok(field), |_| Err(DuplicateField))
}

fn is_id(value: &str) -> bool {
    value == "null" || value.starts_with(|first| matches!(first, '"' | '-' | '0'..='9'))
}

/// An id equals its spellings with other escapes, and not the literal text of its escapes.
fn is_equal_to_its_like(id: &str) {
    let read = |text: &str| Id::parse(text).expect("a valid id");
    let quoted = |text: &str| read(&serde_json::Value::from(text).to_string());
    if let Some(text) = decoded(id) {
        assert_eq!(read(id), quoted(&text));
    }
    if id.contains('\\') {
        assert_ne!(read(id), quoted(&id[1..id.len() - 1]));
    }
}

fn written(message: &Message, id: Option<&str>) -> String {
    let mut out = Outbox::default();
    message.write(id, &mut out);
    let bytes = out.copy_to_bytes(out.remaining());
    String::from_utf8(bytes.to_vec()).expect("UTF-8 text")
}

/// The error states whether the line was not JSON, or JSON but no message.
fn is_told(line: &[u8], malformed: &Malformed) {
    let json = std::str::from_utf8(line).is_ok_and(is_json);
    let error = malformed.to_error();
    let code = if json { -32600 } else { -32700 };
    assert_eq!(error.code, code, "{error}");
    let text = error.to_json();
    let read: Error = serde_json::from_str(&text).expect("the error is JSON");
    assert_eq!((read.code, read.message), (code, error.message));
}
