//! The names of a listener, the web pages that may call it, and the token of a request.
//!
//! Browsers go wherever a page sends them, and a foreign name may lead to this machine (DNS rebinding): a request
//! without one of the listener's names is rejected, and a page of another site may call only if the listener allows it.

use std::fmt;
use std::str::FromStr;

use hyper::HeaderMap;
use hyper::header;
use hyper::http::uri::{Authority, Uri};

use crate::headers::{WrongHeader, single};

/// A name by which clients call a listener: `acp.example.com`, with any port, or `acp.example.com:8443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// In lower case.
    name: String,
    port: Option<u16>,
}

impl Host {
    /// A name, with this port or with any.
    #[must_use]
    pub fn new(name: &str, port: Option<u16>) -> Self {
        Self {
            name: name.to_ascii_lowercase(),
            port,
        }
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "{text:?} is not a host name; write one such as `acp.example.com` or `acp.example.com:8443`"
            )
        };
        let is_plain = !text.contains(['*', '/', '?', '#', ' ']);
        let authority = text.parse().ok().filter(|_| is_plain).ok_or_else(wrong)?;
        let (name, port) = split(&authority).ok_or_else(wrong)?;
        Ok(Self { name, port })
    }
}

/// The host name of a request, if it is one of `hosts`. HTTP/2 has it in `:authority`, HTTP/1.1 in `Host`; if both are
/// present, they must match (RFC 9113, 8.3.1, and RFC 9112, 3.2.2).
#[must_use]
pub fn called(
    headers: &HeaderMap,
    target: &Uri,
    scheme: &str,
    hosts: &[Host],
) -> Option<Authority> {
    let host = single(headers, &header::HOST).ok()?;
    let host = host.map(str::parse::<Authority>).transpose().ok()?;
    let target = target.authority().cloned();
    if let (Some(host), Some(target)) = (&host, &target)
        && split(host)? != split(target)?
    {
        return None;
    }
    let called = target.or(host)?;
    let (name, port) = split(&called)?;
    let usual = usual_port(scheme);
    let is_ours = |host: &Host| {
        // A forwarder may have a port of its own; a foreign name is foreign at any port.
        let is_port = host.port.is_none_or(|own| port.or(usual) == Some(own));
        host.name == name && is_port
    };
    hosts.iter().any(is_ours).then_some(called)
}

/// Name and port; `None` if it has parts that are invalid in `Host`, such as a user.
fn split(authority: &Authority) -> Option<(String, Option<u16>)> {
    let name = authority.host();
    let rest = authority.as_str().strip_prefix(name)?;
    let port = match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|c| c.is_ascii_digit()) => Some(port.parse().ok()?),
        None if rest.is_empty() => None,
        _ => return None,
    };
    (!name.is_empty()).then(|| (name.to_ascii_lowercase(), port))
}

fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    }
}

/// The origin of a web page: `https://app.example.com` (RFC 6454).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// As browsers send it: in lower case, and without the default port.
    #[must_use]
    pub fn sent(origin: &str) -> Self {
        let mut plain = origin.to_ascii_lowercase();
        let scheme = plain.split("://").next().unwrap_or_default();
        let port = usual_port(scheme).map(|port| format!(":{port}"));
        if let Some(port) = port.filter(|port| plain.ends_with(port)) {
            plain.truncate(plain.len() - port.len());
        }
        Self(plain)
    }

    /// Whether a program on this machine has served the page.
    #[must_use]
    pub fn is_of_this_machine(&self) -> bool {
        let uri = self.0.parse::<Uri>().unwrap_or_default();
        matches!(uri.scheme_str(), Some("http" | "https"))
            && ["127.0.0.1", "[::1]", "localhost"].contains(&uri.host().unwrap_or_default())
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uri = text.parse::<Uri>().ok();
        let parts = uri
            .as_ref()
            .and_then(|uri| Some((uri.scheme_str()?, uri.authority()?)));
        let is_whole = |(scheme, authority): &(&str, &Authority)| {
            let is_plain = !authority.as_str().contains(['@', '*']);
            is_plain && text.len() == scheme.len() + "://".len() + authority.as_str().len()
        };
        match parts.filter(is_whole) {
            Some(_) => Ok(Self::sent(text)),
            None => Err(format!(
                "{text:?} is not an origin; write one as browsers send it, such as `https://app.example.com`"
            )),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a request is of no web page, or of one that may call. Programs other than browsers send no `Origin`.
pub fn is_of_page(headers: &HeaderMap, may_call: impl Fn(&Origin) -> bool) -> bool {
    match single(headers, &header::ORIGIN) {
        Ok(None) => true,
        Ok(Some(origin)) => may_call(&Origin::sent(origin)),
        Err(_) => false,
    }
}

/// The token after `Bearer` (RFC 6750, 2.1); `Ok(None)` without the header `Authorization`.
///
/// # Errors
/// If the header occurs more than once, or is not text.
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, WrongHeader> {
    let given = single(headers, &header::AUTHORIZATION)?;
    Ok(given.map(|given| {
        let (scheme, token) = given.split_once(' ').unwrap_or_default();
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        // No token is empty.
        if is_bearer {
            token.trim_matches(' ')
        } else {
            ""
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_and_origins_are_rejected() {
        for wrong in [
            "",
            "*",
            "*.example.com",
            "https://a.example",
            "a@b",
            "a:b",
            "a b",
            "a/b",
        ] {
            assert!(wrong.parse::<Host>().is_err(), "{wrong}");
        }
        for wrong in [
            "",
            "*",
            "null",
            "a.example",
            "https://a.example/",
            "https://a/b",
            "https://*.a",
            "https://u@a",
        ] {
            assert!(wrong.parse::<Origin>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_page_of_this_machine_is_served_by_a_program_of_it() {
        for (origin, expected) in [
            ("http://localhost:3000", true),
            ("http://LOCALHOST:3000", true),
            ("https://127.0.0.1", true),
            ("http://[::1]:1", true),
            ("null", false),
            ("http://evil.example", false),
            ("http://localhost.evil.example", false),
            ("file://localhost", false),
        ] {
            let is_of_this_machine = Origin::sent(origin).is_of_this_machine();
            assert_eq!(is_of_this_machine, expected, "{origin}");
        }
    }
}
