//! Watching running chains, for programs of the same user: each process offers a socket, and listeners get the lines of
//! its trace. A new listener first gets the state of each connection: its heading, and the states of its proxies.
//!
//! | file | what it is |
//! |---|---|
//! | `unix/place` | the folders of the sockets, and their owners |
//! | `unix/offer` | a chain's side: a socket, and lines for all listeners |
//! | `unix/listeners` | the listeners, and their queues |
//! | `unix/find` | the other side: finding running chains |
//! | `elsewhere` | systems on which chains cannot be watched yet |
//!
//! Invariants: only processes of the user who runs a chain can watch it. Listeners never delay a chain: lines that do
//! not fit into a listener's queue are counted, and the count is sent instead. The lines contain text from outside.

#![forbid(unsafe_code)]

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use elsewhere as here;
#[cfg(unix)]
use unix as here;

use std::io;

pub use here::{Acceptor, Found, Offer, Stream, chains};

/// How many letters identify a connection.
const LETTERS: usize = 8;

/// Random letters, which identify a connection.
///
/// # Errors
///
/// If the system provides no randomness.
pub fn letters() -> io::Result<String> {
    let mut random = [0; LETTERS];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let letter = |byte: &u8| char::from(b'a' + byte % 26);
    Ok(random.iter().map(letter).collect())
}
