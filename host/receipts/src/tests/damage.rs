//! Each kind of damage is found, in a log of 10,000 records.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{filled, record};
use crate::log::Log;
use crate::segment;
use crate::{Checkpoint, Damage, Evidence, verify};

/// How many records the log has.
const COUNT: u64 = 10_000;

/// The size of its segments: it has some dozens.
const SEGMENT: u64 = 8 << 10;

/// The log, its checkpoint, and one that was kept earlier. It is copied before it is damaged.
static WHOLE: LazyLock<(TempDir, Checkpoint, Checkpoint)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Log::with(folder.path(), None, SEGMENT).unwrap();
    let batch: Vec<_> = (0..COUNT).map(record).collect();
    let mut kept = None;
    for some in batch.chunks(100) {
        log.append(some).unwrap();
        if kept.is_none() {
            kept = Some(log.sync().unwrap());
        }
    }
    let last = log.sync().unwrap();
    (folder, last, kept.unwrap())
});

fn copy() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(WHOLE.0.path()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// What is found in a copy that was damaged in one segment, whose records are given without their ends.
fn after(
    damaged: impl FnOnce(&mut Vec<Vec<u8>>, usize),
    segment: usize,
    line: usize,
) -> Result<(), Damage> {
    let folder = copy();
    let segments = segment::list(folder.path()).unwrap();
    let path = &segments[segment % segments.len()].path;
    let text = fs::read(path).unwrap();
    let lines = segment::lines(&text).map(<[u8]>::to_vec);
    let mut lines: Vec<_> = lines.collect();
    // The first line is that of the tree before.
    let at = 1 + line % (lines.len() - 1);
    damaged(&mut lines, at);
    let mut text = lines.join(&b'\n');
    text.push(b'\n');
    fs::write(path, text).unwrap();
    verify(folder.path(), &Evidence::default()).map(drop)
}

fn kept(checkpoint: &Checkpoint) -> Evidence {
    Evidence {
        kept: vec![format!("acp-chain: {checkpoint}\n")],
        ..Evidence::default()
    }
}

#[test]
fn a_log_of_ten_thousand_records_verifies() {
    let (folder, last, earlier) = &*WHOLE;
    assert_eq!(last.size, COUNT);
    let verified = verify(folder.path(), &kept(earlier)).unwrap();
    assert_eq!(verified.checkpoint, *last);
    assert_eq!((verified.uncovered, verified.removed), (0, 0));
    assert_eq!(verified.witnessed, [100]);
    assert!(segment::list(folder.path()).unwrap().len() > 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_changed_byte_is_found(segment: usize, line: usize, byte: usize, to: u8) {
        let found = after(|lines, at| {
            let text = &mut lines[at];
            let byte = byte % text.len();
            // Not a line feed, which makes two records of one: that is below.
            let other = if to == b'\n' || to == text[byte] { text[byte] ^ 1 } else { to };
            text[byte] = other;
        }, segment, line);
        prop_assert!(matches!(found, Err(Damage::Changed { .. })), "{:?}", found);
    }

    #[test]
    fn a_record_that_was_left_out_is_found(segment: usize, line: usize) {
        let found = after(|lines, at| drop(lines.remove(at)), segment, line);
        prop_assert!(found.is_err());
    }

    #[test]
    fn a_record_that_was_added_is_found(segment: usize, line: usize) {
        let found = after(|lines, at| lines.insert(at, record(7)), segment, line);
        prop_assert!(matches!(found, Err(Damage::Changed { .. })), "{:?}", found);
    }

    #[test]
    fn records_in_another_order_are_found(segment: usize, line: usize, other: usize) {
        let mut are_same = false;
        let found = after(|lines, at| {
            let other = 1 + other % (lines.len() - 1);
            are_same = other == at;
            lines.swap(at, other);
        }, segment, line);
        prop_assert_eq!(found.is_ok(), are_same);
    }

    #[test]
    fn a_record_that_was_split_or_joined_is_found(segment: usize, line: usize, is_split: bool) {
        let found = after(|lines, at| {
            if is_split {
                let rest = lines[at].split_off(9);
                lines.insert(at + 1, rest);
            } else if at + 1 < lines.len() {
                let next = lines.remove(at + 1);
                lines[at].extend(next);
            } else {
                lines[at].clear();
            }
        }, segment, line);
        prop_assert!(found.is_err());
    }

    #[test]
    fn an_end_that_was_cut_off_is_found(count in 0u64..COUNT) {
        let folder = copy();
        cut(folder.path(), count);
        let found = verify(folder.path(), &Evidence::default());
        prop_assert!(matches!(found, Err(Damage::Cut { .. })), "{:?}", found);
    }

    #[test]
    fn a_missing_file_of_records_is_found(segment: usize) {
        let folder = copy();
        let segments = segment::list(folder.path()).unwrap();
        fs::remove_file(&segments[segment % segments.len()].path).unwrap();
        let found = verify(folder.path(), &Evidence::default());
        let is_found = matches!(found, Err(Damage::Gap { .. } | Damage::Cut { .. }));
        prop_assert!(is_found, "{:?}", found);
    }

    #[test]
    fn changed_hashes_of_removed_records_are_found(segment: usize, byte: usize) {
        let folder = copy();
        Log::with(folder.path(), Some(Duration::from_mins(1)), SEGMENT).unwrap();
        prop_assert!(verify(folder.path(), &Evidence::default()).is_ok());
        let segments = segment::list(folder.path()).unwrap();
        let old = &segments[segment % (segments.len() - 1)];
        prop_assert!(old.is_removed);
        let mut text = fs::read(&old.path).unwrap();
        let byte = byte % text.len();
        text[byte] = if text[byte] == b'A' { b'B' } else { b'A' };
        fs::write(&old.path, text).unwrap();
        prop_assert!(verify(folder.path(), &Evidence::default()).is_err());
    }

    #[test]
    fn records_that_somebody_replaced_by_their_hashes_are_missing(segment: usize) {
        let folder = copy();
        let segments = segment::list(folder.path()).unwrap();
        segment::remove(&segments[segment % segments.len()]).unwrap();
        // Behind the checkpoint, anybody can say that they were removed.
        if let Some(last) = segment::list(folder.path()).unwrap().pop().filter(|last| !last.is_removed) {
            let mut text = fs::read(&last.path).unwrap();
            text.extend_from_slice(&segment::removal(COUNT).unwrap());
            text.push(b'\n');
            fs::write(&last.path, text).unwrap();
        }
        let found = verify(folder.path(), &Evidence::default());
        prop_assert!(matches!(found, Err(Damage::Hidden { .. })), "{:?}", found);
    }
}

/// Removes all records but the first ones.
fn cut(folder: &Path, count: u64) {
    for one in segment::list(folder).unwrap() {
        if one.first >= count {
            fs::remove_file(&one.path).unwrap();
            continue;
        }
        let text = fs::read(&one.path).unwrap();
        let most = 1 + usize::try_from(count - one.first).unwrap();
        let lines = segment::lines(&text).take(most);
        let kept: Vec<u8> = lines.flat_map(|line| [line, b"\n"].concat()).collect();
        fs::write(&one.path, kept).unwrap();
    }
}

#[test]
fn a_checkpoint_that_is_not_signed_by_the_log_is_found() {
    let folder = copy();
    let path = folder.path().join("checkpoint");
    let note = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("10000", "9999"),
        ("\u{2014}", "-"),
        ("receipts", "receipt"),
    ] {
        fs::write(&path, note.replacen(from, to, 1)).unwrap();
        let found = verify(folder.path(), &Evidence::default());
        assert!(matches!(found, Err(Damage::Checkpoint(_))), "{found:?}");
    }
    fs::remove_file(&path).unwrap();
    let found = verify(folder.path(), &Evidence::default());
    assert!(matches!(found, Err(Damage::Missing(_))), "{found:?}");
}

/// Writes a log anew, with the keys of the other one.
fn rewritten(count: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["keys.json", "lock", "verifier"] {
        fs::copy(WHOLE.0.path().join(name), folder.path().join(name)).unwrap();
    }
    filled(folder.path(), count);
    folder
}

#[test]
fn a_log_that_was_written_anew_with_its_key_does_not_agree_with_a_kept_checkpoint() {
    let (_, last, earlier) = &*WHOLE;
    let folder = rewritten(200);
    // By itself, it is a log.
    verify(folder.path(), &Evidence::default()).unwrap();
    for kept_size in [earlier, last] {
        let found = verify(folder.path(), &kept(kept_size));
        assert!(matches!(found, Err(Damage::Rewritten { .. })), "{found:?}");
    }
    // A log that was cut, and signed anew.
    let folder = copy();
    cut(folder.path(), 300);
    fs::remove_file(folder.path().join("checkpoint")).unwrap();
    let note = fs::read_to_string(rewritten(0).path().join("checkpoint")).unwrap();
    fs::write(folder.path().join("checkpoint"), note).unwrap();
    verify(folder.path(), &kept(earlier)).unwrap();
    let found = verify(folder.path(), &kept(last));
    assert!(
        matches!(found, Err(Damage::Rewritten { size: COUNT })),
        "{found:?}"
    );
}

#[test]
fn another_log_is_found_by_the_key_that_was_kept() {
    let other = tempfile::tempdir().unwrap();
    filled(other.path(), 3);
    let key = fs::read_to_string(WHOLE.0.path().join("verifier")).unwrap();
    let evidence = Evidence {
        key: Some(key),
        ..Evidence::default()
    };
    let found = verify(other.path(), &evidence);
    assert!(matches!(found, Err(Damage::Checkpoint(_))), "{found:?}");
    let found = verify(other.path(), &kept(&WHOLE.1));
    assert!(matches!(found, Err(Damage::NoWitness(_))), "{found:?}");
}

#[test]
fn an_empty_file_of_records_is_found() {
    let folder = copy();
    fs::write(segment::path(folder.path(), COUNT), "").unwrap();
    let found = verify(folder.path(), &Evidence::default());
    assert!(
        matches!(found, Err(Damage::Line { line: 1, .. })),
        "{found:?}"
    );
}

#[test]
fn any_text_in_a_folder_is_an_error_and_no_more() {
    let names: Vec<PathBuf> = fs::read_dir(WHOLE.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("lock") && !path.ends_with("keys.json"))
        .collect();
    let long = vec![b'['; 100_000];
    for path in names.iter().take(6) {
        for text in [&b""[..], b"\n\n\n", b"{}\n", b"\xff\xfe", &long] {
            let folder = copy();
            fs::write(folder.path().join(path.file_name().unwrap()), text).unwrap();
            assert!(verify(folder.path(), &Evidence::default()).is_err());
        }
    }
}
