//! The operator's settings for authentication.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Host, Issuer, Origin};

/// The settings for authentication, and their files.
#[derive(Clone, Debug, Default)]
pub struct GateSettings {
    /// The host names that clients use, beside localhost and the address at which it listens.
    pub hosts: Vec<Host>,
    /// The origins of web pages that may call it, beside its own.
    pub origins: Vec<Origin>,
    /// Whether a balancer in front of us encrypts, so that we need not.
    pub plain: bool,
    /// The file of bearer tokens.
    pub tokens: Option<PathBuf>,
    /// The issuers of accepted signed tokens.
    pub issuers: Vec<Issuer>,
    /// The files for TLS.
    pub tls: Option<TlsFiles>,
}

/// The files for TLS, as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate and its chain.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authority of clients' certificates.
    pub client_ca: Option<PathBuf>,
}

/// Why a server must not start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsafeSettings {
    /// All clients that can connect would be admitted.
    #[error(
        "all clients that reach {0} would be admitted: add tokens (`acp-chain serve-token NAME --file FILE`, and \
         `--tokens FILE`), an issuer (`[[serve.jwt]]` in config.toml) or certificates of clients (`--client-ca FILE`)"
    )]
    Anybody(SocketAddr),
    /// Everything would be readable in transit.
    #[error(
        "messages to {0} would be readable in transit: add `--tls-cert FILE --tls-key FILE`, or `--plain`, if a balancer \
         in front encrypts"
    )]
    Readable(SocketAddr),
    /// Every request would be rejected.
    #[error(
        "{0} means all addresses of this machine: set the names by which clients call it, with `--host NAME`, or `hosts` \
         under `[serve]` in config.toml"
    )]
    Nameless(SocketAddr),
}

impl GateSettings {
    /// Whether the server may listen at this address.
    pub fn check(&self, listen: SocketAddr) -> Result<(), UnsafeSettings> {
        let is_here = listen.ip().to_canonical().is_loopback();
        // Requests through a balancer on this machine come from this machine.
        if !self.requires_auth() && (!is_here || self.plain) {
            return Err(UnsafeSettings::Anybody(listen));
        }
        if !is_here && self.tls.is_none() && !self.plain {
            return Err(UnsafeSettings::Readable(listen));
        }
        if listen.ip().to_canonical().is_unspecified() && self.hosts.is_empty() {
            return Err(UnsafeSettings::Nameless(listen));
        }
        Ok(())
    }

    /// Whether clients must authenticate.
    pub fn requires_auth(&self) -> bool {
        self.tokens.is_some() || !self.issuers.is_empty() || self.client_ca().is_some()
    }

    /// The file of tokens, if clients are admitted by nothing else.
    pub fn only_tokens(&self) -> Option<&Path> {
        let is_only = self.issuers.is_empty() && self.client_ca().is_none();
        self.tokens.as_deref().filter(|_| is_only)
    }

    /// The authority of clients' certificates.
    pub fn client_ca(&self) -> Option<&Path> {
        self.tls.as_ref()?.client_ca.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_tokens() -> GateSettings {
        GateSettings {
            tokens: Some("tokens".into()),
            ..GateSettings::default()
        }
    }

    fn with_tls(client_ca: Option<&str>) -> GateSettings {
        GateSettings {
            tls: Some(TlsFiles {
                cert: "cert".into(),
                key: "key".into(),
                client_ca: client_ca.map(PathBuf::from),
            }),
            ..GateSettings::default()
        }
    }

    fn check(settings: &GateSettings, listen: &str) -> Result<(), String> {
        let listen = listen.parse().unwrap();
        let checked = settings.check(listen);
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn clients_of_other_machines_must_authenticate() {
        let open = GateSettings::default();
        for listen in [
            "127.0.0.1:0",
            "[::1]:80",
            "127.9.9.9:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert_eq!(check(&open, listen), Ok(()), "{listen}");
        }
        for listen in ["10.0.0.1:80", "0.0.0.0:80", "[::]:80", "[2001:db8::1]:80"] {
            for settings in [&open, &with_tls(None)] {
                let error = check(settings, listen).unwrap_err();
                assert!(
                    error.contains("serve-token") && error.contains(listen),
                    "{error}"
                );
            }
        }
        assert_eq!(check(&with_tls(Some("ca")), "10.0.0.1:443"), Ok(()));
    }

    #[test]
    fn behind_a_balancer_on_this_machine_clients_must_authenticate_too() {
        let open = GateSettings {
            plain: true,
            ..GateSettings::default()
        };
        assert!(check(&open, "127.0.0.1:80").is_err());
        let closed = GateSettings {
            plain: true,
            ..with_tokens()
        };
        assert_eq!(check(&closed, "127.0.0.1:80"), Ok(()));
    }

    #[test]
    fn messages_leave_this_machine_unencrypted_only_with_consent() {
        let error = check(&with_tokens(), "10.0.0.1:80").unwrap_err();
        assert!(
            error.contains("--tls-cert") && error.contains("--plain"),
            "{error}"
        );
        assert_eq!(check(&with_tokens(), "127.0.0.1:80"), Ok(()));
        let plain = GateSettings {
            plain: true,
            ..with_tokens()
        };
        assert_eq!(check(&plain, "10.0.0.1:80"), Ok(()));
    }

    #[test]
    fn a_server_at_all_addresses_needs_host_names() {
        let mut settings = GateSettings {
            plain: true,
            ..with_tokens()
        };
        for listen in ["0.0.0.0:80", "[::]:80"] {
            assert!(check(&settings, listen).unwrap_err().contains("--host"));
        }
        settings.hosts = vec!["acp.example.com".parse().unwrap()];
        assert_eq!(check(&settings, "[::]:80"), Ok(()));
    }
}
