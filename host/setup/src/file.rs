//! Reads the files of editors.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_system::files::real;

use crate::error::{Error, LONGEST, Malformed};

/// The file that a path leads to, or would lead to.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, Error> {
    match real(path) {
        Ok(path) => Ok(path),
        Err(_) if path.symlink_metadata().is_ok() => Err(Error::Dangling(path.to_owned())),
        // The folder may be a link, too.
        Err(_) => Ok(match (path.parent().map(real), path.file_name()) {
            (Some(Ok(folder)), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }),
    }
}

/// The content of a file; `None` if it is missing.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Opening a pipe would wait for a writer.
        Ok(found) if !found.is_file() => {
            return Err(Error::disk(path)(io::Error::other("it is not a file")));
        }
        _ => {}
    }
    let file = File::open(path).map_err(Error::disk(path))?;
    let mut bytes = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(Error::disk(path))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Error::TooLarge(path.to_owned()));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = valid.split(|byte| *byte == b'\n').count();
        Malformed::in_file(path)(Malformed::new(lines, "not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = read(folder.path()).expect_err("a folder is no file");
        assert!(error.to_string().ends_with("it is not a file"), "{error}");
        assert!(read(&folder.path().join("missing")).is_ok_and(|text| text.is_none()));
    }
}
