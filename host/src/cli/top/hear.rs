//! Listens to all running chains, and to those that start later, with a thread for each.

use std::collections::HashMap;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use acp_chain_live::{Found, Stream, chains};
use acp_chain_trace::{Line, Reader, TraceError};

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
    /// It runs, and is not heard, for this reason.
    Fails(u32, PathBuf, String),
    /// It has gone.
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
    let mut known = HashMap::<PathBuf, (u32, JoinHandle<()>)>::new();
    let look = thread::Builder::new().name("look".to_owned());
    look.spawn(move || {
        let mut running = running;
        loop {
            known.retain(|path, (process, _)| {
                let runs = running.iter().any(|found: &Found| found.path == *path);
                if !runs {
                    // Perhaps nobody listened to it in the end.
                    let _ = tell.send(News::Ends(*process, path.clone()));
                }
                runs
            });
            for found in &running {
                // One that has hung up on us may let us listen later.
                let listens = known.get(&found.path);
                if listens.is_some_and(|(_, listens)| !listens.is_finished()) {
                    continue;
                }
                // One that cannot be reached has ended just now, or can be later.
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
    .map_err(wrong)?;
    Ok(news)
}

/// Listens to a chain, unless nobody receives any more.
fn listen(found: Found, stream: Stream, tell: &SyncSender<News>) -> Option<JoinHandle<()>> {
    tell.send(News::Begins(found.clone())).ok()?;
    let tell = tell.clone();
    let reads = thread::Builder::new().name("listen".to_owned());
    reads.spawn(move || read(found, stream, &tell)).ok()
}

fn read(found: Found, stream: Stream, tell: &SyncSender<News>) {
    let Found { path, process } = found;
    let mut reader = Reader::new(BufReader::new(stream));
    let mut is_heard = false;
    while let Some(read) = reader.next() {
        is_heard = true;
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
                let why = format!("cannot be understood: line {error}");
                let _ = tell.send(News::Fails(process, path.clone(), why));
                // It runs until it hangs up.
                let _ = io::copy(reader.input(), &mut io::sink());
            }
        }
    }
    let _ = tell.send(match is_heard || !path.exists() {
        true => News::Ends(process, path),
        false => {
            let why = "hung up before it said anything; it is asked again";
            News::Fails(process, path, why.to_owned())
        }
    });
}
