//! Files, with their signatures beside them.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::{FetchError, Fetched};
use crate::extension::Digest;
use crate::limits::{COMPONENT, SIGNATURE};

/// Reads a component.
pub fn fetch(path: &Path) -> Result<Fetched, FetchError> {
    let component = read(path, COMPONENT)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".minisig");
    let signatures = match read(Path::new(&beside), SIGNATURE) {
        Ok(text) => vec![String::from_utf8_lossy(&text).into_owned()],
        Err(FetchError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    Ok(Fetched {
        digest: Digest::of(&component),
        component,
        manifest: None,
        signatures,
    })
}

/// Reads a file that is not larger than this.
pub fn read(path: &Path, most: usize) -> Result<Vec<u8>, FetchError> {
    let wrong = |error| FetchError::File {
        path: path.to_owned(),
        error,
    };
    // Checked first: opening a pipe would wait for a writer.
    if !fs::metadata(path).map_err(wrong)?.is_file() {
        return Err(wrong(std::io::Error::other("it is not a file")));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(wrong)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(wrong)?;
    match bytes.len() > most {
        true => Err(FetchError::TooLarge {
            what: path.display().to_string(),
            most: most as u64,
        }),
        false => Ok(bytes),
    }
}
