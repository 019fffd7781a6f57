//! Records of the user's decisions about projects: a file for each root.
//!
//! A record is replaced atomically. Only the user may write to the folder of records, and projects' files are copied
//! into it only with the user's consent.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde::{Deserialize, Serialize};

use super::agreed::Agreed;
use super::content::{Content, Keep};
use super::find::MANIFEST;
use super::worktree::{Worktree, is_marked};
use acp_chain_disk::{self as disk, DiskError};
use acp_chain_extension::{Carried, Digest, Lock};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

/// The version of the format.
const VERSION: u32 = 1;

/// The folder of copies of trusted projects.
const KEPT: &str = "kept";

/// The file extension of records.
const ENDING: &str = "json";

/// Records in a folder.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// The user's decision about one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    version: u32,
    /// The root of the project, without symbolic links.
    pub root: OsString,
    /// The time of the decision.
    pub since: String,
    /// The decision.
    pub verdict: TrustDecision,
    /// The repository and the root's path in it: the decision applies to all worktrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<(OsString, OsString)>,
    /// The digest of the content, independent of its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statement: Option<Digest>,
}

/// A user's decision about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustDecision {
    /// The proxies of the project may run, as long as its content stays the same.
    Trusted {
        /// The key of the content.
        key: Digest,
        /// The proxies and permissions that the user agreed to.
        agreed: Vec<Agreed>,
    },
    /// The proxies of the project may not run, whatever its content is.
    Denied,
}

/// The user's decision about the current content of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The user agreed to exactly this content.
    Trusted(Record),
    /// The user agreed to other content.
    Changed(Record),
    /// The user denied the project.
    Denied(Record),
    /// The user has not decided.
    Unknown,
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The system reports an error.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The record has an unknown version, or is damaged.
    #[error(
        "{}: this acp-chain cannot read this record; use the newer acp-chain that wrote it, or remove the \
         file and run `acp-chain trust` again",
        Untrusted::new(.0.display())
    )]
    Unreadable(PathBuf),
}

impl Record {
    /// A decision made now about the project with this root.
    pub fn now(root: &Path, verdict: TrustDecision) -> Self {
        Self {
            version: VERSION,
            root: root.as_os_str().to_owned(),
            since: format_rfc3339_seconds(SystemTime::now()).to_string(),
            verdict,
            repository: Worktree::of(root).map(parts),
            statement: None,
        }
    }

    /// A decision made now to trust this content.
    pub fn trusting(content: &Content, agreed: Vec<Agreed>) -> Self {
        let key = content.key();
        Self {
            statement: Some(statement(content)),
            ..Self::now(content.root(), TrustDecision::Trusted { key, agreed })
        }
    }

    /// The key of the content that the user agreed to.
    fn key(&self) -> Option<Digest> {
        match &self.verdict {
            TrustDecision::Trusted { key, .. } => Some(*key),
            TrustDecision::Denied => None,
        }
    }

    /// Whether the user agreed to all powers, methods and directories of these proxies.
    pub fn lets(&self, now: &[Agreed]) -> bool {
        self.agreed()
            .is_some_and(|agreed| Agreed::lets(agreed, now))
    }

    /// The proxies and permissions that the user agreed to; `None` if the project is denied.
    pub fn agreed(&self) -> Option<&[Agreed]> {
        match &self.verdict {
            TrustDecision::Trusted { agreed, .. } => Some(agreed),
            TrustDecision::Denied => None,
        }
    }
}

