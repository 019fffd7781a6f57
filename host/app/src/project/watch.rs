//! Detects changes of a project, or of the user's decision about it, by notifications of the system instead of polling.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use acp_chain_rpc::Mutex;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use acp_chain_system::files::Identity;

/// How long there must be no notification before changes are examined: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(300);

/// How often that wait may be repeated, in case a program writes all the time.
const MOST_WAITS: usize = 1000;

/// Watches folders, but nothing deeper.
pub struct Watch(Option<Mutex<Watching>>);

struct Watching {
    watcher: RecommendedWatcher,
    /// The watched folders.
    known: HashMap<PathBuf, Identity>,
}

/// Notifications about watched folders.
pub struct Notifications(Receiver<()>);

/// Starts to watch, without folders at first.
pub fn begin() -> (Watch, Notifications) {
    let (sender, notifications) = channel();
    let watcher = notify::recommended_watcher(send_to(sender));
    let watcher = watcher.inspect_err(|error| {
        tracing::warn!("changes of projects are seen only when sessions begin: {error}");
    });
    let watching = watcher.ok().map(|watcher| {
        let known = HashMap::new();
        Mutex::new(Watching { watcher, known })
    });
    (Watch(watching), Notifications(notifications))
}

fn send_to(sender: Sender<()>) -> impl FnMut(notify::Result<notify::Event>) {
    move |event| {
        let changes = event.is_ok_and(|event| !event.kind.is_access());
        if changes {
            let _ = sender.send(());
        }
    }
}

impl Watch {
    /// Watches a folder, even if its path is watched already: another folder may have replaced it.
    pub fn add(&self, folder: &Path) {
        // A folder that does not exist needs no watching.
        let (Some(watching), Some(identity)) = (&self.0, Identity::of(folder)) else {
            return;
        };
        let mut watching = watching.lock();
        let Watching { watcher, known } = &mut *watching;
        // Inotify recognizes watched folders, even if a new folder has the identity of an old one. On other systems,
        // each call costs memory, or misses changes meanwhile.
        if !cfg!(target_os = "linux") {
            if known.get(folder) == Some(&identity) {
                return;
            }
            if known.insert(folder.to_owned(), identity).is_some() {
                // The watch may have ended already.
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

impl Notifications {
    /// Waits for a notification, and then until there are none for [`QUIET`]. Returns false if nothing is watched any
    /// longer.
    pub fn wait(&self) -> bool {
        let Ok(()) = self.0.recv() else { return false };
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
