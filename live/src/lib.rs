//! Chains that run, for others of the same user to watch: each process offers a socket, and who connects gets the lines
//! of its trace. First comes how things stand on each connection: its heading, and the states of its proxies.
//!
//! | file | what it is |
//! |---|---|
//! | `unix/place` | the folders that the sockets stand in, and who they belong to |
//! | `unix/offer` | a chain's side: a socket, and lines for all who listen |
//! | `unix/listeners` | who listens, and what waits for each of them |
//! | `unix/find` | the other side: the chains that run |
//! | `elsewhere` | systems on which chains cannot be watched yet |
//!
//! What always holds: only processes of the user who runs a chain hear of it. Who listens delays nobody: what does not
//! fit into its queue is counted, and the count is sent in its place. What the lines say is text from outside.

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
