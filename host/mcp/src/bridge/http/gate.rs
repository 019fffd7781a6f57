//! Who may come in.
//!
//! A client that does not know the secret of the server at the path learns nothing: neither whether there is such a
//! server, nor that this is MCP. Web pages do not even get that far, including those that a browser takes for local
//! ones (DNS rebinding).

use hyper::http::uri::{Authority, Uri};
use hyper::{HeaderMap, Request, StatusCode, header};

use super::reply::{Response, turn_away};
use super::{ENDPOINT, HEAD, single};
use crate::ServerId;
use crate::bridge::registry::Registry;

/// Why a request is rejected.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    status: StatusCode,
    /// In words.
    pub why: &'static str,
}

impl Refused {
    pub fn into_response(self) -> Response {
        let mut response = turn_away(self.status, self.why);
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = header::HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        let close = header::HeaderValue::from_static("close");
        headers.insert(header::CONNECTION, close);
        response
    }
}

/// The server that a request may talk to.
pub fn pass<B>(registry: &Registry, port: u16, request: &Request<B>) -> Result<ServerId, Refused> {
    let headers = request.headers();
    let forbidden = |why| Refused {
        status: StatusCode::FORBIDDEN,
        why,
    };
    if length(request) > HEAD {
        return Err(Refused {
            status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            why: "the head of the request is too long",
        });
    }
    if !is_our_host(headers, port) {
        return Err(forbidden("the header Host names something else"));
    }
    // In absolute form, as for proxies, the target contains a host name, too.
    let named = request.uri().authority();
    if !named.is_none_or(|named| is_our_name(named, port)) {
        return Err(forbidden("the target names something else"));
    }
    let origins = headers.get_all(header::ORIGIN).iter();
    if !{ origins }.all(|origin| origin.to_str().is_ok_and(is_loopback)) {
        return Err(forbidden("the header Origin names a foreign web page"));
    }
    let path = request.uri().path().strip_prefix('/');
    let token = path.and_then(|path| path.strip_suffix(ENDPOINT));
    let token = token.unwrap_or_default();
    let secret = bearer(headers).unwrap_or_default();
    registry.opened_at(token, secret).ok_or(Refused {
        status: StatusCode::UNAUTHORIZED,
        why: "the header Authorization does not open this path",
    })
}

/// The length of a request's head, in bytes. The limit of the HTTP server depends on how it arrived.
fn length<B>(request: &Request<B>) -> usize {
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + ": \r\n".len() + value.len());
    let target = request.uri().path_and_query();
    let target = target.map_or(0, |target| target.as_str().len());
    let line = request.method().as_str().len() + "  HTTP/1.1\r\n".len() + target;
    line + headers.sum::<usize>() + "\r\n".len()
}

fn is_our_host(headers: &HeaderMap, port: u16) -> bool {
    let host = single(headers, header::HOST.as_str()).ok().flatten();
    let authority = host.and_then(|host| host.parse().ok());
    authority.is_some_and(|authority| is_our_name(&authority, port))
}

fn is_our_name(authority: &Authority, port: u16) -> bool {
    let host = authority.host();
    authority.port_u16() == Some(port)
        && !authority.as_str().contains('@')
        && (host == "127.0.0.1" || host.eq_ignore_ascii_case("localhost"))
}

