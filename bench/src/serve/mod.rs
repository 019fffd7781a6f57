//! The cost of a server of chains, compared with one built on the reference crate: `cargo xtask bench --serve`.
//!
//! Each server starts a process of the same agent for each connection. All figures are for the server's own
//! processes, without agents.

mod client;
pub mod failures;
mod h2;
// That of the tests.
#[path = "../../../tests/src/link.rs"]
mod link;
mod load;
pub mod replicas;
pub mod report;
mod roamer;
mod servers;

use anyhow::{Result, ensure};
use serde::Serialize;

pub use load::{BusyFigures, IdleFigures, Size};
pub use servers::{Places, Server, TRANSPORTS, Transport};

/// The results of one server.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// The server.
    pub server: Server,
    /// By transport.
    pub ways: Vec<TransportFigures>,
    /// Over HTTP/2.
    pub h2: h2::Rates,
}

/// The results of a server over one transport.
#[derive(Debug, Serialize)]
pub struct TransportFigures {
    /// The transport.
    pub way: Transport,
    /// The cost of idle connections.
    pub begun: IdleFigures,
    /// The performance of busy connections.
    pub busy: BusyFigures,
}

/// Measures all servers, one after the other, each with as many connections as this many files and this much memory
/// allow.
///
/// # Errors
/// If one misbehaves.
pub async fn run(
    places: &Places,
    size: &Size,
    files: usize,
    memory: usize,
) -> Result<Vec<Figures>> {
    let mut all = Vec::new();
    for server in Server::ALL {
        let mut ways = Vec::new();
        for transport in TRANSPORTS {
            eprintln!("{server}, over {transport}");
            let most = server.fit(transport, files).min(memory);
            let idle = size.idle.min(most.saturating_sub(size.busy + 1));
            ensure!(idle > 0, "there are too few files or too little memory");
            let size = Size {
                idle,
                ..size.clone()
            };
            let running = server.start(places).await?;
            let (begun, busy) = load::measure(running, transport, &size).await?;
            ways.push(TransportFigures {
                way: transport,
                begun,
                busy,
            });
        }
        eprintln!("{server}, notifications over HTTP/2");
        let running = server.start(places).await?;
        let h2 = h2::measure(running, places, size).await?;
        all.push(Figures { server, ways, h2 });
    }
    Ok(all)
}
