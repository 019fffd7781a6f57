//! Checkpoints of a log, as <https://c2sp.org/tlog-checkpoint> has them: its origin, its size, the hash of its tree,
//! and lines of extensions, which this program does not write.

use std::str::FromStr;

use data_encoding::BASE64;

use crate::merkle::Hash;
use crate::note::{NoteError, Signer, Verifier};

/// The beginning of the line that a run prints about a checkpoint, and that `--witness` reads.
pub const PRINTED: &str = "receipts:";

/// The most lines that a kept note has before its signatures, and the most signatures.
const LINES: usize = 100;

/// What a log was like when it had this many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log, which is that of its key.
    pub origin: String,
    /// The number of records.
    pub size: u64,
    /// The hash of the tree.
    pub root: Hash,
}

/// A text that is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a checkpoint: expected an origin, a size and a hash, a line each")]
pub struct NoCheckpoint;

/// Why a signed checkpoint is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// It is not signed.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// It is signed, and is no checkpoint.
    #[error(transparent)]
    Text(#[from] NoCheckpoint),
    /// It is of another log.
    #[error("it is of another log")]
    Other,
}

impl Checkpoint {
    /// The signed note.
    pub fn sign(&self, signer: &Signer) -> String {
        let root = BASE64.encode(&self.root);
        signer.sign(&format!("{}\n{}\n{root}\n", self.origin, self.size))
    }

    /// Reads a signed note, by the key of its log.
    pub fn open(note: &str, verifier: &Verifier) -> Result<Self, CheckpointError> {
        let checkpoint: Self = verifier.open(note)?.parse()?;
        let is_its = checkpoint.origin == verifier.name();
        is_its.then_some(checkpoint).ok_or(CheckpointError::Other)
    }

    /// Reads what was kept elsewhere of this log: signed notes, and lines as they are printed, among other text. Those
    /// of other logs, and notes that were not signed by this one, are passed over.
    pub fn kept(text: &str, verifier: &Verifier) -> Vec<Self> {
        let lines: Vec<_> = text.lines().collect();
        let mut kept = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            kept.extend(printed(line).filter(|kept| kept.origin == verifier.name()));
            if *line == verifier.name() {
                kept.extend(note_at(&lines[at..], verifier));
            }
        }
        kept
    }
}

/// The line that is printed.
impl std::fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let root = BASE64.encode(&self.root);
        write!(f, "{PRINTED} {} {} {root}", self.origin, self.size)
    }
}

/// Reads the text of a note.
impl FromStr for Checkpoint {
    type Err = NoCheckpoint;

    fn from_str(text: &str) -> Result<Self, NoCheckpoint> {
        let text = text.strip_suffix('\n').ok_or(NoCheckpoint)?;
        let mut lines = text.split('\n');
        let mut line = || lines.next().ok_or(NoCheckpoint);
        let read = read(line()?, line()?, line()?);
        // Extensions are lines that are not empty.
        read.filter(|_| lines.all(|more| !more.is_empty()))
            .ok_or(NoCheckpoint)
    }
}

fn read(origin: &str, size: &str, root: &str) -> Option<Checkpoint> {
    let number: u64 = size.parse().ok()?;
    // One spelling: neither signs nor zeros in front.
    let is_plain = number.to_string() == size;
    let root: Hash = BASE64.decode(root.as_bytes()).ok()?.try_into().ok()?;
    (is_plain && !origin.is_empty()).then(|| Checkpoint {
        origin: origin.to_owned(),
        size: number,
        root,
    })
}

fn printed(line: &str) -> Option<Checkpoint> {
    let (_, facts) = line.split_once(PRINTED)?;
    let mut words = facts.split_whitespace();
    read(words.next()?, words.next()?, words.next()?)
}

/// The checkpoint whose note these lines begin with. The lines after it are not part of it.
fn note_at(lines: &[&str], verifier: &Verifier) -> Option<Checkpoint> {
    let empty = lines.iter().take(LINES).position(|line| line.is_empty())?;
    let signatures = lines[empty + 1..].iter().take(LINES);
    let count = signatures
        .take_while(|line| line.starts_with('\u{2014}'))
        .count();
    let note = lines[..=empty + count].join("\n") + "\n";
    Checkpoint::open(&note, verifier).ok()
}