impl Records {
    /// The records in a folder, which need not exist yet.
    pub fn open(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The user's decision about a project; `content` is `None` if the project cannot be read. Without a decision about
    /// this root, decisions to trust another worktree of its repository apply.
    pub fn standing(&self, root: &Path, content: Option<&Content>) -> Result<Standing, TrustError> {
        let key = content.map(Content::key);
        Ok(match self.read(root)? {
            Some(record) => match &record.verdict {
                TrustDecision::Denied => Standing::Denied(record),
                TrustDecision::Trusted { key: agreed, .. } if Some(*agreed) == key => {
                    Standing::Trusted(record)
                }
                TrustDecision::Trusted { .. } => Standing::Changed(record),
            },
            None => {
                let now = content.map(statement);
                let is_same = |record: &Record| now.is_some() && record.statement == now;
                let mut elsewhere = self.elsewhere(root)?;
                match elsewhere.iter().position(is_same) {
                    Some(at) => Standing::Trusted(elsewhere.swap_remove(at)),
                    None => elsewhere.pop().map_or(Standing::Unknown, Standing::Changed),
                }
            }
        })
    }

    /// The decisions to trust the same folder in other worktrees of its repository, the newest last.
    fn elsewhere(&self, root: &Path) -> Result<Vec<Record>, TrustError> {
        let Some(repository) = Worktree::of(root).map(parts) else {
            return Ok(Vec::new());
        };
        let mut all = self.all()?;
        all.retain(|record| {
            record.repository.as_ref() == Some(&repository) && record.key().is_some()
        });
        all.sort_by(|one, two| one.since.cmp(&two.since));
        Ok(all)
    }

    /// Whether the user has trusted the project with this root, or another worktree of its repository. Such a folder
    /// stays a project when its manifest is removed.
    pub fn know(&self, root: &Path) -> bool {
        match self.read(root) {
            Ok(Some(record)) => record.key().is_some(),
            Ok(None) if is_marked(root) => self.elsewhere(root).is_ok_and(|all| !all.is_empty()),
            Ok(None) | Err(_) => false,
        }
    }

    /// The earlier content of a changed project, as the user agreed to it, from the kept copy.
    pub fn kept(&self, root: &Path, carried: &Carried, keep: Keep) -> Option<(Record, Content)> {
        let record = match self.read(root).ok()? {
            Some(record) => record,
            None => self.elsewhere(root).ok()?.pop()?,
        };
        let key = record.key()?;
        let copy = self.copy(key);
        // The copy, and what built-in extensions ask for, may have changed.
        let of = Path::new(&record.root);
        let original = Content::read_copy(&copy, of, carried, keep).ok()?;
        if original.key() != key {
            return None;
        }
        // In another worktree, paths are relative to its root.
        let content = if of == root {
            original
        } else {
            Content::read_copy(&copy, root, carried, keep).ok()?
        };
        Some((record, content))
    }

    /// Stores a decision to trust a project, and a copy of its content.
    pub fn trust(&self, content: &Content, agreed: Vec<Agreed>) -> Result<(), TrustError> {
        let _alone = self.change()?;
        let copy = self.copy(content.key());
        if !copy.exists() {
            let kept = copy.parent().unwrap_or(&self.folder);
            files::make_private(kept).map_err(at(kept))?;
            write_copy(content, &copy).map_err(at(&copy))?;
        }
        self.put(&Record::trusting(content, agreed))
    }

    /// The folder of the copy of the content with this key.
    fn copy(&self, key: Digest) -> PathBuf {
        self.folder.join(KEPT).join(key.hex())
    }

    /// Removes the copies that no decision refers to.
    fn sweep_copies(&self) -> Result<(), TrustError> {
        let wanted: Vec<_> = self
            .all()?
            .iter()
            .filter_map(Record::key)
            .map(|key| self.copy(key))
            .collect();
        let kept = self.folder.join(KEPT);
        let Ok(entries) = fs::read_dir(&kept) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            if !wanted.contains(&entry.path()) {
                fs::remove_dir_all(entry.path()).map_err(at(&kept))?;
            }
        }
        Ok(())
    }

    /// The locks of all copies.
    pub fn kept_locks(&self) -> Result<Vec<PathBuf>, TrustError> {
        let all = self.all()?;
        let copies = all.iter().filter_map(Record::key).map(|key| self.copy(key));
        Ok(copies
            .map(|copy| Lock::beside(&copy.join(MANIFEST)))
            .collect())
    }

