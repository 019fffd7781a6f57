//! Why a remote agent cannot be reached, or no longer.

use std::error::Error;
use std::io;
use std::sync::Arc;

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted};
use reqwest::StatusCode;
use rustls::CertificateError;

use super::patience::WHOLE;

/// What hyper says of the first bytes of something that is not HTTP, such as an encrypted connection.
const NO_HTTP: &str = "invalid HTTP version parsed";

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
    #[error("its certificate {0}")]
    BadCertificate(&'static str),
    #[error("{0}; use a name that its certificate has")]
    OtherName(String),
    #[error("it does not encrypt there; write http in place of https, or ws in place of wss")]
    Plain,
    #[error("it does not speak HTTP there; if it encrypts, write https in place of http")]
    NotHttp,
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
    if last == NO_HTTP {
        Cause::NotHttp
    } else if !error.is_connect() {
        Cause::Broken(shown)
    } else if error.is_timeout() {
        Cause::Silent
    } else if is(io::ErrorKind::ConnectionRefused) {
        Cause::Refused
    } else if let Some(error) = causes().find_map(of_tls) {
        cause_in_tls(error, shown)
    // The resolver's error has no kind of its own.
    } else if causes().any(|cause| cause.to_string() == "dns error") {
        Cause::UnknownHost(shown)
    } else {
        Cause::Broken(shown)
    }
}

/// The error of rustls, also within an I/O error, which does not give it as its source.
fn of_tls<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(error);
    }
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    of_tls(inner)
}

/// The cause of an error of rustls, whose own words are for programmers.
fn cause_in_tls(error: &rustls::Error, shown: String) -> Cause {
    let why = match error {
        rustls::Error::InvalidMessage(_) => return Cause::Plain,
        rustls::Error::InvalidCertificate(why) => why,
        _ => return Cause::Untrusted(shown),
    };
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            Cause::BadCertificate("has expired; its operator has to renew it")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Cause::BadCertificate("is not valid yet; check the clock of this machine")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Cause::OtherName(shown)
        }
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            Cause::BadCertificate(
                "is that of an authority, which no server may show: its operator has to issue one with \
                 `basicConstraints = CA:FALSE`",
            )
        }
        CertificateError::UnknownIssuer => {
            Cause::Untrusted("no authority that this machine trusts has issued it".to_owned())
        }
        // Such as a signature that is wrong.
        _ => Cause::Untrusted(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_is_told_in_plain_words() {
        for (why, told) in [
            (CertificateError::Expired, "its certificate has expired; "),
            (
                CertificateError::NotValidYet,
                "its certificate is not valid yet; check the clock",
            ),
            (
                CertificateError::UnknownIssuer,
                "its certificate is not trusted: no authority that this machine trusts has issued it; if your own",
            ),
            (
                CertificateError::Revoked,
                "its certificate is not trusted: invalid peer certificate: Revoked; if",
            ),
        ] {
            let error = io::Error::other(rustls::Error::InvalidCertificate(why));
            let found = of_tls(&error).expect("it is within");
            let cause = cause_in_tls(found, found.to_string()).to_string();
            assert!(cause.starts_with(told), "{cause}\n{told}");
        }
    }
}
