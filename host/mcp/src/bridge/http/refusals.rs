//! Refusals of the registry or a link, as answers.

use hyper::StatusCode;

use super::reply::{self, Refusal, refuse};
use crate::bridge::link::NotOpened;
use crate::bridge::registry::NotAdmitted;
use crate::protocol;
use acp_chain_rpc::{Error, Id, code};

/// Why there is no new link for a request.
pub fn not_admitted(why: NotAdmitted, id: Option<&Id>) -> Refusal {
    match why {
        NotAdmitted::Gone => server_gone(id),
        NotAdmitted::Full => {
            let why = "there are too many MCP clients; end some";
            unavailable(protocol::code::LIMIT, why, id)
        }
    }
}

/// The server went away during the request.
pub fn server_gone(id: Option<&Id>) -> Refusal {
    unavailable(protocol::code::UNAVAILABLE, "the MCP server is gone", id)
}

/// A failure that may be temporary.
pub fn unavailable(code: i64, why: &str, id: Option<&Id>) -> Refusal {
    let error = Error::new(code, why);
    reply::error(StatusCode::SERVICE_UNAVAILABLE, id, &error)
}

/// Why there is no new stream.
pub fn not_opened(why: NotOpened, id: Option<&Id>) -> Refusal {
    match why {
        NotOpened::Gone => refuse(StatusCode::NOT_FOUND, "the session is over"),
        NotOpened::IdInUse => {
            let why = "the id is that of another request that is not answered yet";
            let error = Error::new(code::INVALID_REQUEST, why);
            reply::error(StatusCode::BAD_REQUEST, id, &error)
        }
    }
}
