//! Errors of the registry or a link, as responses.

use hyper::StatusCode;

use super::reply::{self, Refusal, refuse};
use crate::bridge::link::Rejection;
use crate::protocol;
use acp_chain_rpc::{Error, Id, code};

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
            let error = Error::new(code::INVALID_REQUEST, why);
            reply::error(StatusCode::BAD_REQUEST, id, &error)
        }
    }
}

/// The response to a request whose server was closed meanwhile.
pub fn server_closed(id: Option<&Id>) -> Refusal {
    unavailable(protocol::code::UNAVAILABLE, "the MCP server is closed", id)
}

/// The response for a failure that may be temporary (503).
pub fn unavailable(code: i64, why: &str, id: Option<&Id>) -> Refusal {
    let error = Error::new(code, why);
    reply::error(StatusCode::SERVICE_UNAVAILABLE, id, &error)
}
