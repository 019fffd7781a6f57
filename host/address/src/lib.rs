//! Addresses on the network: which are safe or private, and those of remote agents.

#![forbid(unsafe_code)]

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::Url;

/// Whether the connection to a URL is encrypted or local.
#[must_use]
pub fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || is_local(url)
}

/// Whether a URL is of this machine.
#[must_use]
pub fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host.trim_end_matches('.') == "localhost",
    }
}

/// Whether a server may redirect from one URL to another: the target must be [safe](is_safe), and local only if the
/// source is.
#[must_use]
pub fn may_redirect(from: &Url, to: &Url) -> bool {
    is_safe(to) && (is_local(from) || !is_local(to))
}

/// The URL of a remote agent: `http`, `https`, `ws` or `wss`. It is shown without its query, which may contain
/// secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    url: Url,
    is_websocket: bool,
    shown: String,
}

/// Why a text is not the address of a remote agent.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{address}: {why}")]
pub struct AddressError {
    /// The URL in a form safe to show.
    address: String,
    why: Cause,
}

#[derive(Clone, Debug, thiserror::Error)]
enum Cause {
    #[error("it is not a URL: {0}; write one such as https://host/acp or wss://host/acp")]
    NotUrl(url::ParseError),
    #[error(
        "a remote agent is reached by http, https, ws or wss; write one such as https://host/acp"
    )]
    Scheme,
    #[error(
        "the URL contains a user or a password, which others can read; remove it, and give a token by \
         ACP_CHAIN_CONNECT_TOKEN or `--connect-token-file`"
    )]
    Password,
}

impl Address {
    /// The URL for requests, `http` or `https`; a WebSocket begins with one.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Whether it is reached over WebSocket.
    #[must_use]
    pub const fn is_websocket(&self) -> bool {
        self.is_websocket
    }

    /// Whether messages are encrypted, or certainly stay on this machine. A token is sent only then, so this is
    /// stricter than [`is_safe`]: `0.0.0.0` and `localhost.` may be resolved elsewhere.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_here = host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback());
        self.url.scheme() == "https" || is_here
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = |address: &str, why| AddressError {
            address: address.to_owned(),
            why,
        };
        let mut url = Url::parse(text).map_err(|error| wrong("the URL", Cause::NotUrl(error)))?;
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
            _ => return Err(wrong(&shown, Cause::Scheme)),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(&shown, Cause::Password));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        let address: Address = "wss://host:8443/acp?key=secret#x".parse().unwrap();
        assert_eq!(address.to_string(), "wss://host:8443/acp");
        assert_eq!(address.url().as_str(), "https://host:8443/acp?key=secret");
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
        for open in [
            "http://host/",
            "ws://10.0.0.1/",
            "http://localhost.host/",
            "ws://0.0.0.0/",
            "http://localhost./",
        ] {
            assert!(!is_private(open), "{open}");
        }
    }
}
