//! Listens to all running chains, and to those that start later, with a thread for each.

use std::collections::HashSet;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use acp_chain_live::{Found, Stream, chains};
use acp_chain_trace::{Line, Reader};

/// How often to look for new ones.
const LOOK: Duration = Duration::from_millis(500);

/// The maximum number of waiting lines. A chain whose lines nobody takes counts them, and does not wait.
const WAITING: usize = 4096;

/// News of a chain.
pub enum News {
    /// A chain runs.
    Begins(Found),
    /// It said this.
    Says(u32, PathBuf, Box<Line>),
    /// It has gone, or sends nothing that we understand.
    Ends(u32, PathBuf),
}

/// Listens from now on, until the receiver is dropped. Running chains come first.
///
/// # Errors
/// If the running chains cannot be found.
pub fn all() -> Result<Receiver<News>, String> {
    let wrong = |error| format!("it cannot be found out which chains run: {error}");
    let running = chains().map_err(wrong)?;
    let (tell, news) = sync_channel(WAITING);
    let mut known = HashSet::new();
    let look = thread::Builder::new().name("look".to_owned());
    look.spawn(move || {
        let mut running = running;
        loop {
            // A new one may reuse the name of one that has ended.
            known.retain(|path| running.iter().any(|found: &Found| found.path == *path));
            for found in &running {
                if known.contains(&found.path) {
                    continue;
                }
                // One that cannot be reached has ended just now, or can be later.
                let Ok(stream) = found.connect() else {
                    continue;
                };
                known.insert(found.path.clone());
                if !listen(found.clone(), stream, &tell) {
                    return;
                }
            }
            thread::sleep(LOOK);
            if let Ok(now) = chains() {
                running = now;
            }
        }
    })
    .map_err(wrong)?;
    Ok(news)
}

/// Listens to a chain. Returns whether anybody still receives.
fn listen(found: Found, stream: Stream, tell: &SyncSender<News>) -> bool {
    if tell.send(News::Begins(found.clone())).is_err() {
        return false;
    }
    let tell = tell.clone();
    let reads = thread::Builder::new().name("listen".to_owned());
    reads.spawn(move || read(found, stream, &tell)).is_ok()
}

fn read(found: Found, stream: Stream, tell: &SyncSender<News>) {
    for line in Reader::new(BufReader::new(stream)) {
        let Ok((_, line)) = line else { break };
        let says = News::Says(found.process, found.path.clone(), line.into());
        if tell.send(says).is_err() {
            return;
        }
    }
    let _ = tell.send(News::Ends(found.process, found.path));
}
