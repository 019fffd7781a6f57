use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{SMALL, filled, open, open_keeping, record};
use crate::merkle::Tree;
use crate::record::LONGEST;
use crate::segment::{self, Head};
use crate::{Damage, Evidence, LogError, verify};

fn size(folder: &Path) -> u64 {
    verify(folder, &Evidence::default())
        .unwrap()
        .checkpoint
        .size
}

#[test]
fn a_log_is_continued_by_each_process_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/log");
    let (mut one, mut two) = (open(&folder).unwrap(), open(&folder).unwrap());
    for number in 0..40 {
        one.append(&[record(number)]).unwrap();
        two.append(&[record(number), record(number)]).unwrap();
    }
    assert_eq!(two.sync().unwrap().size, 120);
    assert_eq!(one.sync().unwrap().size, 120);
    assert!(segment::list(&folder).unwrap().len() > 2);
    drop((one, two));
    open(&folder).unwrap().append(&[record(0)]).unwrap();
    let verified = verify(&folder, &Evidence::default()).unwrap();
    assert_eq!((verified.checkpoint.size, verified.uncovered), (120, 1));
    assert_eq!(open(&folder).unwrap().sync().unwrap().size, 121);
}

#[test]
fn what_a_killed_process_wrote_in_part_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 3);
    let last = segment::list(folder.path()).unwrap().pop().unwrap();
    let mut text = fs::read(&last.path).unwrap();
    text.extend_from_slice(br#"{"time":"#);
    fs::write(&last.path, text).unwrap();
    let verified = verify(folder.path(), &Evidence::default()).unwrap();
    assert!(verified.is_cut);
    assert_eq!(filled(folder.path(), 1).size, 4);
    let verified = verify(folder.path(), &Evidence::default()).unwrap();
    assert!(!verified.is_cut);
}

#[test]
fn a_changed_log_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 3);
    let last = segment::list(folder.path()).unwrap().pop().unwrap();
    let text = fs::read_to_string(&last.path).unwrap();
    for changed in [
        text.replace(r#""request":1"#, r#""request":7"#),
        text.lines().next().unwrap().to_owned() + "\n",
        String::new(),
    ] {
        fs::write(&last.path, changed).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(matches!(error, LogError::Damaged { .. }), "{error}");
    }
    fs::write(&last.path, text).unwrap();
    assert_eq!(filled(folder.path(), 1).size, 4);
    fs::remove_file(folder.path().join("checkpoint")).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, LogError::Damaged { .. }), "{error}");
}

/// The error of a log with 20 records whose folder is changed while it is open.
fn changed_meanwhile(change: impl FnOnce(&Path)) -> LogError {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path()).unwrap();
    for number in 0..20 {
        log.append(&[record(number)]).unwrap();
    }
    log.sync().unwrap();
    change(folder.path());
    log.append(&[record(20)]).unwrap_err()
}

#[test]
fn a_log_that_is_changed_meanwhile_is_not_continued() {
    let without_last = |folder: &Path| {
        let last = segment::list(folder).unwrap().pop().unwrap();
        fs::remove_file(last.path).unwrap();
    };
    let without_any = |folder: &Path| {
        for one in segment::list(folder).unwrap() {
            fs::remove_file(one.path).unwrap();
        }
    };
    let with_another = |folder: &Path| {
        let mut tree = Tree::default();
        for _ in 0..20 {
            tree.push([7; 32]);
        }
        fs::write(segment::path(folder, 20), Head { tree }.line()).unwrap();
    };
    // As programs do that change a file.
    let with_a_copy = |folder: &Path| {
        let last = segment::list(folder).unwrap().pop().unwrap();
        let copy = folder.join("copy");
        fs::copy(&last.path, &copy).unwrap();
        fs::rename(copy, last.path).unwrap();
    };
    // `verify` would take it for the end of the log.
    let with_a_long_line = |folder: &Path| {
        let last = segment::list(folder).unwrap().pop().unwrap();
        let mut text = fs::read(&last.path).unwrap();
        text.resize(text.len() + LONGEST + 1, b' ');
        text.push(b'\n');
        fs::write(last.path, text).unwrap();
    };
    for error in [
        changed_meanwhile(without_last),
        changed_meanwhile(without_any),
        changed_meanwhile(with_another),
        changed_meanwhile(with_a_copy),
        changed_meanwhile(with_a_long_line),
    ] {
        assert!(matches!(error, LogError::Damaged { .. }), "{error}");
    }
}

