//! An HTTP client for servers on this machine, and a port at which nothing listens.

use std::net::{Ipv4Addr, SocketAddr};

use reqwest::Client;
use tokio::net::TcpSocket;

/// An HTTP client that uses no proxy.
///
/// # Panics
/// If the client cannot be built.
#[must_use]
pub fn client() -> Client {
    // The client needs a TLS provider, even without an `https:` URL.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Reading the system's certificates takes longer than most requests.
    let client = Client::builder().no_proxy().tls_certs_only([]);
    client.build().expect("a client")
}

/// An address at which nothing can listen while the socket exists: the socket is bound, but does not listen.
///
/// # Panics
/// If no address is free.
#[must_use]
pub fn nobody() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(any).expect("a port");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}
