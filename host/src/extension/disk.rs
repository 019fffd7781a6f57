//! Atomic changes on disk: a file is written to a temporary one, synced, and renamed. A process killed in between
//! leaves a file that [`sweep`] removes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The prefix of temporary files.
const UNFINISHED: &str = ".unfinished-";

/// Writes a file, replacing any other one.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    step()?;
    let (mut file, beside) = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .disable_cleanup(true)
        .tempfile_in(folder)?
        .into_parts();
    let mut write = || {
        step()?;
        file.write_all(bytes)?;
        // A shared file stays shared.
        if let Ok(about) = fs::metadata(path) {
            file.set_permissions(about.permissions())?;
        }
        step()?;
        file.sync_all()?;
        step()?;
        fs::rename(&beside, path)
    };
    if let Err(error) = write() {
        let _ = remove(&beside);
        return Err(error);
    }
    step()?;
    sync(folder)
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> io::Result<()> {
    step()?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes leftovers of killed writers. Nobody may be writing into the folder.
pub fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Syncs the names in a folder, if the system can open folders.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder).map_or(Ok(()), |folder| folder.sync_all())
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "tests let it fail")]
fn step() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use self::fault::step;

/// A disk that breaks, for the tests of this thread.
#[cfg(test)]
pub mod fault {
    use std::cell::Cell;
    use std::io;

    /// How it breaks.
    #[derive(Clone, Copy, Debug)]
    pub enum Fault {
        /// A step fails, but not later ones: the disk was full.
        Full,
        /// From a step on nothing is done, not even cleanup: the process was killed.
        Killed,
    }

    thread_local! {
        static NEXT: Cell<Option<(Fault, usize)>> = const { Cell::new(None) };
    }

    pub(super) fn step() -> io::Result<()> {
        match NEXT.get() {
            None => Ok(()),
            Some((fault, 0)) => {
                if let Fault::Full = fault {
                    NEXT.set(None);
                }
                Err(io::ErrorKind::StorageFull.into())
            }
            Some((fault, left)) => {
                NEXT.set(Some((fault, left - 1)));
                Ok(())
            }
        }
    }

    /// Does some work on a disk that breaks at the first step, then again on one that breaks at the second, and so on
    /// until it succeeds. `look` inspects the result each time.
    pub fn at_each_step<W>(prepare: impl Fn() -> W, work: impl Fn(&W), look: impl Fn(&W, &str)) {
        for fault in [Fault::Full, Fault::Killed] {
            let mut broken = 0;
            loop {
                let world = prepare();
                NEXT.set(Some((fault, broken)));
                work(&world);
                let met = !matches!(NEXT.replace(None), Some((_, left)) if left > 0);
                look(&world, &format!("{fault:?} at step {broken}"));
                if !met {
                    break;
                }
                broken += 1;
            }
            assert!(broken > 1, "there was nothing to break");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_old_one_or_the_new_one() {
        fault::at_each_step(
            || {
                let folder = tempfile::tempdir().unwrap();
                fs::write(folder.path().join("it"), "old").unwrap();
                folder
            },
            |folder| drop(write(&folder.path().join("it"), b"new")),
            |folder, fault| {
                let text = fs::read_to_string(folder.path().join("it")).unwrap();
                assert!(["old", "new"].contains(&&*text), "{fault}: {text}");
                sweep(folder.path()).unwrap();
                assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{fault}");
            },
        );
    }
}
