//! The key of a folder: 32 random bytes, in a file for its owner only.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::entry::unfinished;

/// The file's name.
pub const NAME: &str = "key";

/// The key of hashes.
#[derive(Clone)]
pub struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// The key of a folder, which is created if it is missing.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(NAME);
        if let Some(key) = read(&path)? {
            return Ok(key);
        }
        // The key is missing, or incomplete.
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

fn read(path: &Path) -> io::Result<Option<Key>> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes.try_into().ok().map(Key)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Key")
    }
}
