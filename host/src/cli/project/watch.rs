//! Detects changes of a project, or of the user's decision about it: by notifications of the system, never by polling.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::system::files::Identity;

/// How long it must be quiet before changes are examined: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(300);

/// How many notifications are waited for in a row.
const MOST_WAITS: usize = 1000;

/// Watches folders, but nothing deeper.
pub struct Watch(Option<Mutex<Watching>>);

struct Watching {
    watcher: RecommendedWatcher,
    /// What is watched already.
    known: HashMap<PathBuf, Identity>,
}

/// Notifications from them.
pub struct Happenings(Receiver<()>);

/// Starts to watch, without folders at first.
pub fn begin() -> (Watch, Happenings) {
    let (happened, happenings) = channel();
    let watcher = notify::recommended_watcher(tell(happened));
    let watcher = watcher.inspect_err(|error| {
        tracing::warn!("changes of projects are seen only when sessions begin: {error}");
    });
    let watching = watcher.ok().map(|watcher| {
        let known = HashMap::new();
        Mutex::new(Watching { watcher, known })
    });
    (Watch(watching), Happenings(happenings))
}

fn tell(happened: Sender<()>) -> impl FnMut(notify::Result<notify::Event>) {
    move |event| {
        let changes = event.is_ok_and(|event| !event.kind.is_access());
        if changes {
            let _ = happened.send(());
        }
    }
}

impl Watch {
    /// Watches a folder, even if one with this path was watched before: it may be another one by now.
    pub fn add(&self, folder: &Path) {
        // One that has gone needs no watching.
        let (Some(watching), Some(identity)) = (&self.0, Identity::of(folder)) else {
            return;
        };
        let mut watching = watching.lock().unwrap_or_else(PoisonError::into_inner);
        let Watching { watcher, known } = &mut *watching;
        // Inotify knows them itself, even where a new folder has the identity of an old one. Elsewhere each call costs
        // memory, or loses what happens meanwhile.
        if !cfg!(target_os = "linux") {
            if known.get(folder) == Some(&identity) {
                return;
            }
            if known.insert(folder.to_owned(), identity).is_some() {
                // It may have stopped by itself.
                let _ = watcher.unwatch(folder);
            }
        }
        if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
            && folder.exists()
        {
            tracing::warn!("changes of a project are seen only when sessions begin: {error}");
        }
    }
}

impl Happenings {
    /// Waits for a notification, and then for a quiet while. Returns false if nothing is watched any longer.
    pub fn wait(&self) -> bool {
        let Ok(()) = self.0.recv() else {
            return false;
        };
        // Something may write there all the time.
        for _ in 0..MOST_WAITS {
            match self.0.recv_timeout(QUIET) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }
}
