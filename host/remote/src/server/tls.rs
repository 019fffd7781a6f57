//! Encryption of connections: TLS 1.2 and later, with ring.
//!
//! A certificate can be renewed at run time: new connections use the new one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::Untrusted;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig};

use crate::gate::PemPair;

/// The maximum size of a file, in bytes.
const LONGEST: u64 = 1 << 20;

/// The TLS state of a server.
#[derive(Clone, Debug)]
pub struct Tls {
    /// For new connections.
    pub config: Arc<ServerConfig>,
    current: Arc<CertResolver>,
}

/// Why connections cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{}: the file cannot be read: {error}", Untrusted::new(path.display()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file has other contents.
    #[error("{}: {what}", Untrusted::new(path.display()))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The problem, and the expected contents.
        what: String,
    },
    /// A renewed certificate cannot be used.
    #[error("the renewed certificate cannot be used: {0}")]
    Renewed(String),
}

/// Reads a certificate with its chain and key; and, if clients may show certificates, the authority for those. A
/// client's certificate is verified; it need not show one, as it may have a token.
pub fn load(cert: &Path, key: &Path, client_ca: Option<&Path>) -> Result<Tls, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let pair = PemPair {
        cert: read(cert)?,
        key: read(key)?,
    };
    let certified = certified(&pair, &provider).map_err(|wrong| match wrong {
        PairError::Cert(what) => wrong_file(cert, what),
        PairError::Key(what) => wrong_file(key, what),
    })?;
    let current = Arc::new(CertResolver(Mutex::new(Arc::new(certified))));
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong_file(cert, error.to_string()))?;
    let config = match client_ca {
        None => config.with_no_client_auth(),
        Some(path) => {
            let roots = Arc::new(authorities(path)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider)
                .allow_unauthenticated()
                .build();
            let verifier = verifier.map_err(|error| wrong_file(path, error.to_string()))?;
            config.with_client_cert_verifier(verifier)
        }
    };
    let mut config = config.with_cert_resolver(Arc::<CertResolver>::clone(&current));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Tls {
        config: Arc::new(config),
        current,
    })
}

impl Tls {
    /// Uses this certificate from now on. If it is unusable, the old one stays.
    pub fn renew(&self, pair: &PemPair) -> Result<(), TlsError> {
        let certified = certified(pair, self.config.crypto_provider());
        let certified = certified.map_err(|wrong| match wrong {
            PairError::Cert(what) | PairError::Key(what) => TlsError::Renewed(what),
        })?;
        *self.current.0.lock() = Arc::new(certified);
        Ok(())
    }
}

/// The current certificate.
struct CertResolver(Mutex<Arc<CertifiedKey>>);

impl fmt::Debug for CertResolver {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("CertResolver")
    }
}

impl ResolvesServerCert for CertResolver {
    fn resolve(&self, _hello: ClientHello) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.lock()))
    }
}

/// Whether the certificate or the key is faulty.
enum PairError {
    Cert(String),
    Key(String),
}

fn certified(pair: &PemPair, provider: &CryptoProvider) -> Result<CertifiedKey, PairError> {
    let chain = certificates(&pair.cert).map_err(PairError::Cert)?;
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes());
    let key = key.map_err(|error| match error {
        pem::Error::NoItemsFound => PairError::Key(
            "there is no private key in it that can be read: expected PEM, `-----BEGIN PRIVATE KEY-----`, without a \
             password"
                .to_owned(),
        ),
        error => PairError::Key(no_pem(&error)),
    })?;
    CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            PairError::Key("this is the key of another certificate".to_owned())
        }
        rustls::Error::InvalidCertificate(error) => {
            PairError::Cert(format!("the certificate cannot be used: {error}"))
        }
        error => PairError::Key(format!("the key cannot be used: {error}")),
    })
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let certificates = certificates(&read(path)?).map_err(|what| wrong_file(path, what))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let added = roots.add(certificate);
        added
            .map_err(|error| wrong_file(path, format!("a certificate cannot be used: {error}")))?;
    }
    Ok(roots)
}

/// The certificates of a PEM text, at least one, or the expected contents.
fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let all = all.map_err(|error| no_pem(&error))?;
    if all.is_empty() {
        let what = "there is no certificate in it: expected PEM, `-----BEGIN CERTIFICATE-----`";
        return Err(what.to_owned());
    }
    Ok(all)
}

fn no_pem(error: &pem::Error) -> String {
    format!("this is not PEM: {}", Untrusted::within(error, 200))
}

fn wrong_file(path: &Path, what: String) -> TlsError {
    TlsError::Wrong {
        path: path.to_owned(),
        what,
    }
}

