//! The lines of all running chains, each read by a separate thread.

use std::collections::HashSet;
use std::io::{self, BufReader, ErrorKind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use acp_chain_live::{Found, Stream, chains};
use acp_chain_trace::{Reader, TraceError};
use bytes::Bytes;

use crate::log::{Entry, Log};

/// How often to look for new chains.
const PAUSE: Duration = Duration::from_millis(500);

/// Connects to the running chains, and to those that start later: reads their lines from threads. Calls `tell` with
/// errors of reading them.
///
/// # Errors
/// If the running chains cannot be found.
pub fn follow_chains(
    log: &Arc<Log>,
    tell: impl Fn(&str) + Clone + Send + 'static,
) -> io::Result<()> {
    let mut found = chains()?;
    let log = Arc::clone(log);
    thread::spawn(move || {
        let mut connected = HashSet::new();
        loop {
            connected.retain(|path| found.iter().any(|chain| chain.path == *path));
            for chain in &found {
                if connected.contains(&chain.path) {
                    continue;
                }
                match chain.connect() {
                    Ok(stream) => {
                        connected.insert(chain.path.clone());
                        read(&log, chain, stream, tell.clone());
                    }
                    // The chain has ended meanwhile.
                    Err(error) if error.kind() != ErrorKind::PermissionDenied => {}
                    Err(error) => {
                        connected.insert(chain.path.clone());
                        log.notice(&format!("process {}: {error}", chain.process));
                    }
                }
            }
            thread::sleep(PAUSE);
            // If the folder cannot be read, the chains that are known continue.
            if let Ok(now) = chains() {
                found = now;
            }
        }
    });
    Ok(())
}

/// Reads the lines of a chain, until it ends.
fn read(log: &Arc<Log>, chain: &Found, stream: Stream, tell: impl Fn(&str) + Send + 'static) {
    let log = Arc::clone(log);
    let name = format!("process {}", chain.process);
    let source = log.source(&name);
    thread::spawn(move || {
        let mut reader = Reader::new(BufReader::new(stream));
        while let Some(read) = reader.next() {
            match read {
                Ok((number, line)) => {
                    let (_, text) = reader.text();
                    let text = Bytes::copy_from_slice(text.trim_ascii());
                    log.append(source, vec![Entry::kept(line, number, text)]);
                }
                // A chain that ends may leave a partial line.
                Err(TraceError::Unreadable(_)) => break,
                Err(error) => {
                    let wrong = format!("{name}: line {error}");
                    tell(&wrong);
                    log.notice(&wrong);
                    break;
                }
            }
        }
        log.ended(source);
    });
}
