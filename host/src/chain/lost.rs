//! Lines that are no messages, and who must hear of them.

use crate::channel::Peer;
use crate::rpc::{Error, Frame, Id, Malformed, Message, code, salvage};

/// A line that is no message, with what is known of it.
pub struct Lost {
    pub error: Error,
    pub id: Option<Id>,
    /// Whether somebody may be waiting for it as an answer.
    pub response: bool,
}

impl Lost {
    /// The id under which its sender is told. A client is told in any case; but never under the
    /// id of an answer, which may be that of a request of its own.
    pub fn id_for_sender(&self, sender: Peer) -> Option<Id> {
        let own = self.id.clone().filter(|_| !self.response);
        match sender {
            Peer::Client => Some(own.unwrap_or_else(Id::null)),
            Peer::Agent => own,
        }
    }
}

/// The message of a line.
pub fn read(frame: Frame) -> Result<Message, Lost> {
    match frame {
        Frame::Line(line) | Frame::Torn(line) => {
            Message::parse(line.clone()).map_err(|malformed| {
                let found = salvage(&line, &line);
                let error = malformed.to_error();
                match malformed {
                    Malformed::Invalid { id, response, .. } => Lost {
                        error,
                        id,
                        response,
                    },
                    _ => Lost {
                        error,
                        // JSON-RPC 2.0 §5: what is not JSON is answered under the id null.
                        response: !found.request && found.id.is_some(),
                        id: found.id.filter(|_| !found.request),
                    },
                }
            })
        }
        Frame::TooLong {
            head,
            tail,
            len,
            limit,
        } => {
            let found = salvage(&head, &tail);
            let text = format!("a message of {len} bytes is over the limit of {limit} bytes");
            Err(Lost {
                error: Error::new(code::INVALID_REQUEST, text),
                response: !found.request && found.id.is_some(),
                id: found.id,
            })
        }
    }
}
