//! A remote agent, as a client reaches it: a [`Transport`] to a URL.
//!
//! What always holds:
//! - A message is read for its envelope alone, and crosses with the bytes that it has.
//! - One message leaves at a time, and the next is taken when the server has taken it. One that came waits for whoever
//!   reads; until he does, nothing more is read.
//! - No error names a token, or what stands before the host or behind the path of a URL.
//!
//! | file | what it is |
//! |---|---|
//! | `target` | what is reached, and how one shows who one is |
//! | `error` | why it is not reached, and what to do |
//! | `web` | requests to it, with cookies |
//! | `ends` | the two halves of the transport |
//! | `patience` | how often something is tried again |
//! | `sse` | events out of bytes |
//! | `http` | a request for each message, and streams of events |
//! | `websocket` | one connection for all |

mod ends;
mod error;
mod http;
mod patience;
mod sse;
mod target;
mod web;
mod websocket;

pub use error::RemoteError;
pub use target::{Address, InvalidToken, Target, Token};

use acp_chain_rpc::transport::Transport;

use self::web::Web;

/// A way to a remote agent. Nothing is asked of the network before the first message leaves; what fails then is the
/// error with which the transport ends. Messages that come in may have this length, in bytes.
///
/// Call it, and what it gives, within a tokio runtime.
pub fn connect(target: &Target, limit: usize) -> Result<Transport, RemoteError> {
    let web = Web::new(target)?;
    Ok(match target.address.is_websocket() {
        true => ends::transport(|inbox| websocket::Socket::new(web, limit, inbox)),
        false => ends::transport(|inbox| http::Connection::new(web, limit, inbox)),
    })
}
