//! Access control.
//!
//! The response to a client without the secret reveals neither whether the path belongs to a server, nor that this is
//! MCP. Requests of web pages are rejected before that check, including pages that a browser treats as local (DNS
//! rebinding). A path that no server can have is not found (404): at some of these, clients look for an authorization
//! server (RFC 9728, RFC 8414), and would otherwise try to sign in.

use acp_chain_http::Answer;
use acp_chain_http::answer::{named, plain};
use acp_chain_http::gate::{Host, Origin, bearer, called, is_of_page};
use hyper::{Request, StatusCode, header};

use super::ENDPOINT;
use crate::registry::Registry;
use acp_chain_mcp::ServerId;

/// Why a request is rejected.
#[derive(Debug, PartialEq, Eq)]
pub struct GateRefusal {
    status: StatusCode,
    pub why: &'static str,
}

impl GateRefusal {
    pub fn into_answer(self) -> Answer {
        let answer = plain(self.status, self.why);
        let answer = named(answer, header::CONNECTION, "close");
        match self.status {
            StatusCode::UNAUTHORIZED => named(answer, header::WWW_AUTHENTICATE, "Bearer"),
            _ => answer,
        }
    }
}

/// The server that a request has access to.
pub fn pass<B>(
    registry: &Registry,
    port: u16,
    request: &Request<B>,
) -> Result<ServerId, GateRefusal> {
    let headers = request.headers();
    let forbidden = |why| GateRefusal {
        status: StatusCode::FORBIDDEN,
        why,
    };
    let names = ["127.0.0.1", "localhost"].map(|name| Host::new(name, Some(port)));
    if called(headers, request.uri(), "http", &names).is_none() {
        return Err(forbidden(
            "the header Host or the request target names another host",
        ));
    }
    if !is_of_page(headers, Origin::is_of_this_machine) {
        return Err(forbidden("the header Origin names a foreign web page"));
    }
    let path = request.uri().path();
    let path = path.strip_suffix('/').unwrap_or(path);
    let token = path
        .strip_prefix('/')
        .and_then(|path| path.strip_suffix(ENDPOINT));
    let token = token
        .filter(|token| !token.contains('/'))
        .ok_or(GateRefusal {
            status: StatusCode::NOT_FOUND,
            why: "there is nothing at this path",
        })?;
    let secret = bearer(headers).ok().flatten().unwrap_or_default();
    registry.opened_at(token, secret).ok_or(GateRefusal {
        status: StatusCode::UNAUTHORIZED,
        why: "the header Authorization is not valid for this path",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BridgeKind;
    use acp_chain_channel::limits::Account;

    fn passes(headers: &[(&str, &str)]) -> Result<ServerId, u16> {
        let registry = Registry::new(&Account::new(0));
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
        let passed = pass(&registry, 8080, &request.body(()).unwrap());
        passed.map_err(|refused| refused.status.as_u16())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:8080");
    const PATH: (&str, &str) = ("path", "/TOKEN/mcp");
    const SECRET: (&str, &str) = ("authorization", "Bearer SECRET");

    #[test]
    fn only_the_secret_of_the_path_gives_access() {
        assert_eq!(passes(&[HOST, PATH, SECRET]), Ok(7));
        assert_eq!(
            passes(&[HOST, PATH, ("authorization", "bearer  SECRET")]),
            Ok(7)
        );
        assert_eq!(passes(&[HOST, PATH]), Err(401));
        assert_eq!(passes(&[HOST, SECRET]), Err(401));
        assert_eq!(passes(&[HOST, ("path", "/TOKEN/mcp/"), SECRET]), Ok(7));
        assert_eq!(passes(&[HOST, ("path", "/TOKEN/mcp/")]), Err(401));
        for path in [
            "/",
            "/TOKEN",
            "/TOKEN/",
            "/TOKEN/mcp//",
            "/mcp/TOKEN",
            "/TOKENmcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/TOKEN/mcp",
            "/.well-known/oauth-authorization-server/TOKEN/mcp",
            "/register",
        ] {
            assert_eq!(passes(&[HOST, ("path", path), SECRET]), Err(404), "{path}");
            assert_eq!(passes(&[HOST, ("path", path)]), Err(404), "{path}");
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
    fn a_secret_for_stdio_is_rejected_over_http() {
        let registry = Registry::new(&Account::new(0));
        let (token, secret) = registry.offer(1, BridgeKind::Stdio).unwrap();
        assert_eq!(registry.opened_at(token.reveal(), secret.reveal()), None);
        assert_eq!(registry.opened_by(secret.reveal()), Some(1));
        registry.withdraw(1);
        assert_eq!(registry.opened_by(secret.reveal()), None);
    }

    #[test]
    fn a_foreign_host_or_origin_is_rejected_first() {
        for host in ["localhost:8080", "LOCALHOST:8080"] {
            assert_eq!(passes(&[("host", host), PATH, SECRET]), Ok(7), "{host}");
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:8080",
            "user@127.0.0.1:808080",
            "[::1]:8080",
        ] {
            assert_eq!(passes(&[("host", host), PATH, SECRET]), Err(403), "{host}");
        }
        assert_eq!(passes(&[PATH, SECRET]), Err(403));
        assert_eq!(passes(&[HOST, HOST, PATH, SECRET]), Err(403));
        for (target, passed) in [
            ("http://127.0.0.1:8080/TOKEN/mcp", Ok(7)),
            ("http://localhost:8080/TOKEN/mcp", Err(403)),
            ("http://evil.example:8080/TOKEN/mcp", Err(403)),
            ("http://127.0.0.1:81/TOKEN/mcp", Err(403)),
            ("http://user@127.0.0.1:8080/TOKEN/mcp", Err(403)),
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
