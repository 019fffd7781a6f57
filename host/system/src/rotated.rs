//! A file to append to, which starts over when it grows too long.
//!
//! The old content is kept in another file. Both are opened at the beginning, since the right to look up paths is given
//! up later: to start over, the content is copied, and the file is truncated.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::files;

/// A longer file starts over, in bytes.
pub const LONGEST: u64 = 64 << 20;

/// A rotated file. A pipe or a terminal has no length, and never starts over.
#[derive(Debug)]
pub struct Rotated {
    file: File,
    /// Receives the old content, if the file is a regular one.
    kept: Option<File>,
}

impl Rotated {
    /// Opens a file, and the file for its old content. Missing files are created readable for their owner only.
    pub fn open(path: &Path, kept: &Path) -> io::Result<Self> {
        let file = files::append_shared(path)?;
        let is_regular = file.metadata()?.is_file();
        let kept = is_regular.then(|| files::append_shared(kept));
        Ok(Self {
            file,
            kept: kept.transpose()?,
        })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Starts over if the file is too long. Returns the length after that; `None` for a pipe or a terminal.
    pub fn turn(&mut self) -> io::Result<Option<u64>> {
        let Some(kept) = &mut self.kept else {
            return Ok(None);
        };
        let length = self.file.seek(SeekFrom::End(0))?;
        if length <= LONGEST {
            return Ok(Some(length));
        }
        kept.set_len(0)?;
        kept.seek(SeekFrom::Start(0))?;
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut (&self.file).take(length), kept)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0)).map(Some)
    }

    /// Appends to the file, which has this length. If writing fails, the file is truncated to the length again, since
    /// incomplete lines are useless.
    pub fn append(&mut self, lines: &[u8], length: Option<u64>) -> io::Result<()> {
        let Some(length) = length else {
            return self.file.write_all(lines);
        };
        files::append(&self.file, lines).inspect_err(|_| {
            let _ = self.file.set_len(length);
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn processes_that_append_at_the_same_time_overwrite_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [path, old] = ["log", "log.old"].map(|name| folder.path().join(name));
        let [mut one, mut other] = [(); 2].map(|()| Rotated::open(&path, &old).unwrap());
        let lengths = [one.turn().unwrap(), other.turn().unwrap()];
        one.append(b"one\n", lengths[0]).unwrap();
        other.append(b"other\n", lengths[1]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\nother\n");
    }

    #[test]
    fn a_file_that_grows_too_long_starts_over_and_its_old_content_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let [path, old] = ["log", "log.old"].map(|name| folder.path().join(name));
        let mut log = Rotated::open(&path, &old).unwrap();
        let mut write = |text: &str| {
            let length = log.turn().unwrap();
            log.append(text.as_bytes(), length).unwrap();
        };
        write("first\n");
        let file = File::options().write(true).open(&path).unwrap();
        for (more, text) in [(1, "second\n"), (2, "third\n")] {
            file.set_len(LONGEST + more).unwrap();
            write(text);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::metadata(&old).unwrap().len(), LONGEST + more);
        }
    }
}
