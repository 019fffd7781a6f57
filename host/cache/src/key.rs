//! The key of a folder: 32 random bytes, in a file for its owner only.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use acp_chain_system::files;

use super::entry::unfinished;

/// The file's name.
pub const NAME: &str = "key";

/// The key of hashes.
#[derive(Clone)]
pub struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// The key of a folder, which is created if it is missing, or if others may know it.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(NAME);
        if let Some(key) = read(&path)? {
            return Ok(key);
        }
        // The key is missing, incomplete, or not secret.
        let mut bytes = [0; blake3::KEY_LEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let mut file = unfinished(folder)?;
        file.as_file_mut().write_all(&bytes)?;
        let _ = fs::remove_file(&path);
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(Self(bytes)),
            // Another process was faster.
            Err(error) => read(&path)?.ok_or(error.error),
        }
    }

    pub fn hasher(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.0)
    }
}

/// The key in a file; `None` if it is missing, incomplete, or not secret. While others could write to the folder, they may
/// have left a key that they know, with code under it, and it stays when the folder is theirs no longer.
fn read(path: &Path) -> io::Result<Option<Key>> {
    // Checked first: opening a pipe would wait for a writer, and a link may lead to a file that others know.
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let file = File::open(path)?;
    if files::check_secret(&file, path).is_err() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(blake3::KEY_LEN as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok().map(Key))
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Key")
    }
}
