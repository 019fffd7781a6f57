//! What a server of chains takes, beside one over the reference crate: `cargo xtask bench --serve`.
//!
//! Each server starts a process of the same agent for each connection. All of its figures are of the server's own
//! processes; the agents are left out.

mod client;
mod h2;
mod load;
pub mod report;
mod servers;

use anyhow::{Result, ensure};
use serde::Serialize;

pub use load::{Begun, Busy, Size};
pub use servers::{Places, Server, WAYS, Way};

/// What was found of one server.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Which one.
    pub server: Server,
    /// By each way to it.
    pub ways: Vec<OfWay>,
    /// Over HTTP/2.
    pub h2: h2::Rates,
}

/// What was found of a server by one way.
#[derive(Debug, Serialize)]
pub struct OfWay {
    /// Which way.
    pub way: Way,
    /// What connections take that do nothing.
    pub begun: Begun,
    /// What those do that have turns.
    pub busy: Busy,
}

/// Measures all servers, one after the other, each with as many connections as so many files and so much memory let it
/// have.
///
/// # Errors
/// If one does not do what it is asked.
pub async fn run(
    places: &Places,
    size: &Size,
    files: usize,
    memory: usize,
) -> Result<Vec<Figures>> {
    let mut all = Vec::new();
    for server in Server::ALL {
        let mut ways = Vec::new();
        for way in WAYS {
            eprintln!("{server}, over {way}");
            let most = server.fit(way, files).min(memory);
            let idle = size.idle.min(most.saturating_sub(size.busy + 1));
            ensure!(idle > 0, "there are too few files or too little memory");
            let size = Size {
                idle,
                ..size.clone()
            };
            let running = server.start(places).await?;
            let (begun, busy) = load::measure(running, way, &size).await?;
            ways.push(OfWay { way, begun, busy });
        }
        eprintln!("{server}, notifications over HTTP/2");
        let running = server.start(places).await?;
        let h2 = h2::measure(running, places, size).await?;
        all.push(Figures { server, ways, h2 });
    }
    Ok(all)
}
