//! A remote agent, as a client reaches it: a [`Transport`] to a URL.
//!
//! Invariants:
//! - Only a message's envelope is read, and its bytes pass unchanged.
//! - One message is sent at a time, and the next one is taken once the server has accepted it. An incoming message
//!   waits for its reader; until then nothing more is read.
//! - No error contains a token, or the part of a URL before the host or after the path.
//!
//! | file | what it is |
//! |---|---|
//! | `target` | the address and the credentials |
//! | `error` | why a remote agent cannot be reached, and what to do |
//! | `web` | requests to the agent, with cookies |
//! | `ends` | the two halves of the transport |
//! | `patience` | the pauses between retries, and their limit |
//! | `sse` | parses events |
//! | `http` | a request for each message, and streams of events |
//! | `websocket` | one connection for everything |

mod ends;
mod error;
mod http;
mod patience;
mod sse;
mod target;
mod web;
mod websocket;

pub use error::RemoteError;
pub use target::{InvalidToken, Target, Token};

use acp_chain_rpc::transport::Transport;

use self::web::Web;

/// A transport to a remote agent. It connects when the first message is sent; a failure then ends the transport with
/// an error. `limit` is the maximum length of incoming messages, in bytes.
///
/// Must be called, and the result used, within a tokio runtime.
pub fn connect(target: &Target, limit: usize) -> Result<Transport, RemoteError> {
    let web = Web::new(target)?;
    Ok(if target.address.is_websocket() {
        ends::transport(|inbox| websocket::Socket::new(web, limit, inbox))
    } else {
        ends::transport(|inbox| http::Connection::new(web, limit, inbox))
    })
}
