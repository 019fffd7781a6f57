//! Reads the messages of lines; for a malformed line, determines which side must get an error.

use acp_chain_powers::Peer;
use acp_chain_secrets::masked;
use bytes::Bytes;

use super::batch::members;
use super::salvage::{PartialMessage, salvage};
use super::{Error, Id, Kind, Malformed, Message, code, member, set};
use crate::transport::Frame;
use crate::transport::lenient::{completed, decoded, escaped};
use crate::untrusted::quote;

/// A malformed line, with what is known about it.
#[derive(Debug)]
pub struct MalformedLine {
    /// The error for the sender.
    pub error: Error,
    /// The texts of its messages, if the line is a batch.
    pub batch: Option<Box<[Bytes]>>,
    found: PartialMessage,
    /// Whether the text was not JSON at all.
    garbled: bool,
    /// The beginning of the line, and its length in bytes, for the log.
    beginning: Box<str>,
    len: u64,
}

/// How much of the beginning of a line the log and the user get, in bytes.
const EXCERPT: usize = 80;

/// How much of the beginning of a line is searched for secrets, in bytes: more, so that the end of the excerpt cuts
/// none.
const SEARCHED: usize = 1024;

impl MalformedLine {
    /// The text for the log. `sender` names the sender.
    pub fn report(&self, sender: &str) -> String {
        let Self {
            error,
            beginning,
            len,
            ..
        } = self;
        format!("a line of the {sender} is lost: {error}; its {len} bytes begin with `{beginning}`")
    }

    /// The beginning of the line, without the secrets that are found in it.
    pub fn beginning(&self) -> &str {
        &self.beginning
    }

    /// The id of the request that this line may answer.
    pub fn answers(&self) -> Option<&Id> {
        let may_answer = self.found.answer || !self.found.request;
        self.found.id.as_ref().filter(|_| may_answer)
    }

    /// The id under which the sender gets an error; `None` if it gets none. A client always gets one: under the id null
    /// if the line is not JSON (JSON-RPC 2.0 §5) or is an answer, whose id may be that of one of the client's own
    /// requests. An agent gets one only if it may wait for an answer.
    pub fn id_for_sender(&self, sender: Peer) -> Option<Id> {
        let own = self.found.id.clone().filter(|_| self.found.request);
        match sender {
            Peer::Client => Some(own.filter(|_| !self.garbled).unwrap_or_else(Id::null)),
            Peer::Agent => own,
        }
    }
}

/// Reads the message of a frame.
///
/// # Errors
/// If the frame is not a message.
pub fn read(frame: Frame) -> Result<Message, MalformedLine> {
    match frame {
        Frame::Message(message) => Ok(with_whole_error(message)),
        Frame::Line(line) | Frame::Torn(line) => {
            let line = unmarked(line);
            let malformed = match Message::parse(line.clone()) {
                Ok(message) => return Ok(with_whole_error(message)),
                Err(malformed) => malformed,
            };
            let repaired = match malformed {
                Malformed::NotUtf8(_) => decoded(&line),
                Malformed::NotJson(_) => escaped(&line),
                _ => completed(&line),
            };
            if let Some(message) = repaired {
                return Ok(with_whole_error(message));
            }
            Err(MalformedLine {
                error: malformed.to_error(),
                found: salvage(&line, &line),
                garbled: malformed.is_garbled(),
                beginning: excerpt(&line).into(),
                len: line.len() as u64,
                batch: match malformed {
                    Malformed::Batch => members(&line).map(Vec::into_boxed_slice),
                    _ => None,
                },
            })
        }
        Frame::TooLong {
            head,
            tail,
            len,
            limit,
        } => {
            let text = format!("a message of {len} bytes is over the limit of {limit} bytes");
            Err(MalformedLine {
                error: Error::new(code::INVALID_REQUEST, text),
                found: salvage(&unmarked(head.clone()), &tail),
                garbled: false,
                beginning: excerpt(&head).into(),
                len,
                batch: None,
            })
        }
    }
}

/// The message. If it is an error, that is an object with a number and a text (JSON-RPC 2.0 §5.1): some clients read an
/// answer with another one as no answer at all, and wait for ever.
#[inline]
fn with_whole_error(message: Message) -> Message {
    if message.kind() != Kind::Error {
        return message;
    }
    completed_error(&message).unwrap_or(message)
}

