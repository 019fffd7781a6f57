//! Compiled components, kept on disk between runs.
//!
//! Invariants:
//! - A file's name has a hash of its content, under a key that only this folder has; an incomplete file, one that is
//!   not ours, or one from another engine is never loaded. So nobody has to wait for anybody: files are written beside
//!   their place and moved there, and a killed writer leaves nothing that counts.
//! - A file is never changed once it has its name, since others may be running its code; it is only removed.
//! - A cache that cannot be read or written costs time, and nothing else.

mod entry;
mod key;

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::MmapOptions;
use wasmtime::Engine;
use wasmtime::component::Component;

use self::entry::{Digest, Entry, entries};
use self::key::Key;

/// Compiled components in a folder.
#[derive(Clone, Debug)]
pub struct CodeCache {
    folder: PathBuf,
    key: Key,
    limit: u64,
}

/// A component that is ready to run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The component.
    pub component: Component,
    /// Whether it was compiled just now, not loaded.
    pub is_new: bool,
}

impl CodeCache {
    /// The cache in a folder, which is created. It keeps this many bytes; the least recently used files are evicted
    /// first.
    ///
    /// # Errors
    /// If the folder, or the key in it, can be neither read nor written.
    pub fn open(folder: &Path, limit: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            key: Key::of(folder)?,
            limit,
        })
    }

    /// Finds a component that was compiled earlier, by the content of its file, or by its name.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn find(&self, engine: &Engine, name: impl Read) -> io::Result<Option<Component>> {
        let digest = Digest::new(&self.key, engine, name)?;
        Ok(self.lookup(engine, &digest))
    }

    /// Finds the code of a component by a unique name, such as its file or a digest of that, or has it compiled. The
    /// code must be an engine's with the same settings.
    ///
    /// # Errors
    /// If it cannot be compiled, or its code is for another engine.
    pub fn load<E: From<wasmtime::Error>>(
        &self,
        engine: &Engine,
        name: &[u8],
        compile: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Loaded, E> {
        let digest = Digest::new(&self.key, engine, name).map_err(wasmtime::Error::from)?;
        if let Some(component) = self.lookup(engine, &digest) {
            return Ok(Loaded {
                component,
                is_new: false,
            });
        }
        let code = compile()?;
        if let Err(error) = self.keep(&digest, &code) {
            let folder = self.folder.display();
            tracing::warn!("compiled code cannot be kept in {folder}: {error}");
        }
        // Pages of a file can be reloaded, and are shared with other processes that run it.
        let component = match self.lookup(engine, &digest) {
            Some(component) => component,
            None => compiled(engine, &code)?,
        };
        Ok(Loaded {
            component,
            is_new: true,
        })
    }

    fn lookup(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let entries = entries(&self.folder).ok()?;
        let mut own = entries.filter(|entry| entry.is_of(digest));
        own.find_map(|entry| {
            let loaded = self.take(engine, digest, &entry);
            // That may pass: there may be no room, or too many files may be open.
            loaded.unwrap_or_else(|error| {
                let path = entry.path.display();
                tracing::warn!("{path} cannot be used now: {error:#}");
                None
            })
        })
    }

    /// The component in a file, if the file is complete and ours; if not, it is removed.
    fn take(
        &self,
        engine: &Engine,
        digest: &Digest,
        entry: &Entry,
    ) -> wasmtime::Result<Option<Component>> {
        if !entry.is_whole(&self.key, digest)? {
            let path = entry.path.display();
            tracing::warn!("removed {path}: its content is not what was written");
            let _ = fs::remove_file(&entry.path);
            return Ok(None);
        }
        // Records its use. If that fails, it is evicted earlier.
        let file = fs::File::options().append(true).open(&entry.path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        load(engine, &entry.path).map(Some)
    }

    fn keep(&self, digest: &Digest, code: &[u8]) -> io::Result<()> {
        if let Some(room) = self.limit.checked_sub(code.len() as u64) {
            entry::make_room(&self.folder, room)?;
            entry::write(&self.folder, &self.key, digest, code)?;
        }
        Ok(())
    }
}

/// The component from code that an engine with the same settings has made just now.
///
/// # Errors
/// If it is for another engine.
#[expect(
    unsafe_code,
    reason = "the engine cannot tell by itself whether code is its own"
)]
pub fn compiled(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the caller had it made.
    unsafe { Component::deserialize(engine, code) }
}

/// The component from code at this place in the program's own file, if an engine with the same settings made it and
/// this machine can run it.
///
/// # Errors
/// If it is of another engine, for another machine, or cannot be read.
#[expect(
    unsafe_code,
    reason = "the engine cannot tell by itself whether code is its own"
)]
pub fn carried(engine: &Engine, program: &File, code: &Range<u64>) -> wasmtime::Result<Component> {
    let length = usize::try_from(code.end - code.start)?;
    // SAFETY: it is a part of the program's own file. Whoever can change that changes the program.
    unsafe {
        let code = MmapOptions::new()
            .offset(code.start)
            .len(length)
            .map(program)?;
        Component::deserialize(engine, &code)
    }
}

#[expect(
    unsafe_code,
    reason = "the engine cannot tell by itself whether code is its own"
)]
fn load(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: the file was found to be the output of an engine with the same settings. Whoever changes it in between,
    // or while it runs, has the rights of the user, and needs no such way.
    unsafe { Component::deserialize_file(engine, path) }
}
