//! Why the hall or a link refuses something, as an answer.

use hyper::StatusCode;

use super::reply::{self, Refusal, refuse};
use crate::mcp::door::hall::NotAdmitted;
use crate::mcp::door::link::NotOpened;
use crate::rpc::{Error, Id, code};

/// Why there is no new link.
pub fn not_admitted(why: NotAdmitted) -> Refusal {
    match why {
        NotAdmitted::Gone => server_gone(),
        NotAdmitted::Full => refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "there are too many MCP clients; end some",
        ),
    }
}

/// The server went while it was asked.
pub fn server_gone() -> Refusal {
    refuse(StatusCode::SERVICE_UNAVAILABLE, "the MCP server is gone")
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
