//! Detects changes of a project's sources: by notifications of the system, and then by content. Rewriting a file
//! unchanged is no change, and neither is anything that a build writes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::timeout;
use walkdir::{DirEntry, WalkDir};

use super::tell;
use crate::{Error, Report};
use acp_chain_extension::Digest;
use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::apart;
use acp_chain_system::files::{Identity, real};

/// How long it must be quiet before changes are examined: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(20);

/// How often that wait may be repeated, in case a program writes all the time.
const MOST_WAITS: usize = 50;

/// The output of builds and their tools, besides hidden files.
const MADE: [&str; 5] = [
    acp_chain_author::BUILD,
    "target",
    "node_modules",
    "__pycache__",
    "Cargo.lock",
];

/// The maximum number of bytes read from a file, and the maximum number of files.
const MOST_BYTES: u64 = 16 << 20;
const MOST_FILES: usize = 10_000;

/// The sources of a project.
pub struct Sources {
    tree: Arc<Mutex<Tree>>,
    happened: mpsc::Receiver<()>,
}

/// The places of the sources.
struct Tree {
    folder: PathBuf,
    /// A source outside the folder.
    beside: Option<PathBuf>,
    /// Files that we write ourselves.
    written: Vec<PathBuf>,
    watcher: RecommendedWatcher,
    /// The watched folders. A recreated one must be watched again.
    watched: HashMap<PathBuf, Option<Identity>>,
    /// Whether the developer was warned that not all folders are watched.
    has_warned: bool,
    report: &'static dyn Report,
}

impl Sources {
    /// Starts to watch. The files that we write, `written`, are not sources.
    pub fn watch(
        folder: &Path,
        beside: Option<&Path>,
        written: &[PathBuf],
        report: &'static dyn Report,
    ) -> Result<Self, Error> {
        let (happens, happened) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // One notification is enough.
                let _ = happens.try_send(());
            }
        });
        let watcher = watcher.map_err(Error::Watcher)?;
        let written = written.iter().filter_map(|path| real(path).ok());
        let tree = Tree {
            folder: folder.to_owned(),
            beside: beside.map(Path::to_owned),
            written: written.collect(),
            watcher,
            watched: HashMap::new(),
            has_warned: false,
            report,
        };
        Ok(Self {
            tree: Arc::new(Mutex::new(tree)),
            happened,
        })
    }

    /// Waits until something has happened, and then for a quiet moment. Cancel safe except for that moment.
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

    /// A digest of the sources' content; `None` if no thread can read them. All current folders are watched from here
    /// on. The chain continues meanwhile.
    pub async fn digest(&self) -> Option<Digest> {
        let tree = self.tree.clone();
        let digest = apart(move || {
            let mut tree = tree.lock();
            tree.digest()
        });
        digest.await.ok()
    }
}

impl Tree {
    fn digest(&mut self) -> Digest {
        let mut files: Vec<_> = self.beside.clone().into_iter().collect();
        if let Some(folder) = files.first().and_then(|file| file.parent()) {
            self.add(folder.to_owned());
        }
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            // Watched first, so no change is missed while it is read.
            self.add(folder.clone());
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| is_source(&entry.file_name())) {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_symlink() => files.extend(self.behind(&entry.path())),
                    Ok(kind) if kind.is_file() => files.push(entry.path()),
                    _ => {}
                }
            }
            if files.len() + folders.len() > MOST_FILES {
                self.warn(&format!(
                    "the project has more than {MOST_FILES} files; not all of them are watched"
                ));
                break;
            }
        }
        files.retain(|file| !self.written.contains(file));
        files.sort();
        let mut all = Vec::new();
        for file in files {
            all.extend(file.as_os_str().as_encoded_bytes());
            // A file that was removed meanwhile is ignored.
            let read = File::open(&file).and_then(|file| Digest::read(file.take(MOST_BYTES)));
            let read = read.map_or_else(|_| String::new(), |read| read.hex());
            all.extend(read.into_bytes());
            all.push(0);
        }
        Digest::of(&all)
    }

    /// The target of a symbolic link, if it is a file; it is watched in its place. Links to folders are not followed.
    fn behind(&mut self, link: &Path) -> Option<PathBuf> {
        let file = real(link).ok().filter(|file| file.is_file())?;
        self.add(file.parent()?.to_owned());
        Some(file)
    }

    fn add(&mut self, folder: PathBuf) {
        let identity = Identity::of(&folder);
        if self.watched.get(&folder) == Some(&identity) {
            return;
        }
        if let Err(error) = self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
            let folder = Untrusted::new(folder.display());
            self.warn(&format!(
                "{folder} cannot be watched: {error}; changes there are not noticed"
            ));
            return;
        }
        self.watched.insert(folder, identity);
    }

    /// Warns only once: most folders fail the same way, at each save.
    fn warn(&mut self, what: &str) {
        if !std::mem::replace(&mut self.has_warned, true) {
            tell(self.report, what);
        }
    }
}

/// The targets of links that lead out of a project: they are sources, too.
pub fn elsewhere(project: &Path) -> Vec<PathBuf> {
    let walk = WalkDir::new(project).min_depth(1).into_iter();
    let sources = walk.filter_entry(|entry| is_source(entry.file_name()));
    let links = sources.flatten().filter(DirEntry::path_is_symlink);
    let targets = links.filter_map(|link| real(link.path()).ok());
    targets
        .filter(|target| !target.starts_with(project))
        .collect()
}

/// Whether a file of this name can be a source: not another program's files, nor build results.
fn is_source(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with('.') && !name.ends_with('~') && !MADE.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[tokio::test]
    async fn rewriting_a_file_unchanged_and_building_are_no_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["src", "build", "node_modules", ".git"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path("src/proxy.c"), "a").unwrap();
        fs::write(path("log"), "").unwrap();
        let written = [path("log")];
        let mut sources = Sources::watch(folder.path(), None, &written, &Silent).unwrap();
        let first = sources.digest().await;
        for name in [
            "build/x",
            "node_modules/x",
            ".git/x",
            "src/.x.swp",
            "src/x~",
            "log",
        ] {
            fs::write(path(name), "x").unwrap();
        }
        fs::write(path("src/proxy.c"), "a").unwrap();
        assert_eq!(sources.digest().await, first);
        fs::write(path("src/proxy.c"), "b").unwrap();
        sources.changed().await;
        assert_ne!(sources.digest().await, first);
    }

    #[tokio::test]
    async fn new_folders_are_watched() {
        let folder = tempfile::tempdir().unwrap();
        let mut sources = Sources::watch(folder.path(), None, &[], &Silent).unwrap();
        sources.digest().await;
        fs::create_dir(folder.path().join("src")).unwrap();
        sources.changed().await;
        let before = sources.digest().await;
        fs::write(folder.path().join("src/new.c"), "x").unwrap();
        sources.changed().await;
        assert_ne!(sources.digest().await, before);
    }
}
