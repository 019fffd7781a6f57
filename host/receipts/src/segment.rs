//! The segments of a log: the files that have its records, or the hashes of those that were removed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use data_encoding::BASE64;
use humantime::{format_rfc3339_micros, parse_rfc3339};
use serde::{Deserialize, Serialize};

use acp_chain_disk as disk;

use crate::error::{LogError, at};
use crate::merkle::{self, Hash, Tree};
use crate::record::{LONGEST, Record, What};

/// The extension of a segment with records.
const RECORDS: &str = "jsonl";

/// The extension of a segment whose records were removed.
const HASHES: &str = "hashes";

/// The longest record of a removal, in bytes.
const REMOVAL: usize = 128;

/// The digits in the name of a segment: those of the largest number.
const DIGITS: usize = 20;

/// A segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of its first record, counted from 0.
    pub first: u64,
    /// The file.
    pub path: PathBuf,
    /// Whether only the hashes of its records are left.
    pub is_removed: bool,
}

/// The first line of a segment.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// The tree before its first record.
    pub tree: Tree,
}

#[derive(Serialize, Deserialize)]
struct Line {
    /// How many records are in earlier segments.
    before: u64,
    /// The perfect subtrees of their tree, the largest first, in Base64.
    subtrees: Vec<String>,
}

/// The file of the segment with this first record.
pub fn path(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:0DIGITS$}.{RECORDS}"))
}

/// The segments in a folder, in order.
pub fn list(folder: &Path) -> Result<Vec<Segment>, LogError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let Some(one) = segment(entry.path()) else {
            continue;
        };
        // Opening a pipe would wait for a writer, and a link may lead to one.
        if !entry.file_type().map_err(at(&one.path))?.is_file() {
            return Err(at(&one.path)(io::Error::other("it is not a file")));
        }
        found.push(one);
    }
    // If a process was killed while it removed records, both files are there: then nothing is removed yet.
    found.sort_by_key(|one: &Segment| (one.first, one.is_removed));
    found.dedup_by_key(|one| one.first);
    Ok(found)
}

fn segment(path: PathBuf) -> Option<Segment> {
    let is_removed = match path.extension()?.to_str()? {
        RECORDS => false,
        HASHES => true,
        _ => return None,
    };
    let digits = path.file_stem()?.to_str()?;
    let is_number = digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
    Some(Segment {
        first: digits.parse().ok().filter(|_| is_number)?,
        path,
        is_removed,
    })
}

impl Head {
    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        let subtrees = self.tree.subtrees().iter();
        let line = Line {
            before: self.tree.size(),
            subtrees: subtrees.map(|hash| BASE64.encode(hash)).collect(),
        };
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        text
    }

    pub fn parse(text: &[u8]) -> Option<Self> {
        let line: Line = serde_json::from_slice(text).ok()?;
        let subtrees = line.subtrees.iter().map(|text| hash(text.as_bytes()));
        let tree = Tree::of(line.before, subtrees.collect::<Option<_>>()?)?;
        Some(Self { tree })
    }
}

/// Reads the first line of a segment, and its length with its end; `None` if it is not one.
pub fn read_head(file: &File, path: &Path) -> Result<Option<(Head, u64)>, LogError> {
    let mut lines = Lines::new(file);
    let first = lines.next().transpose().map_err(at(path))?;
    Ok(first.filter(|line| line.is_whole).and_then(|line| {
        let head = Head::parse(&line.text)?;
        Some((head, line.text.len() as u64 + 1))
    }))
}

/// The tree up to this size, at most up to the end of this segment; `None` if the segment begins after it.
pub fn tree_of(path: &Path, size: u64) -> Result<Option<Tree>, LogError> {
    let mut lines = Lines::new(File::open(path).map_err(at(path))?);
    let first = lines.next().transpose().map_err(at(path))?;
    let head = first.and_then(|line| Head::parse(&line.text));
    let Some(Head { mut tree }) = head.filter(|head| head.tree.size() <= size) else {
        return Ok(None);
    };
    for read in lines {
        let line = read.map_err(at(path))?;
        if tree.size() == size || !line.is_whole {
            break;
        }
        tree.push(merkle::leaf(&line.text));
    }
    Ok(Some(tree))
}

