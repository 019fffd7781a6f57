//! Records of the user's decisions about projects: a file for each root.
//!
//! A record is replaced atomically. It is in a folder of the user that nobody else may write to; nothing from a project
//! gets there unasked.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde::{Deserialize, Serialize};

use super::agreed::Agreed;
use crate::extension::{Digest, disk};
use crate::system::files;
use crate::untrusted::Untrusted;

/// The version of the format.
const VERSION: u32 = 1;

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
}

/// A user's decision about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustDecision {
    /// Its proxies may run, as long as its content stays the same.
    Trusted {
        /// The key of its content.
        key: Digest,
        /// What the user agreed to.
        agreed: Vec<Agreed>,
    },
    /// It may never run, whatever its content.
    Denied,
}

/// The standing of a project with its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The user agreed to exactly this content.
    Trusted(Record),
    /// The user agreed to other content.
    Changed(Record),
    /// The user denied it.
    Denied(Record),
    /// The user has not decided.
    Unknown,
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The system reports an error.
    #[error("{}: {error}{}", Untrusted::new(path.display()), next_step(error))]
    Disk {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// It has an unknown version, or is damaged.
    #[error(
        "{}: this acp-chain cannot read this record; use the newer one that wrote it, or remove the \
         file and run `acp-chain trust` again",
        Untrusted::new(path.display())
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
}

fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; make room, then do it again. What was there still is",
        _ => "",
    }
}

impl Record {
    /// A decision made now about the project with this root.
    #[must_use]
    pub fn now(root: &Path, verdict: TrustDecision) -> Self {
        Self {
            version: VERSION,
            root: root.as_os_str().to_owned(),
            since: format_rfc3339_seconds(SystemTime::now()).to_string(),
            verdict,
        }
    }

    /// Whether everything that these proxies may do was agreed to.
    #[must_use]
    pub fn lets(&self, now: &[Agreed]) -> bool {
        self.agreed()
            .is_some_and(|agreed| Agreed::lets(agreed, now))
    }

    /// What the user agreed to.
    #[must_use]
    pub fn agreed(&self) -> Option<&[Agreed]> {
        match &self.verdict {
            TrustDecision::Trusted { agreed, .. } => Some(agreed),
            TrustDecision::Denied => None,
        }
    }
}

impl Records {
    /// The records in a folder, which need not exist yet.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The standing of a project whose content has this key.
    pub fn standing(&self, root: &Path, key: Digest) -> Result<Standing, TrustError> {
        let Some(record) = self.read(root)? else {
            return Ok(Standing::Unknown);
        };
        Ok(match &record.verdict {
            TrustDecision::Denied => Standing::Denied(record),
            TrustDecision::Trusted { key: agreed, .. } if *agreed == key => {
                Standing::Trusted(record)
            }
            TrustDecision::Trusted { .. } => Standing::Changed(record),
        })
    }

    /// The user's decision about the project with this root.
    pub fn read(&self, root: &Path) -> Result<Option<Record>, TrustError> {
        let record = load(&self.path(root))?;
        // Only the name of the file led here.
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
        let path = self.path(Path::new(&record.root));
        let text = serde_json::to_vec_pretty(record).map_err(io::Error::from);
        let written = text.and_then(|text| disk::write(&path, &text));
        written.map_err(at(&path))
    }

    /// Removes the decision about the project with this root.
    pub fn forget(&self, root: &Path) -> Result<(), TrustError> {
        let _alone = self.change()?;
        let path = self.path(root);
        disk::remove(&path).map_err(at(&path))
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

fn load(path: &Path) -> Result<Option<Record>, TrustError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(at(path)(error)),
    };
    let record = serde_json::from_slice::<Record>(&text).ok();
    match record.filter(|record| record.version == VERSION) {
        Some(record) => Ok(Some(record)),
        None => Err(TrustError::Unreadable {
            path: path.to_owned(),
        }),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> TrustError {
    move |error| TrustError::Disk {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tempfile::TempDir;

    use super::*;
    use crate::extension::disk::fault::at_each_step;

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

    #[test]
    fn trust_is_bound_to_the_root_and_the_content() {
        let folder = world();
        let (records, root) = (records(&folder), Path::new(ROOT));
        let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
        let standing = |root: &Path, key| records.standing(root, key).unwrap();
        assert!(matches!(standing(root, old), Standing::Trusted(_)));
        assert!(matches!(standing(root, new), Standing::Changed(_)));
        assert_eq!(
            standing(Path::new("/home/me/other"), old),
            Standing::Unknown
        );
        records
            .write(&Record::now(root, TrustDecision::Denied))
            .unwrap();
        assert!(matches!(standing(root, old), Standing::Denied(_)));
        records.forget(root).unwrap();
        assert_eq!(standing(root, old), Standing::Unknown);
        assert!(records.all().unwrap().is_empty());
    }

    #[test]
    fn a_record_under_the_name_of_another_root_counts_for_nothing() {
        let folder = world();
        let records = records(&folder);
        let other = Path::new("/home/me/evil");
        fs::copy(records.path(Path::new(ROOT)), records.path(other)).unwrap();
        let standing = records.standing(other, Digest::of(b"old")).unwrap();
        assert_eq!(standing, Standing::Unknown);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_no_yes() {
        let folder = world();
        let records = records(&folder);
        for text in ["", "{", "{\"version\":2}", "null"] {
            fs::write(records.path(Path::new(ROOT)), text).unwrap();
            let error = records.standing(Path::new(ROOT), Digest::of(b"old"));
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
                // The next writer finds nothing in the way.
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
    fn of_two_who_speak_at_once_one_is_the_last() {
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
