//! A client of HTTP, for what speaks it on this machine, and a port at which nothing does.

use std::net::{Ipv4Addr, SocketAddr};

use reqwest::Client;
use tokio::net::TcpSocket;

/// One that goes by no proxy.
///
/// # Panics
/// If there can be none.
#[must_use]
pub fn client() -> Client {
    // What `https:` would be spoken with has to be there, also where nobody speaks it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Without the certificates of the system, which take longer to read than most requests.
    let client = Client::builder().no_proxy().tls_certs_only([]);
    client.build().expect("a client")
}

/// An address at which nothing listens, nor will as long as the socket is there: it is bound, and does not listen itself.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn nobody() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(any).expect("a port");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}
