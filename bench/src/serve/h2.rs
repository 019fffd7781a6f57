//! Notifications over one HTTP/2 connection, by `h2load`; the server answers at once.

use std::process::Stdio;

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::process::Command;

use super::Size;
use super::client::Posts;
use super::servers::{Places, RunningServer};

/// A message of one session that the agent does not answer.
const NOTIFICATION: &str =
    r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"session-1"}}"#;

/// The results of `h2load`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rates {
    /// Requests in a second.
    pub per_second: f64,
    /// The number of requests.
    pub requests: usize,
}

/// Measures a server, and ends it.
pub async fn measure(running: RunningServer, places: &Places, size: &Size) -> Result<Rates> {
    let posts = Posts::begin(&running.address).await?;
    let file = places.scratch.join("notification.json");
    tokio::fs::write(&file, NOTIFICATION).await?;
    let requests = size.busy * 40;
    let mut h2load = Command::new(&places.h2load);
    h2load.args(["-n", &requests.to_string(), "-c", "1", "-m", "32", "-d"]);
    h2load.arg(&file);
    for header in [
        "content-type: application/json".to_owned(),
        format!("acp-connection-id: {}", posts.connection()),
        "acp-session-id: session-1".to_owned(),
    ] {
        h2load.arg("-H").arg(header);
    }
    h2load.arg(format!("http://{}/acp", running.address));
    let output = h2load.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = output.await.context("h2load does not start")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    running.end().await?;
    read(&said, requests).with_context(|| {
        let error = String::from_utf8_lossy(&output.stderr);
        format!("h2load printed:\n{said}{error}")
    })
}

fn read(said: &str, requests: usize) -> Option<Rates> {
    let codes = said
        .lines()
        .find(|line| line.starts_with("status codes:"))?;
    codes.contains(&format!(" {requests} 2xx")).then_some(())?;
    let finished = said.lines().find(|line| line.starts_with("finished in"))?;
    let rate = finished
        .split(", ")
        .find_map(|part| part.strip_suffix(" req/s"))?;
    Some(Rates {
        per_second: rate.parse().ok()?,
        requests,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_counts_only_if_all_requests_were_taken() {
        let said = "\nfinished in 1.50s, 13333.33 req/s, 500.00KB/s\nrequests: 20000 total\nstatus codes: 20000 2xx, 0 3xx, 0 4xx, 0 5xx\n";
        let rates = read(said, 20_000).unwrap();
        assert!((rates.per_second - 13333.33).abs() < 1e-9);
        assert!(read(said, 30_000).is_none());
    }
}
