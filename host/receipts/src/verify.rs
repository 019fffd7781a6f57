//! Reads a log, and verifies it: by its own last checkpoint, and by those that were kept elsewhere.
//!
//! The folder is not trusted. All that is read of it is bounded, and a line of it that is shown has to be escaped.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use acp_chain_disk as disk;
use acp_chain_rpc::untrusted::Untrusted;

use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::error::{LogError, at};
use crate::keys::{self, VERIFIER};
use crate::log::{CHECKPOINT, NOTE};
use crate::merkle::{self, Hash, Tree};
use crate::note::{NoteError, Verifier};
use crate::segment::{self, Head, Lines, Segment, SegmentLine};

/// What is wrong with a log.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] LogError),
    /// Its key is no key.
    #[error("the key of the log: {0}")]
    Key(#[from] NoteError),
    /// Its last checkpoint is missing, or is not one of this log.
    #[error("the checkpoint of the log: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// A file is missing.
    #[error("the file `{0}` of the log is missing")]
    Missing(&'static str),
    /// There are no files of records between these numbers.
    #[error("records {from} to {to} are missing: there is no file of them")]
    Gap {
        /// The number of the first one, counted from 1.
        from: u64,
        /// The number of the last one.
        to: u64,
    },
    /// Records were changed, reordered, added or left out.
    #[error(
        "records {from} to {to} are not those that were written: one was changed, moved, added or left out"
    )]
    Changed {
        /// The number of the first one, counted from 1.
        from: u64,
        /// The number of the last one.
        to: u64,
    },
    /// A line is no record.
    #[error("{}: its line {line} is not as it was written", Untrusted::new(path.display()))]
    Line {
        /// The segment.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
    },
    /// Only the hashes of records are left, and the log does not say that they were removed.
    #[error(
        "the records from {from} on are missing: only their hashes are left, and no record says that they were removed"
    )]
    Hidden {
        /// The number of the first one, counted from 1.
        from: u64,
    },
    /// The end of the log is missing.
    #[error(
        "the log has {found} records, and its checkpoint covers {signed}: the last ones were cut off"
    )]
    Cut {
        /// How many there are.
        found: u64,
        /// How many the checkpoint covers.
        signed: u64,
    },
    /// It is not the log of which a checkpoint was kept.
    #[error(
        "the log is not the one of which the checkpoint of {size} records was kept: it was written anew, or cut"
    )]
    Rewritten {
        /// The number of records that the kept checkpoint covers.
        size: u64,
    },
    /// None of the kept checkpoints is one of this log.
    #[error("the file of kept checkpoints has none of this log, whose name is {0}")]
    NoWitness(String),
}

/// What is compared with a log.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The key of the log, if it was kept elsewhere; by default, that in the folder.
    pub key: Option<String>,
    /// Texts with checkpoints that were kept elsewhere. Each must have one.
    pub kept: Vec<String>,
}

/// A log that is as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The last checkpoint.
    pub checkpoint: Checkpoint,
    /// How many records follow that the checkpoint does not cover yet, or never will, if the host was killed.
    pub uncovered: u64,
    /// Whether the last line is cut: a process writes it, or was killed while it did.
    pub is_cut: bool,
    /// Of how many records, from the first on, only the hashes are left.
    pub removed: u64,
    /// The sizes of the kept checkpoints that the log agrees with.
    pub witnessed: Vec<u64>,
}

/// A record of a log, as text.
#[derive(Debug)]
pub struct Entry {
    /// Its number, counted from 1.
    pub number: u64,
    /// The record, as JSON.
    pub text: Vec<u8>,
}

/// How often a log is read that changes meanwhile.
const TRIES: u32 = 3;

/// Verifies the log in a folder.
pub fn verify(folder: &Path, evidence: &Evidence) -> Result<Verified, Damage> {
    let key = match &evidence.key {
        Some(key) => key.trim().to_owned(),
        None => keys::verifier(folder)?.ok_or(Damage::Missing(VERIFIER))?,
    };
    let verifier = Verifier::parse(&key)?;
    let mut kept = Vec::new();
    for text in &evidence.kept {
        let found = Checkpoint::kept(text, &verifier);
        if found.is_empty() {
            return Err(Damage::NoWitness(verifier.name().to_owned()));
        }
        kept.extend(found);
    }
    let mut tries = 1;
    // Before the records: a host that runs may add more of both.
    let mut note = last_note(folder)?;
    loop {
        let found = verify_by(&note, folder, &verifier, &kept);
        // It may also have removed old records, of which this checkpoint does not know yet.
        if found.is_ok() || tries == TRIES {
            return found;
        }
        let newer = last_note(folder)?;
        if newer == note {
            return found;
        }
        (note, tries) = (newer, tries + 1);
    }
}

fn last_note(folder: &Path) -> Result<String, Damage> {
    let path = folder.join(CHECKPOINT);
    let note = match disk::read(&path, NOTE) {
        Err(error) if disk::is_absent(&error) => return Err(Damage::Missing(CHECKPOINT)),
        read => read.map_err(at(&path))?,
    };
    Ok(String::from_utf8_lossy(&note).into_owned())
}

