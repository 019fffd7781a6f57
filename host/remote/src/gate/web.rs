//! The valid host names of the server, and the web sites whose pages may call it.
//!
//! Browsers go wherever a page sends them, and a foreign name may lead to this machine (DNS rebinding): a request
//! without one of our names is rejected, and so are pages of other sites that the operator has not configured.

use std::net::{IpAddr, SocketAddr};

pub use acp_chain_http::gate::{Host, Origin};
use acp_chain_http::gate::{called, is_of_page};
use hyper::StatusCode;
use hyper::http::request::Parts;

use super::{GateSettings, Peer, Rejection};

/// Checks the host names and the origins of requests.
#[derive(Debug)]
pub struct Web {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
    /// Whether a balancer encrypts in front of us.
    is_behind: bool,
}

impl Web {
    /// For a server that listens at this address.
    pub fn new(settings: &GateSettings, listen: SocketAddr) -> Self {
        let address = match listen.ip().to_canonical() {
            ip @ IpAddr::V4(_) => ip.to_string(),
            ip @ IpAddr::V6(_) => format!("[{ip}]"),
        };
        let own = ["127.0.0.1", "localhost", "[::1]", &address];
        let own = own.map(|name| Host::new(name, None));
        let hosts = own.into_iter().chain(settings.hosts.iter().cloned());
        Self {
            hosts: hosts.collect(),
            origins: settings.origins.clone(),
            is_behind: settings.plain,
        }
    }

    /// Whether a request is for us, and not from a forbidden page.
    pub fn check(&self, head: &Parts, peer: &Peer) -> Result<(), Rejection> {
        // The scheme that the client uses.
        let is_encrypted = peer.is_encrypted || self.is_behind;
        let scheme = if is_encrypted { "https" } else { "http" };
        let name = called(&head.headers, &head.uri, scheme, &self.hosts);
        let name = name.ok_or(Rejection {
            status: StatusCode::MISDIRECTED_REQUEST,
            why: "the name in Host or :authority is not a name of this server",
        })?;
        let own = Origin::sent(&format!("{scheme}://{name}"));
        let may_call = |origin: &Origin| *origin == own || self.origins.contains(origin);
        if is_of_page(&head.headers, may_call) {
            return Ok(());
        }
        Err(Rejection {
            status: StatusCode::FORBIDDEN,
            why: "web pages of this Origin may not call the server",
        })
    }
}

#[cfg(test)]
mod tests {
    use hyper::{Request, header};
    use proptest::prelude::*;

    use super::*;

    fn web(hosts: &[&str], origins: &[&str], plain: bool) -> Web {
        let settings = GateSettings {
            hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
            origins: origins
                .iter()
                .map(|origin| origin.parse().unwrap())
                .collect(),
            plain,
            ..GateSettings::default()
        };
        Web::new(&settings, "10.1.2.3:8080".parse().unwrap())
    }

    fn peer(is_encrypted: bool) -> Peer {
        Peer {
            address: "10.9.9.9:1".parse().unwrap(),
            certificate: None,
            is_encrypted,
        }
    }

    fn check(
        web: &Web,
        target: &str,
        headers: &[(&str, &str)],
        is_encrypted: bool,
    ) -> Result<(), u16> {
        let mut request = Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let head = request.body(()).unwrap().into_parts().0;
        web.check(&head, &peer(is_encrypted))
            .map_err(|refused| refused.status.as_u16())
    }