fn is_loopback(origin: &str) -> bool {
    let uri = origin.parse::<Uri>().unwrap_or_default();
    let host = uri.host().unwrap_or_default();
    matches!(uri.scheme_str(), Some("http" | "https"))
        && (["127.0.0.1", "[::1]"].contains(&host) || host.eq_ignore_ascii_case("localhost"))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = single(headers, header::AUTHORIZATION.as_str()).ok()??;
    let (scheme, secret) = given.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| secret.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::BridgeKind;
    use acp_chain_channel::limits::Account;

    fn passes(headers: &[(&str, &str)]) -> Result<ServerId, u16> {
        let registry = Registry::new(&Account::new(0)).unwrap();
        let (token, secret) = registry.offer(7, BridgeKind::Http).unwrap();
        let fill = |text: &str| {
            let text = text.replace("TOKEN", token.reveal());
            text.replace("SECRET", secret.reveal())
        };
        let mut request = Request::builder().uri("/none/mcp");
        for (name, value) in headers {
            request = match *name {
                "path" => request.uri(fill(value)),
                name => request.header(name, fill(value)),
            };
        }
        let passed = pass(&registry, 80, &request.body(()).unwrap());
        passed.map_err(|refused| refused.status.as_u16())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:80");
    const PATH: (&str, &str) = ("path", "/TOKEN/mcp");
    const SECRET: (&str, &str) = ("authorization", "Bearer SECRET");

    #[test]
    fn only_the_secret_of_the_path_lets_in() {
        assert_eq!(passes(&[HOST, PATH, SECRET]), Ok(7));
        assert_eq!(
            passes(&[HOST, PATH, ("authorization", "bearer  SECRET")]),
            Ok(7)
        );
        assert_eq!(passes(&[HOST, PATH]), Err(401));
        assert_eq!(passes(&[HOST, SECRET]), Err(401));
        assert_eq!(passes(&[HOST, ("path", "/"), SECRET]), Err(401));
        for path in [
            "/TOKEN",
            "/TOKEN/",
            "/TOKEN/mcp/",
            "/mcp/TOKEN",
            "/TOKENmcp",
        ] {
            assert_eq!(passes(&[HOST, ("path", path), SECRET]), Err(401), "{path}");
        }
        for wrong in [
            "Bearer TOKEN",
            "SECRET",
            "Basic SECRET",
            "Bearer SECRETx",
            "",
        ] {
            let wrong = passes(&[HOST, PATH, ("authorization", wrong)]);
            assert_eq!(wrong, Err(401));
        }
        assert_eq!(passes(&[HOST, PATH, SECRET, SECRET]), Err(401));
    }

    #[test]
    fn a_secret_for_stdio_opens_nothing_here() {
        let registry = Registry::new(&Account::new(0)).unwrap();
        let (token, secret) = registry.offer(1, BridgeKind::Stdio).unwrap();
        assert_eq!(registry.opened_at(token.reveal(), secret.reveal()), None);
        assert_eq!(registry.opened_by(secret.reveal()), Some(1));
        registry.withdraw(1);
        assert_eq!(registry.opened_by(secret.reveal()), None);
    }

    #[test]
    fn a_foreign_host_or_origin_is_turned_away_first() {
        for host in ["localhost:80", "LOCALHOST:80"] {
            assert_eq!(passes(&[("host", host), PATH, SECRET]), Ok(7), "{host}");
        }
        for host in [
            "evil.example:80",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:80",
            "user@127.0.0.1:80",
            "[::1]:80",
        ] {
            assert_eq!(passes(&[("host", host), PATH, SECRET]), Err(403), "{host}");
        }
        assert_eq!(passes(&[PATH, SECRET]), Err(403));
        assert_eq!(passes(&[HOST, HOST, PATH, SECRET]), Err(403));
        for (target, passed) in [
            ("http://127.0.0.1:80/TOKEN/mcp", Ok(7)),
            ("http://localhost:80/TOKEN/mcp", Ok(7)),
            ("http://evil.example:80/TOKEN/mcp", Err(403)),
            ("http://127.0.0.1:81/TOKEN/mcp", Err(403)),
            ("http://user@127.0.0.1:80/TOKEN/mcp", Err(403)),
        ] {
            assert_eq!(
                passes(&[HOST, ("path", target), SECRET]),
                passed,
                "{target}"
            );
        }
        for (origin, passed) in [
            ("http://localhost:3000", Ok(7)),
            ("https://127.0.0.1", Ok(7)),
            ("http://[::1]:1", Ok(7)),
            ("null", Err(403)),
            ("http://evil.example", Err(403)),
            ("http://localhost.evil.example", Err(403)),
            ("file://localhost", Err(403)),
        ] {
            let found = passes(&[HOST, ("origin", origin), PATH, SECRET]);
            assert_eq!(found, passed, "{origin}");
        }
    }
}
