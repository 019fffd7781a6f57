//! The folder of a log, for appending.
//!
//! | file | contents |
//! |---|---|
//! | `keys.json` | the keys, for their owner alone |
//! | `verifier` | the key that verifies checkpoints |
//! | `NUMBER.jsonl` | a segment: the records from that number on, a line each, after a line about the tree before them |
//! | `NUMBER.hashes` | a segment whose records were removed: their hashes, a line each |
//! | `checkpoint` | the last signed checkpoint |
//! | `lock` | locked while a process changes the others |
//!
//! Invariants: lines are only appended, whole, and by one process at a time. A segment is complete, and covered by a
//! checkpoint, before the next one begins. What a checkpoint covers is on disk before the checkpoint is. No records are
//! removed before a signed one says so.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use acp_chain_disk as disk;
use acp_chain_system::files::{self, Identity};

use crate::checkpoint::Checkpoint;
use crate::error::{LogError, at};
use crate::keys::{DigestKey, Keys};
use crate::merkle::{self, Tree};
use crate::record::LONGEST;
use crate::segment::{self, Head, Segment};

/// How long to wait for other processes. Each has the log for milliseconds, unless it is stopped.
pub(crate) const WAIT: Duration = Duration::from_secs(5);

/// How long to wait before the next attempt to lock.
const RETRY: Duration = Duration::from_millis(5);

/// The size at which a segment is full, in bytes. Opening a log reads one segment.
pub const SEGMENT: u64 = 8 << 20;

/// The size that no segment has, in bytes: one that is not full gets a batch of records at most.
const LARGEST: u64 = 256 << 20;

/// The file of the last checkpoint.
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// The file that is locked.
const LOCK: &str = "lock";

/// The longest file of a checkpoint, in bytes.
pub(crate) const NOTE: usize = 64 << 10;

/// A log that is open for appending. Other processes may append to it, too.
#[derive(Debug)]
pub struct Log {
    folder: PathBuf,
    keys: Keys,
    lock: File,
    /// The last segment, as far as this process knows.
    last: Option<Last>,
    /// How long records are kept; `None` for ever.
    keep: Option<Duration>,
    /// The size at which a segment is full.
    segment: u64,
}

/// The last segment, and the tree up to its end.
#[derive(Debug)]
struct Last {
    path: PathBuf,
    file: File,
    /// Of the file, which may be replaced at its path by another one.
    identity: Option<Identity>,
    /// The length of the file that the tree covers, in bytes.
    length: u64,
    tree: Tree,
}

impl Log {
    /// Opens the log in this folder. If the folder does not exist, or is empty, a new log begins. Records older than
    /// `keep` are removed when segments end.
    pub fn open(folder: &Path, keep: Option<Duration>) -> Result<Self, LogError> {
        Self::with(folder, keep, SEGMENT)
    }

    /// Opens a log whose segments have this size, in bytes.
    pub(crate) fn with(
        folder: &Path,
        keep: Option<Duration>,
        segment: u64,
    ) -> Result<Self, LogError> {
        files::make_private(folder).map_err(at(folder))?;
        files::check_owner(folder).map_err(|exposed| LogError::Exposed(exposed.to_string()))?;
        let path = folder.join(LOCK);
        // Another program's folder stays as it is. Another process of ours may create the file meanwhile.
        let is_used = has_files(folder)?;
        let has_lock = path.try_exists().map_err(at(&path))?;
        if is_used && !has_lock {
            return Err(LogError::Foreign(folder.to_owned()));
        }
        // Opening a pipe would wait for a reader.
        if has_lock && !path.is_file() {
            return Err(at(&path)(io::Error::other("it is not a file")));
        }
        let lock = files::append_private(&path).map_err(at(&path))?;
        take(&lock, &path)?;
        let keys = if Keys::are_in(folder)? {
            Keys::read(folder)?
        } else {
            Keys::create(folder)?
        };
        keys.publish(folder)?;
        let mut log = Self {
            folder: folder.to_owned(),
            keys,
            lock,
            last: None,
            keep,
            segment,
        };
        let opened = log.catch_up().and_then(|()| log.remove_old());
        log.unlocked(opened)?;
        Ok(log)
    }

    /// The key for digests of contents.
    pub fn digests(&self) -> &DigestKey {
        &self.keys.digests
    }