    /// The user's decision about the project with this root.
    pub fn read(&self, root: &Path) -> Result<Option<Record>, TrustError> {
        let record = load(&self.path(root))?;
        // The path is a digest of the root: the record must have the root itself.
        Ok(record.filter(|record| record.root == root.as_os_str()))
    }

    /// All decisions, sorted by root.
    pub fn all(&self) -> Result<Vec<Record>, TrustError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(at(&self.folder)(error)),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(at(&self.folder))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                all.extend(load(&path)?);
            }
        }
        all.sort_by(|one, two| one.root.cmp(&two.root));
        Ok(all)
    }

    /// Stores a decision, replacing an earlier one.
    pub fn write(&self, record: &Record) -> Result<(), TrustError> {
        let _alone = self.change()?;
        self.put(record)
    }

    fn put(&self, record: &Record) -> Result<(), TrustError> {
        let path = self.path(Path::new(&record.root));
        let text = serde_json::to_vec_pretty(record).map_err(io::Error::from);
        let written = text.and_then(|text| disk::write(&path, &text));
        written.map_err(at(&path))?;
        self.sweep_copies()
    }

    /// Removes the decision about the project with this root.
    pub fn forget(&self, root: &Path) -> Result<(), TrustError> {
        let _alone = self.change()?;
        let path = self.path(root);
        disk::remove(&path).map_err(at(&path))?;
        self.sweep_copies()
    }

    /// Locks the records for changes.
    fn change(&self) -> Result<File, TrustError> {
        files::make_private(&self.folder).map_err(at(&self.folder))?;
        let path = self.folder.join("lock");
        let lock = files::append_private(&path).map_err(at(&path))?;
        lock.lock().map_err(at(&path))?;
        disk::sweep(&self.folder).map_err(at(&self.folder))?;
        Ok(lock)
    }

    fn path(&self, root: &Path) -> PathBuf {
        let name = Digest::of(root.as_os_str().as_encoded_bytes()).hex();
        self.folder.join(name).with_extension(ENDING)
    }
}

/// The digest of content, independent of its root.
fn statement(content: &Content) -> Digest {
    Digest::of(content.statement().as_bytes())
}

fn parts(worktree: Worktree) -> (OsString, OsString) {
    (worktree.repository.into(), worktree.within.into())
}

/// Writes the files of a project to the folder `copy`, all of them or none. The records must be locked: they are first
/// written to a folder beside it, and a killed process may have left that one.
fn write_copy(content: &Content, copy: &Path) -> io::Result<()> {
    let unfinished = copy.with_extension("unfinished");
    match fs::remove_dir_all(&unfinished) {
        Err(error) if !disk::is_absent(&error) => return Err(error),
        _ => fs::create_dir(&unfinished)?,
    }
    let write = || {
        for (path, bytes) in content.files() {
            let path = unfinished.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, bytes)?;
        }
        fs::rename(&unfinished, copy)
    };
    write().inspect_err(|_| drop(fs::remove_dir_all(&unfinished)))
}

