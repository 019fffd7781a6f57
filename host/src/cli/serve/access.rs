//! The file of the access log. It begins anew when it grows too long; its previous content is kept in another file
//! beside it.
//!
//! Once it is open, no path is resolved, since that right is given up: the content is copied, and the file truncated.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use acp_chain_remote::server::access::{Access, Writer};

use crate::system::files;
use crate::untrusted::Untrusted;

/// It begins anew past this many bytes.
const LONGEST: u64 = 64 << 20;

/// A file of whole lines.
pub struct AccessFile {
    file: File,
    /// Keeps the previous content, if the file can be truncated: a pipe has no length.
    kept: Option<File>,
}

/// A log and its writer; `-` is standard error.
pub fn open(path: &Path) -> Result<(Access, Writer), String> {
    if path == Path::new("-") {
        return Ok(Access::new(Box::new(io::stderr())));
    }
    match AccessFile::open(path) {
        Ok(file) => Ok(Access::new(Box::new(file))),
        Err(error) => {
            let path = Untrusted::new(path.display());
            Err(format!("the access log {path} cannot be opened: {error}"))
        }
    }
}

impl AccessFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = files::append_shared(path)?;
        let kept = match file.metadata()?.is_file() {
            true => Some(files::append_shared(&acp_chain_trace::kept(path))?),
            false => None,
        };
        Ok(Self { file, kept })
    }
}

impl Write for AccessFile {
    /// Writes all of it, or nothing.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let Some(kept) = &mut self.kept else {
            return self.file.write(lines);
        };
        let mut length = self.file.seek(SeekFrom::End(0))?;
        if length > LONGEST {
            kept.set_len(0)?;
            kept.seek(SeekFrom::Start(0))?;
            self.file.seek(SeekFrom::Start(0))?;
            io::copy(&mut &self.file, kept)?;
            self.file.set_len(0)?;
            length = self.file.seek(SeekFrom::Start(0))?;
        }
        let written = self.file.write_all(lines);
        written.inspect_err(|_| {
            // Partial lines would be useless.
            let _ = self.file.set_len(length);
        })?;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_that_grows_too_long_begins_anew_and_the_old_one_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = AccessFile::open(&path).unwrap();
        log.write_all(b"first\n").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(LONGEST + 1).unwrap();
        log.write_all(b"second\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second\n");
        let old = folder.path().join("log.old");
        assert_eq!(fs::metadata(&old).unwrap().len(), LONGEST + 1);
        file.set_len(LONGEST + 2).unwrap();
        log.write_all(b"third\n").unwrap();
        assert_eq!(fs::metadata(&old).unwrap().len(), LONGEST + 2);
        assert_eq!(fs::read(&path).unwrap(), b"third\n");
    }
}
