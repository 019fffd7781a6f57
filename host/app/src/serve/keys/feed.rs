//! The server's side of the watching process.

use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use acp_chain_remote::gate::{Gate, GateSettings, Keys};
use acp_chain_remote::server::tls::Tls;
use acp_chain_rpc::json_lines;

use super::{KeySources, files};

/// The minimum time between two reports that keys may be missing.
const PAUSE: Duration = Duration::from_secs(1);

/// The watching process, and the pipes to it.
pub struct KeysFeed {
    child: Child,
    asks: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl KeysFeed {
    /// Starts the process, if there is something to watch. An error if one of the files is malformed.
    pub fn begin(
        settings: &GateSettings,
        program: &Path,
        log: Option<&Path>,
    ) -> io::Result<Option<Self>> {
        let watched = KeySources::of(settings);
        if watched.is_empty() {
            return Ok(None);
        }
        files::check(&watched).map_err(io::Error::other)?;
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(log) = log {
            command.arg("--log-file").arg(log);
        }
        let mut child = command.arg("watch-keys").spawn()?;
        let (Some(mut asks), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        json_lines::send(&mut asks, &watched)?;
        Ok(Some(Self {
            child,
            asks,
            lines: BufReader::new(output).lines(),
        }))
    }

    /// The first keys. Takes as long as issuers take to answer, but a few seconds at most.
    pub fn first(&mut self) -> io::Result<Keys> {
        let first = next(&mut self.lines);
        first.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
    }

    /// Keeps a gate, and our certificate, up to date. Call it on a runtime, after rights are given up.
    pub fn keep(self, gate: Arc<Gate>, tls: Option<Tls>) -> io::Result<()> {
        let Self {
            mut child,
            mut asks,
            mut lines,
        } = self;
        let asking = gate.clone();
        tokio::spawn(async move {
            loop {
                asking.lacks_keys().await;
                // A line is far shorter than the pipe's capacity.
                if asks.write_all(b"\n").is_err() {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        let follow = move || {
            while let Some(next) = next(&mut lines) {
                match next {
                    Ok(keys) => apply(keys, &gate, tls.as_ref()),
                    Err(error) => tracing::error!("the keys are malformed: {error}"),
                }
            }
            let ended = match child.wait() {
                // It ends like this when the server does.
                Ok(status) if status.success() => return,
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            };
            tracing::error!(
                "the process that watches the keys has ended ({ended}), so they stay as they are; restart the server \
                 to read them again"
            );
        };
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(follow)?;
        Ok(())
    }
}

fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<io::Result<Keys>> {
    let line = lines.next()?;
    Some(line.and_then(|line| serde_json::from_str(&line).map_err(Into::into)))
}

fn apply(keys: Keys, gate: &Gate, tls: Option<&Tls>) {
    if let (Some(tls), Some(pair)) = (tls, &keys.certificate)
        && let Err(error) = tls.renew(pair)
    {
        tracing::error!("{error}; the previous certificate stays in use");
    }
    gate.update(keys);
}
