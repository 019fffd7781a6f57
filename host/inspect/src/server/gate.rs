//! Access control: only requests with the secret in their URL are accepted, and none from other sites' pages. All
//! others are rejected with the same answer, which reveals nothing.

use acp_chain_http::gate::{Host, Origin, called, is_of_page};
use data_encoding::HEXLOWER;
use hyper::Request;
use subtle::ConstantTimeEq;

/// The secret and the port, which together make up the address.
pub struct Gate {
    port: u16,
    /// The only accepted `Host`: another name could resolve to this machine (DNS rebinding).
    host: [Host; 1],
    /// The only accepted origin.
    origin: Origin,
    /// 128 random bits.
    secret: String,
}

impl Gate {
    /// Creates a gate with a new secret.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let secret = HEXLOWER.encode(&bytes);
        Ok(Self {
            port,
            host: [Host::new("127.0.0.1", Some(port))],
            origin: Origin::sent(&format!("http://127.0.0.1:{port}")),
            secret,
        })
    }

    /// The address to open in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.secret)
    }

    /// The requested path, if the request is accepted.
    pub fn pass<'r, B>(&self, request: &'r Request<B>) -> Option<&'r str> {
        let headers = request.headers();
        let is_here = called(headers, request.uri(), "http", &self.host).is_some()
            && is_of_page(headers, |origin| *origin == self.origin);
        let path = request.uri().path().strip_prefix('/')?;
        let (secret, name) = path.split_once('/')?;
        let knows: bool = self.secret.as_bytes().ct_eq(secret.as_bytes()).into();
        (knows && is_here).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_with_the_secret_and_from_this_page_are_accepted() {
        let gate = Gate::new(8080).unwrap();
        let secret = gate.secret.clone();
        let passes = |path: &str, headers: &[(&str, &str)]| {
            let mut request = Request::builder().uri(path.replace("SECRET", &secret));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(()).unwrap();
            gate.pass(&request).map(str::to_owned)
        };
        let host = ("host", "127.0.0.1:8080");
        assert_eq!(secret.len(), 32);
        assert_eq!(passes("/SECRET/", &[host]).as_deref(), Some(""));
        assert_eq!(passes("/SECRET/a/b?c", &[host]).as_deref(), Some("a/b"));
        for path in [
            "/",
            "/SECRET",
            "//SECRET/",
            "/SECRETx/",
            "/0/SECRET/",
            "/%53ECRET/",
        ] {
            assert_eq!(passes(path, &[host]), None, "{path}");
        }
        for other in [
            "localhost:8080",
            "127.0.0.1",
            "127.0.0.1:81",
            "evil.example:8080",
            "a@127.0.0.1:8080",
        ] {
            assert_eq!(passes("/SECRET/", &[("host", other)]), None, "{other}");
        }
        assert_eq!(passes("/SECRET/", &[]), None);
        assert_eq!(passes("/SECRET/", &[host, host]), None);
        assert_eq!(passes("http://evil.example:8080/SECRET/", &[host]), None);
        assert!(passes("/SECRET/", &[host, ("origin", "http://127.0.0.1:8080")]).is_some());
        for origin in [
            "null",
            "http://127.0.0.1:81",
            "https://127.0.0.1:8080",
            "http://localhost:8080",
        ] {
            assert_eq!(
                passes("/SECRET/", &[host, ("origin", origin)]),
                None,
                "{origin}"
            );
        }
    }
}