fn verify_by(
    note: &str,
    folder: &Path,
    verifier: &Verifier,
    kept: &[Checkpoint],
) -> Result<Verified, Damage> {
    let checkpoint = Checkpoint::open(note, verifier)?;
    let sizes = kept.iter().chain([&checkpoint]).map(|kept| kept.size);
    let mut walk = Walk {
        roots: sizes.map(|size| (size, None)).collect(),
        signed: checkpoint.size,
        ..Walk::default()
    };
    walk.note();
    for segment in segment::list(folder)? {
        walk.read(&segment)?;
    }
    walk.finish(checkpoint, kept)
}

/// Calls `take` with each record of a log, in order, until that fails. The log is not verified.
pub fn each<E: From<LogError>>(
    folder: &Path,
    mut take: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    for segment in segment::list(folder)? {
        if segment.is_removed {
            continue;
        }
        let file = File::open(&segment.path).map_err(at(&segment.path))?;
        for (number, read) in (segment.first + 1..).zip(Lines::new(file).skip(1)) {
            let SegmentLine { text, is_whole } = read.map_err(at(&segment.path))?;
            if is_whole {
                take(Entry { number, text })?;
            }
        }
    }
    Ok(())
}

/// A log that is being read, from its first record on.
#[derive(Default)]
struct Walk {
    tree: Tree,
    /// The hashes of the tree at the sizes that are compared, once it had them.
    roots: BTreeMap<u64, Option<Hash>>,
    /// Up to which record the tree was compared last.
    compared: u64,
    /// How many records the checkpoint covers.
    signed: u64,
    /// Of how many records, from the first on, only the hashes are left.
    removed: u64,
    /// Of how many a record that the checkpoint covers says so.
    said: u64,
    is_cut: bool,
}

impl Walk {
    /// Keeps the hash of the tree, if its size is one that is compared.
    fn note(&mut self) {
        let tree = &self.tree;
        if let Some(root) = self.roots.get_mut(&tree.size()) {
            root.get_or_insert_with(|| tree.root());
        }
    }

    fn push(&mut self, leaf: Hash) {
        self.tree.push(leaf);
        self.note();
    }

    fn read(&mut self, segment: &Segment) -> Result<(), Damage> {
        let size = self.tree.size();
        if segment.first > size {
            let (from, to) = (size + 1, segment.first);
            return Err(Damage::Gap { from, to });
        }
        if segment.first < size || self.is_cut {
            return Err(self.changed());
        }
        // They are removed from the first one on.
        if segment.is_removed && self.removed < size {
            return Err(Damage::Hidden { from: size + 1 });
        }
        let file = File::open(&segment.path).map_err(at(&segment.path))?;
        let damage = |line: u64| Damage::Line {
            path: segment.path.clone(),
            line,
        };
        let mut is_empty = true;
        for (number, read) in (1..).zip(Lines::new(file)) {
            is_empty = false;
            let line = read.map_err(at(&segment.path))?;
            let wrong = || damage(number);
            if segment.is_removed {
                let hash = segment::hash(&line.text).filter(|_| line.is_whole);
                self.push(hash.ok_or_else(wrong)?);
                self.removed = self.tree.size();
            } else if number == 1 {
                let head = Head::parse(&line.text).filter(|_| line.is_whole);
                if head.ok_or_else(wrong)?.tree != self.tree {
                    return Err(self.changed());
                }
                self.compared = self.tree.size();
            } else if line.is_whole {
                self.push(merkle::leaf(&line.text));
                if self.tree.size() <= self.signed {
                    self.said = self.said.max(segment::removed_by(&line.text));
                }
            } else {
                self.is_cut = true;
            }
        }
        if is_empty { Err(damage(1)) } else { Ok(()) }
    }

    /// The records since the last comparison are not those that were written.
    fn changed(&self) -> Damage {
        Damage::Changed {
            from: self.compared + 1,
            to: self.tree.size(),
        }
    }

    fn finish(self, checkpoint: Checkpoint, kept: &[Checkpoint]) -> Result<Verified, Damage> {
        let found = self.tree.size();
        let root_at = |size: u64| self.roots.get(&size).copied().flatten();
        if found < checkpoint.size {
            let signed = checkpoint.size;
            return Err(Damage::Cut { found, signed });
        }
        if root_at(checkpoint.size) != Some(checkpoint.root) {
            return Err(Damage::Changed {
                from: self.compared.min(checkpoint.size.saturating_sub(1)) + 1,
                to: checkpoint.size,
            });
        }
        if self.removed > self.said {
            let from = self.said + 1;
            return Err(Damage::Hidden { from });
        }
        let mut all = kept.iter();
        if let Some(kept) = all.find(|kept| root_at(kept.size) != Some(kept.root)) {
            return Err(Damage::Rewritten { size: kept.size });
        }
        Ok(Verified {
            uncovered: found - checkpoint.size,
            is_cut: self.is_cut,
            removed: self.removed,
            witnessed: kept.iter().map(|kept| kept.size).collect(),
            checkpoint,
        })
    }
}