    #[test]
    fn the_server_answers_to_its_names_alone() {
        let web = web(&["ACP.example.com", "other.example.com:9000"], &[], false);
        let called = |host| check(&web, "/acp", &[("host", host)], true);
        for host in [
            "127.0.0.1:8080",
            "LOCALHOST:8080",
            "[::1]:8080",
            "10.1.2.3:8080",
            "acp.example.com",
            "acp.EXAMPLE.com:443",
            "127.0.0.1:81",
            "acp.example.com:80",
            "acp.example.com:0443",
            "acp.example.com:8080",
            "other.example.com:9000",
        ] {
            assert_eq!(called(host), Ok(()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.2:8080",
            "10.1.2.3.evil.example:8080",
            "acp.example.com:99999",
            "acp.example.com.evil.example",
            "xacp.example.com",
            "other.example.com",
            "user@acp.example.com",
            "user:8080@acp.example.com",
            "acp.example.com@evil.example",
            "acp.example.com:",
            "acp.example.com, evil.example",
            "acp.example.com/x",
            "[::1",
        ] {
            // A port is a number, however it is written.
            let expected = match host {
                "acp.example.com:0443" => Ok(()),
                _ => Err(421),
            };
            assert_eq!(called(host), expected, "{host}");
        }
        let host = ("host", "acp.example.com");
        assert_eq!(check(&web, "/acp", &[], true), Err(421));
        assert_eq!(check(&web, "/acp", &[host, host], true), Err(421));
    }

    #[test]
    fn the_name_in_a_target_is_checked_too() {
        let web = web(&["acp.example.com"], &[], false);
        let host = ("host", "acp.example.com");
        let called = |target, headers: &[_]| check(&web, target, headers, true);
        assert_eq!(called("https://acp.example.com/acp", &[]), Ok(()));
        assert_eq!(called("https://acp.example.com/acp", &[host]), Ok(()));
        assert_eq!(called("https://evil.example/acp", &[]), Err(421));
        assert_eq!(called("https://evil.example/acp", &[host]), Err(421));
        assert_eq!(called("https://10.1.2.3/acp", &[host]), Err(421));
        assert_eq!(called("https://u@acp.example.com/acp", &[]), Err(421));
    }

    #[test]
    fn only_configured_pages_of_other_sites_are_admitted() {
        let pages = |web: &Web, host, origins: &[&str], is_encrypted| {
            let mut headers = vec![("host", host)];
            headers.extend(origins.iter().map(|origin| ("origin", *origin)));
            check(web, "/acp", &headers, is_encrypted)
        };
        let own = web(
            &["acp.example.com"],
            &["https://app.example.com", "vscode-webview://x"],
            false,
        );
        let from = |origin| pages(&own, "acp.example.com", &[origin], true);
        for origin in [
            "https://acp.example.com",
            "https://acp.example.com:443",
            "https://app.example.com",
            "https://APP.example.com:443",
            "vscode-webview://x",
        ] {
            assert_eq!(from(origin), Ok(()), "{origin}");
        }
        for origin in [
            "",
            "null",
            "http://acp.example.com",
            "https://acp.example.com:8443",
            "https://evil.example",
            "https://app.example.com.evil.example",
            "http://app.example.com",
            "https://app.example.com/",
            "https://app.example.com https://evil.example",
            "http://localhost:8080",
        ] {
            assert_eq!(from(origin), Err(403), "{origin}");
        }
        let two = ["https://app.example.com", "https://app.example.com"];
        assert_eq!(pages(&own, "acp.example.com", &two, true), Err(403));

        let local = web(&[], &[], false);
        let host = "localhost:8080";
        assert_eq!(pages(&local, host, &[], false), Ok(()));
        assert_eq!(
            pages(&local, host, &["http://localhost:8080"], false),
            Ok(())
        );
        // Another program of this machine has served it.
        assert_eq!(
            pages(&local, host, &["http://localhost:3000"], false),
            Err(403)
        );
        assert_eq!(
            pages(&local, host, &["https://localhost:8080"], false),
            Err(403)
        );

        let behind = web(&["acp.example.com"], &[], true);
        assert_eq!(
            pages(
                &behind,
                "acp.example.com",
                &["https://acp.example.com"],
                false
            ),
            Ok(())
        );
        assert_eq!(
            pages(
                &behind,
                "acp.example.com",
                &["http://acp.example.com"],
                false
            ),
            Err(403)
        );
    }

    proptest! {
        #[test]
        fn no_bytes_in_headers_break_it(
            host in proptest::collection::vec(any::<u8>(), 0..40),
            origin in proptest::collection::vec(any::<u8>(), 0..40),
            around in "[a-z:@\\[\\]0-9.]{0,12}",
        ) {
            let own = web(&["acp.example.com"], &["https://app.example.com"], false);
            let mut head = Request::new(()).into_parts().0;
            let both = [host, format!("{around}127.0.0.1:8080{around}").into_bytes()];
            for host in both {
                if let Ok(host) = host.try_into() {
                    head.headers.insert(header::HOST, host);
                }
                if let Ok(origin) = origin.clone().try_into() {
                    head.headers.insert(header::ORIGIN, origin);
                }
                let _ = own.check(&head, &peer(false));
            }
        }

        #[test]
        fn only_configured_origins_pass(origin in "[ -~]{0,40}") {
            let own = web(&["acp.example.com"], &["https://app.example.com"], false);
            let headers = [("host", "acp.example.com"), ("origin", &*origin)];
            let sent = Origin::sent(&origin).to_string();
            let may = ["https://app.example.com", "https://acp.example.com"].contains(&&*sent);
            prop_assert_eq!(check(&own, "/acp", &headers, true).is_ok(), may);
        }
    }
}