fn read(path: &Path) -> Result<String, TlsError> {
    use std::io::{Error, ErrorKind, Read, read_to_string};
    let read = std::fs::File::open(path).and_then(|file| read_to_string(file.take(LONGEST)));
    match read {
        Ok(text) if text.len() as u64 == LONGEST => Err(wrong_file(
            path,
            "it is larger than 1 MiB, and so no certificate or key".to_owned(),
        )),
        Ok(text) => Ok(text),
        Err(error) => Err(TlsError::Unreadable {
            path: path.to_owned(),
            error: match error.kind() {
                ErrorKind::InvalidData => Error::new(error.kind(), "it is not text; expected PEM"),
                _ => error,
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, ServerConnection};
    use tempfile::TempDir;

    use super::*;

    /// A certificate for `localhost`, and its key.
    fn pair() -> PemPair {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        PemPair {
            cert: params.self_signed(&key).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }

    struct Files {
        folder: TempDir,
    }

    impl Files {
        fn new(pair: &PemPair) -> Self {
            let files = Self {
                folder: tempfile::tempdir().unwrap(),
            };
            files.write("cert", &pair.cert);
            files.write("key", &pair.key);
            files
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            fs::write(self.path(name), text).unwrap();
        }

        fn load(&self, client_ca: bool) -> Result<Tls, String> {
            let ca = self.path("ca");
            let ca = client_ca.then_some(&*ca);
            load(&self.path("cert"), &self.path("key"), ca).map_err(|error| error.to_string())
        }
    }

    /// Does a handshake with a server, and returns the negotiated protocol and its certificate, or the error.
    fn shake_hands(
        tls: &Tls,
        trusted: &PemPair,
        own: Option<(&str, &str)>,
    ) -> Result<ServerConnection, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(trusted.cert.as_bytes()).unwrap())
            .unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match own {
            None => config.with_no_client_auth(),
            Some((cert, key)) => {
                let cert = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                config.with_client_auth_cert(vec![cert], key).unwrap()
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut server = ServerConnection::new(Arc::clone(&tls.config)).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let mut crossing = Vec::new();
            client.write_tls(&mut crossing).unwrap();
            server.read_tls(&mut &*crossing).unwrap();
            server.process_new_packets()?;
            crossing.clear();
            server.write_tls(&mut crossing).unwrap();
            client.read_tls(&mut &*crossing).unwrap();
            client.process_new_packets()?;
        }
        Ok(server)
    }

    #[test]
    fn a_renewed_certificate_is_used_and_a_broken_one_is_not() {
        let (first, second) = (pair(), pair());
        let tls = Files::new(&first).load(false).unwrap();
        let server = shake_hands(&tls, &first, None).unwrap();
        assert_eq!(server.alpn_protocol(), Some(&b"h2"[..]));
        assert!(shake_hands(&tls, &second, None).is_err());
        tls.renew(&second).unwrap();
        assert!(shake_hands(&tls, &second, None).is_ok());
        let mixed = PemPair {
            cert: first.cert.clone(),
            key: second.key.clone(),
        };
        let error = tls.renew(&mixed).unwrap_err().to_string();
        assert!(error.contains("the key of another certificate"), "{error}");
        assert!(shake_hands(&tls, &second, None).is_ok());
    }

    #[test]
    fn a_client_shows_a_certificate_of_the_authority_or_none() {
        let own = pair();
        let authority = |name: &str| {
            let mut params = CertificateParams::new([name.to_owned()]).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
        };
        let issued = |authority: &CertifiedIssuer<'_, KeyPair>| {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(["alice".to_owned()]).unwrap();
            let cert = params.signed_by(&key, authority).unwrap();
            (cert.pem(), key.serialize_pem())
        };
        let (ours, other) = (authority("ours"), authority("other"));
        let files = Files::new(&own);
        files.write("ca", ours.pem());
        let tls = files.load(true).unwrap();
        let (cert, key) = issued(&ours);
        let server = shake_hands(&tls, &own, Some((&cert, &key))).unwrap();
        let shown = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
        assert_eq!(server.peer_certificates(), Some(&[shown][..]));
        assert!(
            shake_hands(&tls, &own, None)
                .unwrap()
                .peer_certificates()
                .is_none()
        );
        let (cert, key) = issued(&other);
        assert!(shake_hands(&tls, &own, Some((&cert, &key))).is_err());
    }

    #[test]
    fn an_error_names_the_file() {
        let own = pair();
        let error = |name: &str, text: &[u8], client_ca| {
            let files = Files::new(&own);
            files.write("ca", &own.cert);
            files.write(name, text);
            let error = files.load(client_ca).unwrap_err();
            assert!(
                error.starts_with(files.path(name).to_str().unwrap()),
                "{error}"
            );
            error
        };
        assert!(error("cert", b"", false).contains("no certificate in it"));
        assert!(error("cert", own.key.as_bytes(), false).contains("no certificate in it"));
        assert!(error("cert", b"-----BEGIN CERTIFICATE-----\n", false).contains("not PEM"));
        assert!(
            error(
                "cert",
                b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                false
            )
            .contains("cannot be used")
        );
        assert!(error("cert", b"\xff", false).contains("not text"));
        assert!(error("cert", &vec![b'a'; 2 << 20], false).contains("larger than"));
        assert!(error("key", own.cert.as_bytes(), false).contains("no private key"));
        assert!(error("key", pair().key.as_bytes(), false).contains("another certificate"));
        assert!(error("ca", b"", true).contains("no certificate in it"));
        let files = Files::new(&own);
        fs::remove_file(files.path("key")).unwrap();
        assert!(
            files
                .load(false)
                .unwrap_err()
                .contains("the file cannot be read")
        );
    }
}
