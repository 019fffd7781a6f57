//! The address and the credentials.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use reqwest::Url;
use reqwest::header::HeaderValue;

use super::error::{RemoteError, Why};

/// A remote agent.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: Address,
    /// The token for authentication.
    pub token: Option<Token>,
    /// A file with certificates, as PEM, that are trusted besides those of the system.
    pub ca: Option<PathBuf>,
}

/// The URL of a remote agent: `http`, `https`, `ws` or `wss`. It is shown without its query, which may contain
/// secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The URL for requests; a WebSocket begins with one.
    pub(super) url: Url,
    is_websocket: bool,
    shown: String,
}

impl Address {
    /// Whether it is reached over WebSocket.
    pub(super) fn is_websocket(&self) -> bool {
        self.is_websocket
    }

    /// Whether messages are encrypted, or stay on this machine.
    pub(super) fn is_private(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_here = host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback());
        self.url.scheme() == "https" || is_here
    }
}

impl FromStr for Address {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Self, RemoteError> {
        let mut url = Url::parse(text)
            .map_err(|error| RemoteError::new("the URL", Why::NotUrl(error.to_string())))?;
        url.set_fragment(None);
        let mut shown = url.clone();
        shown.set_query(None);
        // Fails for URLs that cannot have them.
        let _ = shown.set_username("").and(shown.set_password(None));
        let shown = shown.to_string();
        let (scheme, is_websocket) = match url.scheme() {
            "http" => ("http", false),
            "https" => ("https", false),
            "ws" => ("http", true),
            "wss" => ("https", true),
            _ => return Err(RemoteError::new(&shown, Why::Scheme)),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RemoteError::new(&shown, Why::Password));
        }
        // A URL may switch between all four.
        let _ = url.set_scheme(scheme);
        Ok(Self {
            url,
            is_websocket,
            shown,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A bearer token for authentication. No error and no log shows it.
#[derive(Clone, Debug)]
pub struct Token(pub(super) HeaderValue);

/// A token has a character that is invalid in a header.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the token has invalid characters; a token is one line of letters, digits and signs")]
pub struct InvalidToken;

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let value = is_plain.then(|| HeaderValue::from_str(&format!("Bearer {text}")));
        let mut value = value.and_then(Result::ok).ok_or(InvalidToken)?;
        // Then it is neither shown, nor kept in HTTP/2 tables.
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        let address: Address = "wss://host:8443/acp?key=secret#x".parse().unwrap();
        assert_eq!(address.to_string(), "wss://host:8443/acp");
        assert_eq!(address.url.as_str(), "https://host:8443/acp?key=secret");
        assert!(address.is_websocket() && address.is_private());
        for (text, prefix) in [
            ("https://me:secret@host/acp", "https://host/acp: "),
            ("ftp://me:secret@host/acp?secret", "ftp://host/acp: "),
            ("secret", "the URL: "),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(
                error.starts_with(prefix) && !error.contains("secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn only_this_machine_is_private_without_encryption() {
        let is_private = |text: &str| text.parse::<Address>().unwrap().is_private();
        for private in [
            "http://localhost/",
            "ws://127.0.0.9/",
            "http://[::1]:1/",
            "https://host/",
        ] {
            assert!(is_private(private), "{private}");
        }
        for open in ["http://host/", "ws://10.0.0.1/", "http://localhost.host/"] {
            assert!(!is_private(open), "{open}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let token: Token = "s3cret".parse().unwrap();
        assert!(!format!("{token:?}").contains("s3cret"));
        for wrong in ["", "two words", "a\nb", "ä"] {
            assert!(wrong.parse::<Token>().is_err(), "{wrong}");
        }
    }
}
