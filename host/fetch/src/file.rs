//! Files, with their signatures beside them.

use std::io::ErrorKind;
use std::path::Path;

use super::{FetchError, Fetched};
use acp_chain_channel::limits::{COMPONENT, SIGNATURE};
use acp_chain_disk as disk;
use acp_chain_extension::Digest;

/// Reads a component, and the signature beside it, if there is one.
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
        unread: None,
    })
}

/// Reads a file of at most this many bytes.
pub fn read(path: &Path, most: usize) -> Result<Vec<u8>, FetchError> {
    disk::read(path, most).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => FetchError::TooLarge {
            what: path.display().to_string(),
            most: most as u64,
        },
        _ => FetchError::File {
            path: path.to_owned(),
            error,
        },
    })
}