#[test]
fn what_is_no_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 3);
    fs::create_dir(segment::path(folder.path(), 3)).unwrap();
    let damage = verify(folder.path(), &Evidence::default()).unwrap_err();
    assert!(matches!(damage, Damage::Unreadable(_)), "{damage}");
    assert!(open(folder.path()).is_err());
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_lock_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 3);
    let lock = folder.path().join("lock");
    fs::remove_file(&lock).unwrap();
    let made = Command::new("mkfifo").arg(&lock).status().unwrap();
    assert!(made.success());
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("lock: it is not a file"), "{error}");
}

#[test]
fn a_log_with_the_key_of_another_one_is_not_continued() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(folder.path(), 3);
    filled(other.path(), 3);
    let name = "verifier";
    fs::copy(other.path().join(name), folder.path().join(name)).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, LogError::Damaged { .. }), "{error}");
    fs::remove_file(folder.path().join(name)).unwrap();
    assert_eq!(filled(folder.path(), 1).size, 4);
    assert_eq!(size(folder.path()), 4);
}

#[test]
fn a_folder_of_somebody_else_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, LogError::Foreign(_)), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn old_records_are_removed_and_every_checkpoint_still_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let first = filled(folder.path(), 1);
    let middle = filled(folder.path(), 20);
    let last = filled(folder.path(), 20);
    let segments = || segment::list(folder.path()).unwrap();
    let removed = || segments().iter().filter(|one| one.is_removed).count();
    // They are an hour old.
    open_keeping(folder.path(), Duration::from_hours(2)).unwrap();
    assert_eq!(removed(), 0);
    let mut log = open_keeping(folder.path(), Duration::from_mins(1)).unwrap();
    assert_eq!(removed(), segments().len() - 1);
    log.sync().unwrap();
    let kept = [&first, &middle, &last].map(ToString::to_string);
    let evidence = Evidence {
        kept: kept.to_vec(),
        ..Evidence::default()
    };
    let verified = verify(folder.path(), &evidence).unwrap();
    assert_eq!(verified.removed, segments().last().unwrap().first);
    assert_eq!(verified.witnessed, [first.size, middle.size, last.size]);
    // The log says itself that they were removed.
    assert_eq!(verified.checkpoint.size, last.size + 1);
    let mut removals = 0;
    crate::each::<LogError>(folder.path(), |entry| {
        removals += usize::from(entry.text.windows(7).any(|part| part == b"removal"));
        Ok(())
    })
    .unwrap();
    assert_eq!(removals, 1);
}

#[test]
fn a_clock_that_was_set_back_removes_no_newer_records() {
    let folder = tempfile::tempdir().unwrap();
    let record = |hours: u64| {
        let time = SystemTime::now() - Duration::from_hours(hours);
        let time = humantime::format_rfc3339_micros(time);
        format!(r#"{{"time":"{time}","what":"stop"}}"#).into_bytes()
    };
    let mut log = open(folder.path()).unwrap();
    for _ in 0..3 {
        // A segment each.
        let mut batch = vec![record(10); 20];
        batch[0] = record(0);
        log.append(&batch).unwrap();
    }
    log.sync().unwrap();
    let removed = || {
        let segments = segment::list(folder.path()).unwrap();
        (
            segments.iter().filter(|one| one.is_removed).count(),
            segments.len(),
        )
    };
    open_keeping(folder.path(), Duration::from_hours(2)).unwrap();
    assert_eq!(removed(), (0, 3));
    open_keeping(folder.path(), Duration::ZERO).unwrap();
    assert_eq!(removed().0, 2);
}

#[test]
fn a_removal_that_was_interrupted_has_removed_nothing() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 20);
    let first = segment::list(folder.path()).unwrap().remove(0);
    fs::write(first.path.with_extension("hashes"), "half of").unwrap();
    assert_eq!(size(folder.path()), 20);
    let mut log = open_keeping(folder.path(), Duration::from_mins(1)).unwrap();
    log.sync().unwrap();
    assert!(size(folder.path()) > 20);
}

#[test]
fn a_record_has_a_bounded_length() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path()).unwrap();
    let longer = vec![b' '; LONGEST + 1];
    assert!(matches!(log.append(&[longer]), Err(LogError::TooLong)));
    let most = vec![b' '; LONGEST];
    assert!(most.len() as u64 > SMALL);
    log.append(&[most]).unwrap();
    log.sync().unwrap();
    assert_eq!(size(folder.path()), 1);
}

#[test]
fn a_folder_without_a_log_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let damage = verify(folder.path(), &Evidence::default()).unwrap_err();
    assert!(matches!(damage, Damage::Missing("verifier")), "{damage}");
}
