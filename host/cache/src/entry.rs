//! A file of the cache: `DIGEST-HASH.compiled`. DIGEST is the digest of the component and of the engine's settings,
//! HASH the keyed hash of DIGEST and the file's content.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;
use wasmtime::Engine;

use super::key::{Key, NAME};

const EXTENSION: &str = "compiled";

/// The minimum age of an abandoned file: one with another name, left by a killed writer.
const STALE: Duration = Duration::from_hours(1);

/// The identity of compiled code.
pub struct Digest(String);

impl Digest {
    /// The digest of a component for an engine, by its bytes or its name.
    pub fn new(key: &Key, engine: &Engine, mut name: impl Read) -> io::Result<Self> {
        let mut settings = Settings(key.hasher());
        engine.precompile_compatibility_hash().hash(&mut settings);
        let Settings(mut hasher) = settings;
        hasher.update_reader(&mut name)?;
        let hex = hasher.finalize().to_hex();
        Ok(Self(hex[..32].to_owned()))
    }

    fn hash(&self, key: &Key) -> blake3::Hasher {
        let mut hasher = key.hasher();
        hasher.update(self.0.as_bytes());
        hasher
    }
}

/// An engine's settings, fed into a hash.
struct Settings(blake3::Hasher);

impl Hasher for Settings {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// A file of the cache.
pub struct Entry {
    pub path: PathBuf,
    digest: String,
    hash: String,
}

impl Entry {
    fn named(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(EXTENSION)?;
        let (digest, hash) = name.strip_suffix('.')?.split_once('-')?;
        let (digest, hash) = (digest.to_owned(), hash.to_owned());
        Some(Self { path, digest, hash })
    }

    pub fn is_of(&self, digest: &Digest) -> bool {
        self.digest == digest.0
    }

    /// Whether its content matches its name.
    pub fn is_whole(&self, key: &Key, digest: &Digest) -> io::Result<bool> {
        let mut hasher = digest.hash(key);
        // Files are never changed, so none is truncated while it is mapped.
        hasher.update_mmap(&self.path)?;
        Ok(self.has_hash(&hasher))
    }

    /// Its content, if that matches its name.
    pub fn content(&self, key: &Key, digest: &Digest) -> io::Result<Option<Vec<u8>>> {
        let content = fs::read(&self.path)?;
        let mut hasher = digest.hash(key);
        hasher.update(&content);
        Ok(self.has_hash(&hasher).then_some(content))
    }

    fn has_hash(&self, hasher: &blake3::Hasher) -> bool {
        let hash = blake3::Hash::from_hex(&self.hash);
        hash.is_ok_and(|hash| hash == hasher.finalize())
    }
}

/// The files in a folder with our names.
pub fn entries(folder: &Path) -> io::Result<impl Iterator<Item = Entry>> {
    let files = fs::read_dir(folder)?;
    Ok(files.filter_map(|file| Entry::named(file.ok()?.path())))
}

/// A new file of this user alone, to be renamed. `tempfile` would add the temporary name to its errors, which are about
/// the folder; so it is written by `as_file_mut`, too.
pub fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder).map_err(|error| error.kind().into())
}

/// Writes a file. If two processes write the same one, either may win.
pub fn write(folder: &Path, key: &Key, digest: &Digest, code: &[u8]) -> io::Result<()> {
    let mut hasher = digest.hash(key);
    hasher.update(code);
    let hash = hasher.finalize().to_hex();
    let mut file = unfinished(folder)?;
    file.as_file_mut().write_all(code)?;
    let name = format!("{}-{hash}.{EXTENSION}", digest.0);
    file.persist(folder.join(name))
        .map_err(|error| error.error)?;
    Ok(())
}

/// Evicts the least recently used files down to `room` bytes, and removes files of killed writers.
pub fn make_room(folder: &Path, room: u64) -> io::Result<()> {
    let now = SystemTime::now();
    let mut used = Vec::new();
    for file in fs::read_dir(folder)?.flatten() {
        let (path, Ok(data)) = (file.path(), file.metadata()) else {
            continue;
        };
        if !data.is_file() || path.file_name().is_some_and(|name| name == NAME) {
            continue;
        }
        let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let age = now.duration_since(modified).unwrap_or_default();
        if Entry::named(path.clone()).is_some() {
            used.push((modified, data.len(), path));
        } else if age >= STALE {
            let _ = fs::remove_file(path);
        }
    }
    used.sort_unstable_by(|one, other| other.cmp(one));
    let mut sum = 0;
    for (_, len, path) in used {
        sum += len;
        if sum > room {
            // On Unix, processes that run the code have the file open, and keep it.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}
