//! Records of the user's decisions about projects: a file for each root.
//!
//! A record is replaced atomically. It is in a folder of the user, which nobody else may write to; nothing from a
//! project gets there unasked.

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

/// What the names of records end with.
const ENDING: &str = "json";

/// Records in a folder.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// What the user said about one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    version: u32,
    /// Where the project is, without links on the way.
    pub root: OsString,
    /// When the user said so.
    pub since: String,
    /// What.
    pub verdict: TrustDecision,
}

/// What a user says about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustDecision {
    /// Its proxies may run, as long as it is what it was.
    Trusted {
        /// What stands for all of it.
        key: Digest,
        /// What was agreed to.
        agreed: Vec<Agreed>,
    },
    /// It is never to run, whatever it becomes.
    Denied,
}

/// How a project stands with its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The user agreed to just this content.
    Trusted(Record),
    /// The user agreed to another content.
    Changed(Record),
    /// The user wants nothing of it.
    Denied(Record),
    /// The user has said nothing.
    Unknown,
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The system says no.
    #[error("{}: {error}{}", Untrusted::new(path.display()), next_step(error))]
    Disk {
        /// Where.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// It is of a version that is not known yet, or damaged.
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
    /// What a user says now about the project with this root.
    #[must_use]
    pub fn now(root: &Path, verdict: TrustDecision) -> Self {
        Self {
            version: VERSION,
            root: root.as_os_str().to_owned(),
            since: format_rfc3339_seconds(SystemTime::now()).to_string(),
            verdict,
        }
    }

    /// Whether all that these proxies may do was agreed to.
    #[must_use]
    pub fn lets(&self, now: &[Agreed]) -> bool {
        self.agreed()
            .is_some_and(|agreed| Agreed::lets(agreed, now))
    }

    /// What was agreed to.
    #[must_use]
    pub fn agreed(&self) -> Option<&[Agreed]> {
        match &self.verdict {
            TrustDecision::Trusted { agreed, .. } => Some(agreed),
            TrustDecision::Denied => None,
        }
    }
}

impl Records {
    /// The records in a folder, which need not be there yet.
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

    /// How a project stands whose content has this key.
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

    /// What the user said about the project with this root.
    pub fn read(&self, root: &Path) -> Result<Option<Record>, TrustError> {
        let record = load(&self.path(root))?;
        // The name of the file is all that leads here.
        Ok(record.filter(|record| record.root == root.as_os_str()))
    }

    /// All that the user said, sorted by root.
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

    /// Keeps what the user said, instead of what was said before.
    pub fn write(&self, record: &Record) -> Result<(), TrustError> {
        let _alone = self.change()?;
        let path = self.path(Path::new(&record.root));
        let text = serde_json::to_vec_pretty(record).map_err(io::Error::from);
        let written = text.and_then(|text| disk::write(&path, &text));
        written.map_err(at(&path))
    }

    /// Forgets what the user said about the project with this root.
    pub fn forget(&self, root: &Path) -> Result<(), TrustError> {
        let _alone = self.change()?;
        let path = self.path(root);
        disk::remove(&path).map_err(at(&path))
    }

    /// Waits for whoever is changing records, and lets nobody else.
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
                // Whoever comes next finds nothing in the way.
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
