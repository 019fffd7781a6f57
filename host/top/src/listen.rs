//! Reads the lines of all running chains, and of those that start later, with a thread for each.

use std::collections::HashMap;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::TopError;
use acp_chain_live::{Found, Stream, chains};
use acp_chain_trace::{Line, Reader, TraceError};

/// How often to look for new chains.
const LOOK: Duration = Duration::from_millis(500);

/// The maximum number of waiting lines. Beyond it, chains count their lines, and do not wait.
const WAITING: usize = 4096;

/// News of a process with chains.
pub enum News {
    /// A process with chains was found.
    Begins(Found),
    /// The process sent this line.
    Says(u32, PathBuf, Box<Line>),
    /// The process runs, but its lines cannot be read, for this reason.
    Fails(u32, PathBuf, String),
    /// The process has ended.
    Ends(u32, PathBuf),
}

/// Starts to listen, until the receiver is dropped. Running chains are reported first.
pub fn all() -> Result<Receiver<News>, TopError> {
    let running = chains().map_err(TopError::Chains)?;
    let (tell, news) = sync_channel(WAITING);
    let mut known = HashMap::<PathBuf, (u32, JoinHandle<()>)>::new();
    let look = thread::Builder::new().name("look".to_owned());
    look.spawn(move || {
        let mut running = running;
        loop {
            known.retain(|path, (process, _)| {
                let runs = running.iter().any(|found: &Found| found.path == *path);
                if !runs {
                    // The reading thread may have ended earlier, without reporting this.
                    let _ = tell.send(News::Ends(*process, path.clone()));
                }
                runs
            });
            for found in &running {
                // A chain that closed the connection may accept one later.
                let listens = known.get(&found.path);
                if listens.is_some_and(|(_, listens)| !listens.is_finished()) {
                    continue;
                }
                // A chain that cannot be reached has just ended, or may be reachable later.
                let Ok(stream) = found.connect() else {
                    continue;
                };
                let Some(listens) = listen(found.clone(), stream, &tell) else {
                    return;
                };
                known.insert(found.path.clone(), (found.process, listens));
            }
            thread::sleep(LOOK);
            if let Ok(now) = chains() {
                running = now;
            }
        }
    })
    .map_err(TopError::Chains)?;
    Ok(news)
}

/// Listens to a chain; `None` if the receiver is dropped, or no thread can be started.
fn listen(found: Found, stream: Stream, tell: &SyncSender<News>) -> Option<JoinHandle<()>> {
    tell.send(News::Begins(found.clone())).ok()?;
    let tell = tell.clone();
    let reads = thread::Builder::new().name("listen".to_owned());
    reads.spawn(move || read(found, stream, &tell)).ok()
}

fn read(found: Found, stream: Stream, tell: &SyncSender<News>) {
    let Found { path, process } = found;
    let mut reader = Reader::new(BufReader::new(stream));
    let mut has_received = false;
    while let Some(read) = reader.next() {
        has_received = true;
        match read {
            Ok((_, line)) => {
                let says = News::Says(process, path.clone(), line.into());
                if tell.send(says).is_err() {
                    return;
                }
            }
            // A chain that ends may leave a partial line.
            Err(TraceError::Unreadable(_)) => break,
            Err(error) => {
                let why = format!("cannot be read: line {error}");
                let _ = tell.send(News::Fails(process, path.clone(), why));
                // The process runs until it closes the connection.
                let _ = io::copy(reader.input(), &mut io::sink());
            }
        }
    }
    let _ = tell.send(if has_received || !path.exists() {
        News::Ends(process, path)
    } else {
        let why = "closed the connection before it sent anything; retrying";
        News::Fails(process, path, why.to_owned())
    });
}
