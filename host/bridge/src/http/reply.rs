//! Responses to a client: short texts, JSON-RPC errors, and streams.
//!
//! A response is JSON if the answer arrives soon and no message precedes it, otherwise a stream of events. Clients
//! limit the length of events more tightly than that of bodies, so JSON is preferred. But a client should not wait long
//! for the head of a response.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use acp_chain_http::Answer;
use acp_chain_http::answer::{JSON, events, named, streamed, typed};
use acp_chain_http::headers::Accepts;
use bytes::{Buf, Bytes};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Frame};
use hyper::header::HeaderName;

use crate::link::Rejection;
use crate::outbound::QueuedMessage;
use crate::registry::Attachment;
use acp_chain_mcp::protocol::{self, object};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

/// The form in which messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As server-sent events.
    Events,
    /// One answer, as JSON.
    Answer,
    /// Answers to a batch, as a JSON array.
    Answers,
}

/// A response that rejects a request.
pub struct Refusal(Box<Answer>);

impl Refusal {
    /// Adds a header.
    pub fn named(self, name: HeaderName, value: &str) -> Self {
        Self(Box::new(named(*self.0, name, value)))
    }

    pub fn into_answer(self) -> Answer {
        *self.0
    }
}

/// A refusal as a JSON-RPC error without an id.
pub fn refuse(status: StatusCode, why: &str) -> Refusal {
    error(status, None, &Error::new(code::INVALID_REQUEST, why))
}

/// A refusal as a JSON-RPC error, with the id of the request. If the id is unknown, the member is omitted, as MCP
/// requires.
pub fn error(status: StatusCode, id: Option<&Id>, error: &Error) -> Refusal {
    let error = error.to_json();
    let body = object(&[
        ("jsonrpc", Some(r#""2.0""#)),
        ("id", id.map(Id::as_str)),
        ("error", Some(&error)),
    ]);
    Refusal(Box::new(typed(status, JSON, body)))
}

/// The response to a request for which no link or stream is opened.
pub fn rejected(why: Rejection, id: Option<&Id>) -> Refusal {
    match why {
        Rejection::ServerClosed => server_closed(id),
        Rejection::Full => {
            let why = "there are too many MCP clients; close some";
            unavailable(protocol::code::LIMIT, why, id)
        }
        Rejection::LinkClosed => refuse(StatusCode::NOT_FOUND, "the session is closed"),
        Rejection::IdInUse => {
            let why = "another unanswered request has this id";
            let wrong = Error::new(code::INVALID_REQUEST, why);
            error(StatusCode::BAD_REQUEST, id, &wrong)
        }
    }
}

/// The response to a request whose server was closed meanwhile.
pub fn server_closed(id: Option<&Id>) -> Refusal {
    unavailable(protocol::code::UNAVAILABLE, "the MCP server is closed", id)
}

/// The response for a failure that may be temporary (503).
pub fn unavailable(code: i64, why: &str, id: Option<&Id>) -> Refusal {
    let wrong = Error::new(code, why);
    error(StatusCode::SERVICE_UNAVAILABLE, id, &wrong)
}

/// The HTTP status for an answer, in MCP 2026-07-28.
pub fn status_of(answer: &Message) -> StatusCode {
    if answer.kind() != Kind::Error {
        return StatusCode::OK;
    }
    match member(answer.body(), "code") {
        Some("-32020" | "-32021" | "-32022") => StatusCode::BAD_REQUEST,
        Some("-32601") => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// Streams the messages in `first`, then those of an attachment.
pub fn stream(
    place: Attachment,
    form: Form,
    first: impl IntoIterator<Item = QueuedMessage>,
) -> Answer {
    let mut stream = Stream {
        place,
        form,
        begun: false,
        ended: false,
        out: Outbox::default(),
        messages: Vec::new(),
    };
    if let (Form::Events, Some(event)) = (form, stream.place.outbound.beginning) {
        stream.out.push_str(&format!("id: {event}\ndata: \n\n"));
    }
    for outgoing in first {
        stream.push(outgoing);
    }
    match form {
        Form::Events => events(stream),
        Form::Answer | Form::Answers => streamed(StatusCode::OK, JSON, stream.boxed_unsync()),
    }
}

/// How long a response waits for the answer before it becomes a stream.
pub const SOON: Duration = Duration::from_millis(250);

/// Answers with the messages of an attachment. If the first arrives within this time, it determines the status. If the
/// attachment's stream has ended without a message, returns the attachment.
pub async fn answer(
    mut place: Attachment,
    accepts: Accepts,
    within: Duration,
    status_of: impl Fn(&Message) -> StatusCode,
) -> Result<Answer, Attachment> {
    let first = if accepts.events {
        tokio::time::timeout(within, place.outbound.next()).await
    } else {
        Ok(place.outbound.next().await)
    };
    let first = match first {
        Err(_) => return Ok(stream(place, Form::Events, None)),
        Ok(None) => return Err(place),
        Ok(Some(first)) => first,
    };
    let status = status_of(&first.message);
    let alone = first.message.kind().is_response() && accepts.json;
    let is_one = alone || !accepts.events || status != StatusCode::OK;
    let form = if is_one { Form::Answer } else { Form::Events };
    let mut response = stream(place, form, Some(first));
    *response.status_mut() = status;
    Ok(response)
}

/// The body of a streaming response.
struct Stream {
    place: Attachment,
    form: Form,
    begun: bool,
    ended: bool,
    out: Outbox,
    /// The messages being written. Their charges are released when the next frame is polled.
    messages: Vec<QueuedMessage>,
}

impl Stream {
    fn push(&mut self, outgoing: QueuedMessage) {
        match self.form {
            Form::Events => {
                if let Some(event) = outgoing.event {
                    self.out.push_str(&format!("id: {event}\n"));
                }
                self.out.push_str("data: ");
            }
            Form::Answers if self.begun => self.out.push_str(","),
            Form::Answers => self.out.push_str("["),
            Form::Answer => {}
        }
        self.begun = true;
        // Without its final line feed, which would end the event.
        let message = &outgoing.message;
        message.write_text(outgoing.id.as_deref(), &mut self.out);
        self.messages.push(outgoing);
        if self.form == Form::Events {
            self.out.push_str("\n\n");
        }
    }

    fn end(&mut self) {
        self.ended = true;
        if self.form == Form::Answers {
            self.out.push_str(if self.begun { "]" } else { "[]" });
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            if self.out.has_remaining() {
                let count = self.out.chunk().len();
                let bytes = self.out.copy_to_bytes(count);
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            self.messages.clear();
            if self.ended {
                return Poll::Ready(None);
            }
            match ready!(self.place.outbound.poll_next(context)) {
                Some(outgoing) => self.push(outgoing),
                None => self.end(),
            }
        }
    }
}
