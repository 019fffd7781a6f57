//! Why a remote agent cannot be reached, or no longer.

use std::error::Error;
use std::io;
use std::sync::Arc;

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};
use reqwest::StatusCode;

use super::patience::WHOLE;

/// Why a remote agent cannot be reached, or no longer, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{address}: {why}")]
pub struct RemoteError {
    /// Its URL in a form safe to show.
    address: Arc<str>,
    why: Cause,
}

impl RemoteError {
    pub(super) fn new(address: &str, why: Cause) -> Self {
        Self {
            address: address.into(),
            why,
        }
    }

    /// Adds that all retries have failed.
    pub(super) fn after_retries(self) -> Self {
        Self {
            why: Cause::GivenUp(self.why.to_string(), WHOLE.as_secs()),
            ..self
        }
    }
}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        let kind = match &error.why {
            Cause::Refused => io::ErrorKind::ConnectionRefused,
            Cause::Silent => io::ErrorKind::TimedOut,
            Cause::Status { status, .. } if *status == StatusCode::UNAUTHORIZED => {
                io::ErrorKind::PermissionDenied
            }
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error("the token would be readable in transit; use https or wss, or give no token")]
    OpenToken,
    #[error("the certificates of `--connect-ca` cannot be read: {0}")]
    Certificates(String),
    #[error("the network cannot be used: {0}")]
    NoNetwork(String),
    #[error("its host is not known: {0}; check its spelling, and that this machine is online")]
    UnknownHost(String),
    #[error("nothing listens there; check that the server runs, and that the port is right")]
    Refused,
    #[error("it does not answer; check the host and the port, and that no firewall blocks them")]
    Silent,
    #[error(
        "its certificate is not trusted: {0}; if your own authority has issued it, give its file by `--connect-ca`"
    )]
    Untrusted(String),
    #[error("the connection broke: {0}; messages of the agent may be lost, so start again")]
    Broken(String),
    #[error("after retries for {1} s: {0}")]
    GivenUp(String, u64),
    #[error("{}{}", meaning(*status, *with_token), explained(explanation))]
    Status {
        status: StatusCode,
        with_token: bool,
        explanation: String,
    },
    #[error("{0}; check that the URL is that of an agent, often with the path /acp")]
    NotAcp(&'static str),
    #[error("it does not support WebSocket ({0}); try the same URL with http in place of ws")]
    NoWebSocket(StatusCode),
    #[error("the first message of a client is `initialize`, and this one is not")]
    NotInitialize,
    #[error("it sends a message of more than {0} bytes, which is the limit")]
    TooLong(usize),
    #[error("it has more than {0} open requests")]
    TooManyRequests(usize),
    #[error("the server ended the connection: {0}")]
    Ended(String),
}

/// The meaning of a status for the user.
fn meaning(status: StatusCode, with_token: bool) -> String {
    let todo = match (status, with_token) {
        (StatusCode::UNAUTHORIZED, false) => {
            "it requires a token; give one by ACP_CHAIN_CONNECT_TOKEN or `--connect-token-file`"
        }
        (StatusCode::UNAUTHORIZED, true) => {
            "it rejects the token; check that it is the right one, and has not expired"
        }
        (StatusCode::FORBIDDEN, _) => "access denied; ask the operator",
        (StatusCode::NOT_FOUND, _) => {
            "nothing is there, or the connection is no longer known; check that the path is right, often /acp, or start again"
        }
        (StatusCode::GONE, _) => "it has not kept the lost messages; start again",
        (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, _) => {
            "it is overloaded; try again later"
        }
        _ if status.is_redirection() => "it redirects to another address; give that one",
        _ => "it rejects the request",
    };
    format!("{todo} ({status})")
}

/// The server's explanation.
fn explained(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!(
            "; the server answered: {}",
            Untrusted::within(text, MAX_QUOTE)
        ),
    }
}

/// The cause of a request's error, without its URL.
pub(super) fn cause(error: &reqwest::Error) -> Cause {
    let causes = || std::iter::successors(error.source(), |cause| (*cause).source());
    let last = causes().last().map(ToString::to_string);
    let last = last.unwrap_or_else(|| "it ended".to_owned());
    let shown = Untrusted::within(&last, MAX_QUOTE).to_string();
    let is = |kind| {
        causes().any(|cause| {
            cause
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == kind)
        })
    };
    if !error.is_connect() {
        Cause::Broken(shown)
    } else if error.is_timeout() {
        Cause::Silent
    } else if is(io::ErrorKind::ConnectionRefused) {
        Cause::Refused
    } else if causes().any(is_of_tls) {
        Cause::Untrusted(shown)
    // The resolver's error has no kind of its own.
    } else if causes().any(|cause| cause.to_string() == "dns error") {
        Cause::UnknownHost(shown)
    } else {
        Cause::Broken(shown)
    }
}

/// Whether it is an error of rustls within an I/O error, which does not give it as its source.
fn is_of_tls(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    let inner = io.and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_of_tls(inner))
}
