//! A client of HTTP, for what speaks it on this machine.

use reqwest::Client;

/// One that goes by no proxy.
///
/// # Panics
/// If there can be none.
#[must_use]
pub fn client() -> Client {
    // What `https:` would be spoken with has to be there, also where nobody speaks it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().expect("a client")
}
