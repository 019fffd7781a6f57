//! Watching running chains, for programs of the same user: each process offers a socket, and listeners get the lines of
//! its trace. First comes the state of each connection: its heading, and the states of its proxies.
//!
//! | file | what it is |
//! |---|---|
//! | `unix/place` | the folders of the sockets, and their owners |
//! | `unix/offer` | a chain's side: a socket, and lines for all listeners |
//! | `unix/listeners` | the listeners, and their queues |
//! | `unix/find` | the other side: finding running chains |
//! | `elsewhere` | systems on which chains cannot be watched yet |
//!
//! Invariants: only processes of the user who runs a chain can watch it. Listeners delay nobody: lines that do not fit
//! into a listener's queue are counted, and the count is sent instead. The lines contain text from outside.

#![forbid(unsafe_code)]

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use elsewhere as here;
#[cfg(unix)]
use unix as here;

pub use here::{Door, Found, Offer, Stream, chains};