    /// Appends records, each without line feeds. They survive the end of any process, and that of the system after
    /// [`sync`](Self::sync).
    pub fn append(&mut self, records: &[Vec<u8>]) -> Result<(), LogError> {
        if records.iter().any(|record| record.len() > LONGEST) {
            return Err(LogError::TooLong);
        }
        if records.is_empty() {
            return Ok(());
        }
        self.locked(|log| {
            log.catch_up()?;
            let last = log.last.as_ref();
            if last.is_none_or(|last| last.length >= log.segment) {
                log.begin_segment()?;
                log.remove_old()?;
            }
            log.write(records)
        })
    }

    /// Syncs all records, and signs a checkpoint that covers them.
    pub fn sync(&mut self) -> Result<Checkpoint, LogError> {
        self.locked(|log| {
            log.catch_up()?;
            log.sign()
        })
    }

    fn locked<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        take(&self.lock, &self.folder.join(LOCK))?;
        let acted = act(self);
        if acted.is_err() {
            // Something may have been written in part: the files say what.
            self.last = None;
        }
        self.unlocked(acted)
    }

    fn unlocked<T>(&self, acted: Result<T, LogError>) -> Result<T, LogError> {
        self.lock.unlock().map_err(at(&self.folder.join(LOCK)))?;
        acted
    }

    /// Reads what other processes have appended, and what a killed one has written in part is removed. A segment that
    /// this process does not know yet is compared with the checkpoint.
    fn catch_up(&mut self) -> Result<(), LogError> {
        let before = self.last.take();
        let size = before.as_ref().map_or(0, |last| last.tree.size());
        let newest = segment::list(&self.folder)?.into_iter().next_back();
        let Some(newest) = newest else {
            if before.is_some() {
                return Err(self.damaged("its records are missing"));
            }
            return self.check();
        };
        if newest.is_removed {
            return Err(self.damaged("its last segment is missing"));
        }
        let known = before.filter(|last| last.path == newest.path);
        let is_known = known.is_some();
        let is_other = |last: &Last| Identity::of(&last.path) != last.identity;
        if known.as_ref().is_some_and(is_other) {
            return Err(self.damaged("its last segment was replaced"));
        }
        let mut last = match known {
            Some(last) => last,
            // Other processes only begin segments behind what is known here.
            None if newest.first < size => {
                return Err(self.damaged("its last segment is missing"));
            }
            None => self.open_segment(newest)?,
        };
        let path = last.path.clone();
        let length = last.file.metadata().map_err(at(&path))?.len();
        if length < last.length {
            return Err(self.damaged("its last segment was cut"));
        }
        if length > LARGEST {
            return Err(self.damaged("its last segment is larger than any can be"));
        }
        let mut text = Vec::new();
        let mut new = &last.file;
        new.seek(SeekFrom::Start(last.length)).map_err(at(&path))?;
        let most = length - last.length;
        new.take(most).read_to_end(&mut text).map_err(at(&path))?;
        let end = text.iter().rposition(|byte| *byte == b'\n');
        let whole = end.map_or(0, |end| end + 1);
        for line in segment::lines(&text[..whole]) {
            if line.len() > LONGEST {
                return Err(self.damaged("a line of its last segment is longer than a record"));
            }
            last.tree.push(merkle::leaf(line));
        }
        last.length += whole as u64;
        if whole < text.len() {
            last.file.set_len(last.length).map_err(at(&path))?;
        }
        self.last = Some(last);
        if is_known { Ok(()) } else { self.check() }
    }

    /// Opens an existing segment. Its tree is that before its first record.
    fn open_segment(&self, found: Segment) -> Result<Last, LogError> {
        let file = files::append_shared(&found.path).map_err(at(&found.path))?;
        // Not before: where file systems are layered, opening it may make another one of it.
        let identity = Identity::of(&found.path);
        let head = segment::read_head(&file, &found.path)?;
        let head = head.filter(|(head, _)| head.tree.size() == found.first);
        let (head, length) = head.ok_or_else(|| {
            self.damaged("the first line of its last segment is not as it was written")
        })?;
        Ok(Last {
            path: found.path,
            file,
            identity,
            length,
            tree: head.tree,
        })
    }

    /// Ends the last segment, if there is one, and begins the next.
    fn begin_segment(&mut self) -> Result<(), LogError> {
        let last = self.last.as_ref();
        let tree = last.map(|last| last.tree.clone()).unwrap_or_default();
        // A log without records has a checkpoint, too: it shows if all of them are missing.
        self.sign()?;
        let path = segment::path(&self.folder, tree.size());
        let head = Head { tree: tree.clone() }.line();
        disk::write(&path, &head).map_err(at(&path))?;
        let file = files::append_shared(&path).map_err(at(&path))?;
        let identity = Identity::of(&path);
        self.last = Some(Last {
            path,
            file,
            identity,
            length: head.len() as u64,
            tree,
        });
        Ok(())
    }

    fn write(&mut self, records: &[Vec<u8>]) -> Result<(), LogError> {
        let Some(last) = &mut self.last else {
            return Ok(());
        };
        let lines = records.iter().flat_map(|record| [&record[..], b"\n"]);
        let text: Vec<u8> = lines.flatten().copied().collect();
        if let Err(error) = files::append(&last.file, &text) {
            // The disk may be full: what fits of the records is no record.
            let _ = last.file.set_len(last.length);
            return Err(at(&last.path)(error));
        }
        last.length += text.len() as u64;
        for record in records {
            last.tree.push(merkle::leaf(record));
        }
        Ok(())
    }

    /// Syncs the last segment, and signs its tree.
    fn sign(&self) -> Result<Checkpoint, LogError> {
        let mut tree = &Tree::default();
        if let Some(last) = &self.last {
            last.file.sync_data().map_err(at(&last.path))?;
            tree = &last.tree;
        }
        let checkpoint = Checkpoint {
            origin: self.keys.signer.verifier().name().to_owned(),
            size: tree.size(),
            root: tree.root(),
        };
        let path = self.folder.join(CHECKPOINT);
        let note = checkpoint.sign(&self.keys.signer);
        disk::write(&path, note.as_bytes()).map_err(at(&path))?;
        Ok(checkpoint)
    }

    /// Checks that the log is still what its checkpoint covers: the next one must not cover a change.
    fn check(&self) -> Result<(), LogError> {
        let path = self.folder.join(CHECKPOINT);
        let note = match disk::read(&path, NOTE) {
            Ok(note) => String::from_utf8_lossy(&note).into_owned(),
            Err(error) if !disk::is_absent(&error) => return Err(at(&path)(error)),
            Err(_) if self.last.is_none() => return Ok(()),
            Err(_) => return Err(self.damaged("its checkpoint is missing")),
        };
        let signed = Checkpoint::open(&note, self.keys.signer.verifier());
        let signed = signed.map_err(|error| self.damaged(&format!("its checkpoint: {error}")))?;
        let tree = match &self.last {
            Some(last) => segment::tree_of(&last.path, signed.size)?,
            None => Some(Tree::default()),
        };
        match tree {
            Some(tree) if tree.size() < signed.size => {
                Err(self.damaged("records are missing that its checkpoint covers"))
            }
            Some(tree) if tree.root() == signed.root => Ok(()),
            _ => Err(self.damaged("its records are not those that its checkpoint covers")),
        }
    }

    /// Removes the records of segments that are all older than they are kept; their hashes stay.
    fn remove_old(&mut self) -> Result<(), LogError> {
        let ago = |keep| SystemTime::now().checked_sub(keep);
        let Some(until) = self.keep.and_then(ago) else {
            return Ok(());
        };
        let segments = segment::list(&self.folder)?;
        let (mut old, mut count) = (Vec::new(), 0);
        // The last one is being written.
        for (segment, next) in segments.iter().zip(segments.iter().skip(1)) {
            if segment.is_removed {
                continue;
            }
            if !segment::is_before(segment, until)? {
                break;
            }
            old.push(segment);
            count = next.first;
        }
        if old.is_empty() {
            return Ok(());
        }
        self.write(&[segment::removal(count)?])?;
        self.sign()?;
        old.into_iter().try_for_each(segment::remove)
    }

    fn damaged(&self, what: &str) -> LogError {
        LogError::Damaged {
            folder: self.folder.clone(),
            what: what.to_owned(),
        }
    }
}

/// Locks a file. The lock ends with the process.
fn take(lock: &File, path: &Path) -> Result<(), LogError> {
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(fs::TryLockError::WouldBlock) if begun.elapsed() < WAIT => thread::sleep(RETRY),
            Err(fs::TryLockError::WouldBlock) => return Err(LogError::Locked(path.to_owned())),
            Err(fs::TryLockError::Error(error)) => return Err(at(path)(error)),
        }
    }
}

fn has_files(folder: &Path) -> Result<bool, LogError> {
    let mut entries = fs::read_dir(folder).map_err(at(folder))?;
    Ok(entries.next().is_some())
}