fn load(path: &Path) -> Result<Option<Record>, TrustError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if disk::is_absent(&error) => return Ok(None),
        Err(error) => return Err(at(path)(error)),
    };
    let record = serde_json::from_slice::<Record>(&text).ok();
    match record.filter(|record| record.version == VERSION) {
        Some(record) => Ok(Some(record)),
        None => Err(TrustError::Unreadable(path.to_owned())),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> TrustError {
    move |error| DiskError::new(path, error).into()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tempfile::TempDir;

    use super::*;
    use acp_chain_disk::fault::at_each_step;

    const COMPONENT: &[u8] = b"a component";
    const ROOT: &str = "/home/me/work";

    fn trusted(content: &str) -> Record {
        let key = Digest::of(content.as_bytes());
        let agreed = vec![Agreed {
            id: content.to_owned(),
            ..Agreed::default()
        }];
        Record::now(Path::new(ROOT), TrustDecision::Trusted { key, agreed })
    }

    fn records(folder: &TempDir) -> Records {
        Records::open(&folder.path().join("trust"))
    }

    fn world() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        records(&folder).write(&trusted("old")).unwrap();
        folder
    }

    /// A project below `top`, with this configuration of its only proxy.
    fn project(top: &Path, name: &str, config: &str) -> Content {
        let root = top.join(name);
        fs::create_dir_all(root.join("tools")).unwrap();
        let manifest = format!(
            "[[proxy]]\nid = \"it\"\npath = \"tools/it.wasm\"\n\n[proxy.config]\nis = \"{config}\"\n"
        );
        fs::write(root.join(MANIFEST), manifest).unwrap();
        fs::write(root.join("tools/it.wasm"), COMPONENT).unwrap();
        content(&root)
    }

    fn content(root: &Path) -> Content {
        Content::read(root, &Carried::default(), Keep::Components).unwrap()
    }

    fn top(folder: &TempDir) -> PathBuf {
        folder.path().canonicalize().unwrap()
    }

    #[test]
    fn trust_is_bound_to_the_root_and_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let (records, top) = (records(&folder), top(&folder));
        let (old, other) = (project(&top, "work", "old"), project(&top, "other", "old"));
        records.trust(&old, Vec::new()).unwrap();
        let new = project(&top, "work", "new");
        let root = new.root();
        let standing = |content: &Content| records.standing(content.root(), Some(content)).unwrap();
        assert!(matches!(standing(&old), Standing::Trusted(_)));
        assert!(matches!(standing(&new), Standing::Changed(_)));
        assert!(matches!(
            records.standing(root, None),
            Ok(Standing::Changed(_))
        ));
        assert_eq!(standing(&other), Standing::Unknown);
        assert!(records.know(root) && !records.know(other.root()));
        records
            .write(&Record::now(root, TrustDecision::Denied))
            .unwrap();
        assert!(matches!(standing(&old), Standing::Denied(_)));
        assert!(!records.know(root));
        records.forget(root).unwrap();
        assert_eq!(standing(&old), Standing::Unknown);
        assert!(records.all().unwrap().is_empty());
    }

    #[test]
    fn a_copy_that_cannot_be_written_is_named_and_no_temporary_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = top(&folder);
        let content = project(&top, "work", "old");
        let copy = top.join("missing").join("copy");
        let expected = fs::metadata(&copy).unwrap_err().to_string();
        let error = write_copy(&content, &copy).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let told = at(&copy)(error).to_string();
        assert!(told.starts_with(&copy.display().to_string()), "{told}");
        // One that a killed process has left is no hindrance.
        let copy = top.join("copy");
        fs::create_dir(copy.with_extension("unfinished")).unwrap();
        write_copy(&content, &copy).unwrap();
        assert_eq!(fs::read(copy.join("tools/it.wasm")).unwrap(), COMPONENT);
        assert!(!copy.with_extension("unfinished").exists());
    }

    #[test]
    fn the_agreed_content_is_kept_until_the_next_decision() {
        let folder = tempfile::tempdir().unwrap();
        let (records, top) = (records(&folder), top(&folder));
        let old = project(&top, "work", "old");
        let root = old.root();
        records.trust(&old, Vec::new()).unwrap();
        let kept = || records.kept(root, &Carried::default(), Keep::Components);
        let copies = || fs::read_dir(records.folder().join(KEPT)).unwrap().count();
        let new = project(&top, "work", "new");
        fs::write(root.join("tools/it.wasm"), "another component").unwrap();
        let (record, content) = kept().unwrap();
        assert_eq!((content.key(), record.key()), (old.key(), Some(old.key())));
        assert_eq!(content.stored("it").unwrap().digest, Digest::of(COMPONENT));
        fs::remove_file(root.join(MANIFEST)).unwrap();
        assert_eq!(kept().unwrap().1.key(), old.key());
        // A changed copy is not used.
        let copy = records.copy(old.key()).join("tools/it.wasm");
        fs::write(&copy, "evil").unwrap();
        assert!(kept().is_none());
        fs::write(&copy, COMPONENT).unwrap();
        records.trust(&new, Vec::new()).unwrap();
        assert_eq!((kept().unwrap().1.key(), copies()), (new.key(), 1));
        records.forget(root).unwrap();
        assert!(kept().is_none() && copies() == 0);
    }

    #[test]
    fn consent_applies_to_all_worktrees_of_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (records, top) = (records(&folder), top(&folder));
        let own = top.join("main/.git/worktrees/other");
        fs::create_dir_all(&own).unwrap();
        let main = project(&top, "main", "old");
        let same = project(&top, "other", "old");
        let evil = project(&top, "evil", "old");
        for root in [&same, &evil] {
            let mark = root.root().join(".git");
            fs::write(mark, format!("gitdir: {}", own.display())).unwrap();
        }
        let mark = same.root().join(".git");
        fs::write(own.join("gitdir"), mark.to_str().unwrap()).unwrap();
        fs::write(own.join("commondir"), "../..").unwrap();
        records.trust(&main, Vec::new()).unwrap();
        let standing = |content: &Content| records.standing(content.root(), Some(content)).unwrap();
        assert!(matches!(standing(&same), Standing::Trusted(_)));
        assert_eq!(standing(&evil), Standing::Unknown);
        let changed = project(&top, "other", "new");
        assert!(matches!(standing(&changed), Standing::Changed(_)));
        let (_, kept) = records
            .kept(same.root(), &Carried::default(), Keep::Digests)
            .unwrap();
        assert_eq!(kept.key(), same.key());
        assert!(records.know(same.root()) && !records.know(evil.root()));
        // A decision about this root has precedence.
        records
            .write(&Record::now(same.root(), TrustDecision::Denied))
            .unwrap();
        assert!(matches!(standing(&same), Standing::Denied(_)));
    }

    #[test]
    fn a_record_in_the_file_of_another_root_is_ignored() {
        let folder = world();
        let records = records(&folder);
        let other = Path::new("/home/me/evil");
        fs::copy(records.path(Path::new(ROOT)), records.path(other)).unwrap();
        assert_eq!(records.standing(other, None).unwrap(), Standing::Unknown);
    }

    #[test]
    fn an_unreadable_record_is_not_consent() {
        let folder = world();
        let records = records(&folder);
        for text in ["", "{", "{\"version\":2}", "null"] {
            fs::write(records.path(Path::new(ROOT)), text).unwrap();
            let error = records.standing(Path::new(ROOT), None);
            let error = error.unwrap_err().to_string();
            assert!(error.contains("run `acp-chain trust` again"), "{error}");
        }
    }

    #[test]
    fn a_kill_or_a_full_disk_leaves_the_old_record_or_the_new_one() {
        at_each_step(
            world,
            |folder| drop(records(folder).write(&trusted("new"))),
            |folder, fault| {
                let left = records(folder).read(Path::new(ROOT)).unwrap().unwrap();
                let id = &left.agreed().unwrap()[0].id;
                assert!(["old", "new"].contains(&&**id), "{fault}: {id}");
                // The next writer succeeds.
                records(folder).write(&trusted("next")).unwrap();
                let names = fs::read_dir(records(folder).folder()).unwrap().count();
                assert_eq!(names, 2, "{fault}: the record and the lock");
            },
        );
    }

    #[test]
    fn a_kill_or_a_full_disk_leaves_a_project_forgotten_or_not() {
        at_each_step(
            world,
            |folder| drop(records(folder).forget(Path::new(ROOT))),
            |folder, fault| {
                let left = records(folder).read(Path::new(ROOT));
                assert!(left.is_ok(), "{fault}");
            },
        );
    }

    #[test]
    fn of_two_concurrent_decisions_one_is_the_last() {
        let folder = world();
        thread::scope(|scope| {
            for name in ["one", "two"] {
                let records = records(&folder);
                scope.spawn(move || {
                    for _ in 0..20 {
                        records.write(&trusted(name)).unwrap();
                    }
                });
            }
        });
        let left = records(&folder).read(Path::new(ROOT)).unwrap().unwrap();
        assert!(["one", "two"].contains(&&*left.agreed().unwrap()[0].id));
    }
}