/// The message of an error that lacks its number or its text, which has the error as its `data` then.
#[cold]
fn completed_error(message: &Message) -> Option<Message> {
    let error = message.body();
    let is_number = |text: &&str| text.starts_with(|first: char| "-0123456789".contains(first));
    let is_text = |text: &&str| text.starts_with('"');
    let number = member(error, "code").filter(is_number);
    let text = member(error, "message").filter(is_text);
    if number.is_some() && text.is_some() {
        return None;
    }
    let number = number.map_or(code::INTERNAL_ERROR.to_string(), str::to_owned);
    // Some software sends only a text.
    let whole = match Some(error).filter(is_text) {
        Some(text) => format!(r#"{{"code":{number},"message":{text}}}"#),
        None => {
            let text =
                text.unwrap_or(r#""acp-chain: the error has no message; what it has is its data""#);
            format!(r#"{{"code":{number},"message":{text},"data":{error}}}"#)
        }
    };
    let line = set(message.line(), "/error", &whole).ok()?;
    Message::parse(line.into()).ok()
}

/// The line without a byte order mark, which some software on Windows adds (RFC 8259 §8.1).
fn unmarked(line: Bytes) -> Bytes {
    let length = if line.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    line.slice(length..)
}

/// The beginning of a text from outside, for the log and for users, without the secrets that the default rules of
/// `redact` find.
pub fn excerpt(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(&head[..head.len().min(SEARCHED)]);
    let shown = masked(&head);
    let beginning = &shown[..shown.floor_char_boundary(EXCERPT)];
    quote(beginning, EXCERPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(line: &str) -> String {
        let frame = Frame::Line(Bytes::copy_from_slice(line.as_bytes()));
        read(frame).expect_err("malformed").report("agent")
    }

    #[test]
    fn the_beginning_of_a_line_is_reported() {
        let reported = report("Welcome to the agent");
        assert!(
            reported.ends_with("; its 20 bytes begin with `Welcome to the agent`"),
            "{reported}"
        );
        let reported = report(&"\u{e4}".repeat(1000));
        assert!(
            reported.ends_with(&format!("begin with `{}`", "\u{e4}".repeat(EXCERPT / 2))),
            "{reported}"
        );
    }

    #[test]
    fn an_error_has_a_number_and_a_text() {
        let error = |error: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","error":{error},"id":1}}"#);
            let message = read(Frame::Line(line.into())).unwrap();
            assert_eq!(message.id(), Some(Id::from(1)));
            message.body().to_owned()
        };
        for whole in [
            r#"{"code":1,"message":""}"#,
            r#"{"message": "a","data":null,"code":-32000.0}"#,
            r#"{"\u0063ode":1e400,"message":"\ud800"}"#,
        ] {
            assert_eq!(error(whole), whole);
        }
        let none = r#""acp-chain: the error has no message; what it has is its data""#;
        for (given, completed) in [
            (r#""busy""#, r#"{"code":-32603,"message":"busy"}"#.to_owned()),
            (
                r#"{"code":"ENOENT","message":"no file"}"#,
                r#"{"code":-32603,"message":"no file","data":{"code":"ENOENT","message":"no file"}}"#
                    .to_owned(),
            ),
            (
                r#"{"code":-32000,"message":null}"#,
                format!(r#"{{"code":-32000,"message":{none},"data":{{"code":-32000,"message":null}}}}"#),
            ),
            ("{}", format!(r#"{{"code":-32603,"message":{none},"data":{{}}}}"#)),
            ("true", format!(r#"{{"code":-32603,"message":{none},"data":true}}"#)),
        ] {
            assert_eq!(error(given), completed, "{given}");
        }
    }

    #[test]
    fn a_header_is_named_as_such() {
        let reported = report("Content-Length: 77\r");
        assert!(
            reported.contains("headers of the Language Server Protocol"),
            "{reported}"
        );
    }

    #[test]
    fn secrets_in_it_are_not() {
        let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        for before in ["Using ", &"x ".repeat(30)] {
            let reported = report(&format!("{before}{token} now"));
            assert!(
                reported.contains("[redacted: ") && !reported.contains("ghp_"),
                "{reported}"
            );
        }
    }
}
