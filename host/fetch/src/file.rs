//! Files, with their signatures beside them.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::{Cause, FetchError, Fetched};
use acp_chain_channel::limits::{COMPONENT, SIGNATURE};
use acp_chain_disk as disk;
use acp_chain_extension::Digest;

/// Reads a component, and the signature beside it, if there is one.
pub fn fetch(path: &Path) -> Result<Fetched, FetchError> {
    let component = read(path, COMPONENT)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".minisig");
    let beside = Path::new(&beside);
    let signatures = match disk::read(beside, SIGNATURE) {
        Ok(text) => vec![String::from_utf8_lossy(&text).into_owned()],
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unreadable(beside, SIGNATURE, error)),
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
    disk::read(path, most).map_err(|error| unreadable(path, most, error))
}

fn unreadable(path: &Path, most: usize, error: io::Error) -> FetchError {
    let cause = match error.kind() {
        ErrorKind::FileTooLarge => Cause::TooLarge(most as u64),
        _ => Cause::File(error),
    };
    cause.of(&path.display().to_string())
}
