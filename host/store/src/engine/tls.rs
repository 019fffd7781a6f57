//! Encryption of the connection to `PostgreSQL`: the certificate is always verified, with the name of the host.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

use acp_chain_rpc::untrusted::Untrusted;

use super::Unusable;

/// Encrypts connections.
#[derive(Clone, Debug)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the authorities in a file, or else those of the system.
    pub fn new(authorities: Option<&Path>) -> Result<Self, Unusable> {
        let roots = match authorities {
            Some(path) => of_file(path)?,
            None => of_system(),
        };
        Self::of(roots)
    }

    /// Trusts nobody: for connections that are not encrypted.
    pub fn unused() -> Result<Self, Unusable> {
        Self::of(RootCertStore::empty())
    }

    fn of(roots: RootCertStore) -> Result<Self, Unusable> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Unusable(format!("TLS cannot be used: {error}")))?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

fn of_file(path: &Path) -> Result<RootCertStore, Unusable> {
    let wrong = |what: &dyn Display| {
        let path = Untrusted::new(path.display());
        Unusable(format!(
            "{path}: {what}; `store-ca` names the authorities (PEM) of the database's certificate"
        ))
    };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"it has no certificate"));
    }
    Ok(roots)
}

/// Without any, no certificate is accepted.
fn of_system() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let _ = roots.add_parsable_certificates(found.certs);
    roots
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = EncryptedStream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake {
            connector: TlsConnector::from(Arc::clone(&self.0)),
            // This is asked for even where nothing is encrypted, and a socket has no name.
            name: ServerName::try_from(host.to_owned()).ok(),
        })
    }
}

/// A handshake with the host of this name, if it is one.
pub struct Handshake {
    connector: TlsConnector,
    name: Option<ServerName<'static>>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = self.name.ok_or(io::ErrorKind::InvalidInput)?;
            let stream = self.connector.connect(name, socket).await?;
            Ok(EncryptedStream(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub struct EncryptedStream(Box<client::TlsStream<Socket>>);

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}

impl TlsStream for EncryptedStream {
    // The certificate is verified, so passwords need not be bound to it.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
