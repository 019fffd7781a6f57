//! Telling when the sources of a project have changed: by the system's word, and then by what they say. What
//! is written again as it was is no change, and neither is anything that a build makes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::extension::Digest;

/// So long nothing may happen before it is looked what did: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(50);

/// How often that may begin anew, for a program that writes all the time.
const MOST_WAITS: usize = 20;

/// What builds and their tools write, beside what has a name that begins with a dot.
const MADE: [&str; 5] = [
    acp_chain_author::BUILD,
    "target",
    "node_modules",
    "__pycache__",
    "Cargo.lock",
];

/// How much of a file is read, in bytes, and how many there may be.
const MOST_BYTES: u64 = 16 << 20;
const MOST_FILES: usize = 10_000;

/// The sources of a project.
pub struct Sources {
    folder: PathBuf,
    /// A file elsewhere that belongs to them.
    beside: Option<PathBuf>,
    watcher: RecommendedWatcher,
    happened: mpsc::Receiver<()>,
}

impl Sources {
    /// Begins to watch.
    pub fn watch(folder: &Path, beside: Option<&Path>) -> Result<Self, String> {
        let (happens, happened) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // One word is as good as many.
                let _ = happens.try_send(());
            }
        });
        let watcher = watcher.map_err(|error| format!("nothing can be watched: {error}"))?;
        Ok(Self {
            folder: folder.to_owned(),
            beside: beside.map(Path::to_owned),
            watcher,
            happened,
        })
    }

    /// Waits until something happened, and then nothing for a moment. Cancel safe, but for that moment.
    pub async fn changed(&mut self) {
        if self.happened.recv().await.is_none() {
            return std::future::pending().await;
        }
        for _ in 0..MOST_WAITS {
            if timeout(QUIET, self.happened.recv()).await.is_err() {
                return;
            }
        }
    }

    /// What they say, as a digest. All folders that there are now are watched from here on.
    pub fn digest(&mut self) -> Digest {
        let mut files: Vec<_> = self.beside.clone().into_iter().collect();
        if let Some(folder) = files.first().and_then(|file| file.parent()) {
            self.add(folder);
        }
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            // Watched first, so that nothing is missed that comes while it is read.
            self.add(&folder);
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| is_source(&entry.file_name())) {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => files.push(entry.path()),
                    _ => {}
                }
            }
            if files.len() + folders.len() > MOST_FILES {
                tracing::warn!("the project has more files than are watched");
                break;
            }
        }
        files.sort();
        let mut all = Vec::new();
        for file in files {
            all.extend(file.as_os_str().as_encoded_bytes());
            // One that is gone by now says nothing.
            let read = File::open(&file).and_then(|file| Digest::read(file.take(MOST_BYTES)));
            all.extend(
                read.map_or_else(|_| String::new(), |read| read.hex())
                    .into_bytes(),
            );
            all.push(0);
        }
        Digest::of(&all)
    }

    fn add(&mut self, folder: &Path) {
        if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
            tracing::warn!("{} cannot be watched: {error}", folder.display());
        }
    }
}

/// Whether something of this name can be a source: no other program's own business, nor what is made.
fn is_source(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with('.') && !name.ends_with('~') && !MADE.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_as_it_was_or_made_by_a_build_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["src", "build", "node_modules", ".git"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path("src/proxy.c"), "a").unwrap();
        let mut sources = Sources::watch(folder.path(), None).unwrap();
        let first = sources.digest();
        for name in [
            "build/x",
            "node_modules/x",
            ".git/x",
            "src/.x.swp",
            "src/x~",
        ] {
            fs::write(path(name), "x").unwrap();
        }
        fs::write(path("src/proxy.c"), "a").unwrap();
        assert_eq!(sources.digest(), first);
        fs::write(path("src/proxy.c"), "b").unwrap();
        sources.changed().await;
        assert_ne!(sources.digest(), first);
    }

    #[tokio::test]
    async fn folders_that_come_are_watched_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut sources = Sources::watch(folder.path(), None).unwrap();
        sources.digest();
        fs::create_dir(folder.path().join("src")).unwrap();
        sources.changed().await;
        let before = sources.digest();
        fs::write(folder.path().join("src/new.c"), "x").unwrap();
        sources.changed().await;
        assert_ne!(sources.digest(), before);
    }
}