/// The lines of a text that ends with one, without their ends.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let joined = text.strip_suffix(b"\n").into_iter();
    joined.flat_map(|text| text.split(|byte| *byte == b'\n'))
}

/// A line of a segment.
pub struct SegmentLine {
    /// The text, without its end.
    pub text: Vec<u8>,
    /// Whether it has an end. One that is too long, or the last one of a process that was killed, has none.
    pub is_whole: bool,
}

/// The lines of a segment, each of bounded length. After one that is not whole there are no others.
pub struct Lines<R>(Option<BufReader<R>>);

impl<R: Read> Lines<R> {
    pub fn new(file: R) -> Self {
        Self(Some(BufReader::new(file)))
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = io::Result<SegmentLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.0.as_mut()?;
        let mut text = Vec::new();
        let read = reader.take(LONGEST as u64 + 1).read_until(b'\n', &mut text);
        let is_whole = text.pop_if(|last| *last == b'\n').is_some();
        if !is_whole {
            self.0 = None;
        }
        match read {
            Ok(0) => None,
            Ok(_) => Some(Ok(SegmentLine { text, is_whole })),
            Err(error) => Some(Err(error)),
        }
    }
}

/// The hash in a line of a segment whose records were removed.
pub fn hash(line: &[u8]) -> Option<Hash> {
    BASE64.decode(line).ok()?.try_into().ok()
}

/// Whether all records of a segment are older than this.
pub fn is_before(segment: &Segment, until: SystemTime) -> Result<bool, LogError> {
    let wrong = at(&segment.path);
    let open = || File::open(&segment.path).map_err(&wrong);
    let time = |line: &[u8]| {
        let record: Record = serde_json::from_slice(line).ok()?;
        parse_rfc3339(&record.time).ok()
    };
    let mut last = Vec::new();
    for line in Lines::new(open()?).skip(1) {
        last = line.map_err(&wrong)?.text;
    }
    // Records are in the order of their times, unless the clock was set back meanwhile.
    if time(&last).is_none_or(|newest| newest >= until) {
        return Ok(false);
    }
    for line in Lines::new(open()?).skip(1) {
        let text = line.map_err(&wrong)?.text;
        if time(&text).is_some_and(|written| written >= until) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Replaces the records of a segment by their hashes.
pub fn remove(old: &Segment) -> Result<(), LogError> {
    let wrong = at(&old.path);
    let file = File::open(&old.path).map_err(&wrong)?;
    let mut hashes = Vec::new();
    for line in Lines::new(file).skip(1) {
        let leaf = merkle::leaf(&line.map_err(&wrong)?.text);
        hashes.extend_from_slice(BASE64.encode(&leaf).as_bytes());
        hashes.push(b'\n');
    }
    let kept = old.path.with_extension(HASHES);
    disk::write(&kept, &hashes).map_err(at(&kept))?;
    disk::remove(&old.path).map_err(wrong)
}

/// The record that says that all records before this one were removed.
pub fn removal(count: u64) -> Result<Vec<u8>, LogError> {
    let time = format_rfc3339_micros(SystemTime::now()).to_string();
    let mut record = Record::new(time, What::Removal);
    record.removed = Some(count);
    serde_json::to_vec(&record).map_err(|_| LogError::TooLong)
}

/// How many records were removed, by this record; 0 if it does not say that.
pub fn removed_by(line: &[u8]) -> u64 {
    if line.len() > REMOVAL {
        return 0;
    }
    let read: Option<Record> = serde_json::from_slice(line).ok();
    let removal = read.filter(|record| record.what == What::Removal);
    removal.and_then(|record| record.removed).unwrap_or(0)
}
