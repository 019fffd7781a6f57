//! Idle connections, and busy ones with one turn after the other.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use super::client::{Client, Connector};
use super::servers::{RunningServer, Transport};
use crate::measures::stats::{number, quantile};

/// How many connections begin at once.
const AT_ONCE: usize = 16;

/// How long a server has to settle.
const REST: Duration = Duration::from_secs(3);

/// The size of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// The number of idle connections.
    pub idle: usize,
    /// The number of busy connections.
    pub busy: usize,
    /// How long they are busy.
    pub time: Duration,
}

/// The cost of idle connections.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IdleFigures {
    /// The number of connections.
    pub connections: usize,
    /// How many opened per second.
    pub per_second: f64,
    /// Processor time of the server to begin one, in milliseconds.
    pub cpu_ms: f64,
    /// Memory of the server for one, in KiB.
    pub memory_kib: f64,
}

/// The performance of busy connections.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BusyFigures {
    /// The number of connections.
    pub connections: usize,
    /// Turns per second, of all of them.
    pub per_second: f64,
    /// The median time of a turn, in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// Processor time of the server for a turn, in milliseconds.
    pub cpu_ms: f64,
}

/// Measures a server over one transport, and ends it.
pub async fn measure(
    running: RunningServer,
    transport: Transport,
    size: &Size,
) -> Result<(IdleFigures, BusyFigures)> {
    // Fixed costs are not attributed to connections.
    let first = Connector::new(&running.address, transport)
        .begin()
        .await?
        .rest();
    sleep(REST).await;
    let before = running.tree();
    let (memory, time) = (before.memory(), before.time());
    let since = Instant::now();
    let clients = begin_all(&running.address, transport, size.idle).await?;
    let took = since.elapsed();
    let idle: Vec<_> = clients.into_iter().map(Client::rest).collect();
    let spent = running.tree().time().saturating_sub(time);
    sleep(REST).await;
    #[allow(clippy::cast_precision_loss, reason = "no memory is so large")]
    let grown = running.tree().memory().saturating_sub(memory) as f64;
    let begun = IdleFigures {
        connections: size.idle,
        per_second: number(size.idle) / took.as_secs_f64(),
        cpu_ms: spent.as_secs_f64() * 1000.0 / number(size.idle),
        memory_kib: grown / 1024.0 / number(size.idle),
    };
    let busy = busy(&running, transport, size).await?;
    let ended = idle
        .iter()
        .chain([&first])
        .filter(|idle| idle.is_finished());
    let ended = ended.count();
    ensure!(ended == 0, "{ended} idle connections have ended");
    idle.iter().for_each(JoinHandle::abort);
    running.end().await?;
    Ok((begun, busy))
}

async fn begin_all(address: &str, transport: Transport, count: usize) -> Result<Vec<Client>> {
    let mut tasks = JoinSet::new();
    for which in 0..AT_ONCE {
        let mut connector = Connector::new(address, transport);
        let share = count / AT_ONCE + usize::from(which < count % AT_ONCE);
        tasks.spawn(async move {
            let mut clients = Vec::new();
            for _ in 0..share {
                clients.push(connector.begin().await?);
            }
            anyhow::Ok(clients)
        });
    }
    let mut clients = Vec::new();
    while let Some(some) = tasks.join_next().await {
        clients.extend(some??);
    }
    Ok(clients)
}

async fn busy(running: &RunningServer, transport: Transport, size: &Size) -> Result<BusyFigures> {
    let clients = begin_all(&running.address, transport, size.busy).await?;
    let warm = Instant::now() + size.time / 4;
    let end = warm + size.time;
    let mut tasks = JoinSet::new();
    for mut client in clients {
        tasks.spawn(async move {
            let mut took = Vec::new();
            while Instant::now() < end {
                let turn = client.turn().await?;
                // Only turns that ended in the measured time.
                if (warm..end).contains(&Instant::now()) {
                    took.push(turn.as_secs_f64() * 1000.0);
                }
            }
            anyhow::Ok(took)
        });
    }
    sleep(warm - Instant::now()).await;
    let before = running.tree().time();
    sleep(end - Instant::now()).await;
    let spent = running.tree().time().saturating_sub(before);
    let mut took = Vec::new();
    while let Some(some) = tasks.join_next().await {
        took.extend(some??);
    }
    let turns = number(took.len());
    let mut part = |part| quantile(&mut took, part).context("no turn has ended");
    Ok(BusyFigures {
        connections: size.busy,
        per_second: turns / size.time.as_secs_f64(),
        p50_ms: part(0.5)?,
        p99_ms: part(0.99)?,
        cpu_ms: spent.as_secs_f64() * 1000.0 / turns,
    })
}
