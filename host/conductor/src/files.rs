//! Whether the files that proxies read through the client are in the project.
//!
//! Whoever wrote the repository may have put a link into it, and clients follow links: a proxy that adds a file to a
//! prompt would give the agent a key of the user. The proxy itself sees paths only.
//!
//! A file that is not there passes: the client may be on another machine, and it says what is wrong.

use std::fs;
use std::future::pending;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use acp_chain_router::{FilePlace, FileRead};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// How long a file is looked for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many files are looked for at once, each in a thread of its own: a disk may hang.
const MOST: usize = 16;

/// The root of a repository has a file or a folder of this name.
const REPOSITORY: &str = ".git";

type Lookup = Pin<Box<dyn Future<Output = (u64, FilePlace)> + Send>>;

/// Looks for the files that the proxies of a connection read.
pub struct Files {
    open: FuturesUnordered<Lookup>,
    threads: Arc<Semaphore>,
}

impl Files {
    pub fn new() -> Self {
        Self {
            open: FuturesUnordered::new(),
            threads: Arc::new(Semaphore::new(MOST)),
        }
    }

    /// Begins to look for a file.
    pub fn look(&self, read: FileRead) {
        let threads = Arc::clone(&self.threads);
        let number = read.number;
        let lookup = async move {
            let found = timeout(PATIENCE, look(threads, read)).await;
            let place = found.ok().flatten().unwrap_or_else(|| {
                let seconds = PATIENCE.as_secs();
                FilePlace::Unknown(format!(
                    "whether a link leads out of the project there was not known within {seconds} s"
                ))
            });
            (number, place)
        };
        self.open.push(Box::pin(lookup));
    }

    /// Whether a file is looked for.
    pub fn are_awaited(&self) -> bool {
        !self.open.is_empty()
    }

    /// The next result, with the number of its read; pending if none is awaited. Cancel safe.
    pub async fn next(&mut self) -> (u64, FilePlace) {
        match self.open.next().await {
            Some(found) => found,
            None => pending().await,
        }
    }
}

/// Looks for a file in a thread; `None` if there is none.
async fn look(threads: Arc<Semaphore>, read: FileRead) -> Option<FilePlace> {
    let permit = threads.acquire_owned().await.ok()?;
    let (tell, told) = oneshot::channel();
    let look = move || {
        let folder = read.folder.as_deref().map(Path::new);
        let found = place(folder, Path::new(&read.path));
        drop(permit);
        // If it took too long, the read has failed.
        let _ = tell.send(found);
    };
    thread::Builder::new().spawn(look).ok()?;
    told.await.ok()
}

/// Whether a file is in the project of a session with this folder, with links resolved: in its repository or, outside
/// of one, beneath the folder. Without a known session, the folder is that of the file.
fn place(folder: Option<&Path>, path: &Path) -> FilePlace {
    // ACP has absolute paths only. A client may take another one for one in its folder, never in ours.
    let file = &folder.unwrap_or(Path::new("")).join(path);
    let Ok(real) = fs::canonicalize(file) else {
        return FilePlace::Within;
    };
    let own = folder.filter(|folder| file.starts_with(folder));
    let Some(begin) = own.or_else(|| file.parent()) else {
        return FilePlace::Within;
    };
    let is_root = |folder: &&Path| fs::symlink_metadata(folder.join(REPOSITORY)).is_ok();
    let root = begin.ancestors().find(is_root).unwrap_or(begin);
    // The user has opened the folder of the session, whatever leads there.
    let mut inner = [Some(root), own].into_iter().flatten();
    let is_within =
        |inner: &Path| fs::canonicalize(inner).is_ok_and(|inner| real.starts_with(inner));
    if inner.any(is_within) {
        FilePlace::Within
    } else {
        FilePlace::Outside(real)
    }
}

#[cfg(all(test, unix))]
mod tests;
