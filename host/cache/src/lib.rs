//! Compiled components, kept on disk between runs.
//!
//! Invariants:
//! - A file's name has a hash of its content, under a key that only this folder has. An incomplete or foreign file, or
//!   one from another engine, is never loaded. So no locks are needed: files are written elsewhere and renamed.
//! - A file is never changed after it was renamed, since other processes may run its code; it is only removed.
//! - A cache that cannot be read or written only costs time.

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
    /// Whether code is copied into memory, instead of mapped.
    copies: bool,
}

/// A component that is ready to run.
#[derive(Clone, Debug)]
pub struct LoadedComponent {
    pub component: Component,
    /// Whether it was compiled just now instead of loaded.
    pub is_new: bool,
}

impl CodeCache {
    /// Opens the cache in a folder, which is created if it is missing. Past `limit` bytes, the least recently used
    /// files are evicted.
    ///
    /// # Errors
    /// If the folder, or the key in it, can be neither read nor written.
    pub fn open(folder: &Path, limit: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            key: Key::of(folder)?,
            limit,
            // A file that wasmtime has mapped stays open, and others may only read it: it could not be evicted, and no
            // other process could record its use. Nor can Wine map it: the view is to be copied when written to, and to
            // be read, and Wine makes that one that can only be read, so that wasmtime fails when it changes pages.
            copies: cfg!(windows),
        })
    }

    /// Copies code into memory from now on, instead of mapping its file: for a disk that may go away, or on which others
    /// may remove a file while its code runs.
    #[must_use]
    pub fn copying(self) -> Self {
        Self {
            copies: true,
            ..self
        }
    }

    /// Finds a component that was compiled earlier, by the content of its file, or by its name.
    ///
    /// # Errors
    /// If `name` cannot be read.
    pub fn find(&self, engine: &Engine, name: impl Read) -> io::Result<Option<Component>> {
        let digest = Digest::new(&self.key, engine, name)?;
        Ok(self.lookup(engine, &digest))
    }

    /// The code of a component that was compiled under this name, to be kept under another.
    pub fn code(&self, engine: &Engine, name: &[u8]) -> Option<Vec<u8>> {
        let digest = Digest::new(&self.key, engine, name).ok()?;
        let entries = entries(&self.folder).ok()?;
        let mut own = entries.filter(|entry| entry.is_of(&digest));
        own.find_map(|entry| entry.content(&self.key, &digest).ok().flatten())
    }

    /// Finds the code of a component by a unique name, such as its bytes or their digest, or compiles it. The code must
    /// be from an engine with the same settings.
    ///
    /// # Errors
    /// If it cannot be compiled, or its code is for another engine.
    pub fn load<E: From<wasmtime::Error>>(
        &self,
        engine: &Engine,
        name: &[u8],
        compile: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<LoadedComponent, E> {
        let digest = Digest::new(&self.key, engine, name).map_err(wasmtime::Error::from)?;
        if let Some(component) = self.lookup(engine, &digest) {
            return Ok(LoadedComponent {
                component,
                is_new: false,
            });
        }
        tracing::debug!("{} has no code of this component", self.folder.display());
        let code = compile()?;
        if let Err(error) = self.keep(&digest, &code) {
            let folder = self.folder.display();
            tracing::warn!("compiled code cannot be kept in {folder}: {error}");
        }
        // Pages mapped from a file can be reloaded, and are shared with other processes; see `load`.
        let component = match self.lookup(engine, &digest) {
            Some(component) => component,
            None => compiled(engine, &code)?,
        };
        Ok(LoadedComponent {
            component,
            is_new: true,
        })
    }

    fn lookup(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let entries = entries(&self.folder).ok()?;
        let mut own = entries.filter(|entry| entry.is_of(digest));
        own.find_map(|entry| {
            let loaded = self.take(engine, digest, &entry);
            // The error may be temporary, such as too many open files.
            loaded.unwrap_or_else(|error| {
                let path = entry.path.display();
                tracing::warn!("{path} cannot be loaded: {error:#}");
                None
            })
        })
    }

    /// Loads the component in a file, or removes the file if it is incomplete or not ours.
    fn take(
        &self,
        engine: &Engine,
        digest: &Digest,
        entry: &Entry,
    ) -> wasmtime::Result<Option<Component>> {
        if !entry.is_whole(&self.key, digest)? {
            let path = entry.path.display();
            tracing::warn!("removed {path}: its content does not match its hash");
            let _ = fs::remove_file(&entry.path);
            return Ok(None);
        }
        // Record its use. If that fails, it is evicted earlier.
        let file = fs::File::options().append(true).open(&entry.path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        if self.copies {
            return compiled(engine, &fs::read(&entry.path)?).map(Some);
        }
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

/// The component from code that an engine with the same settings has just compiled.
///
/// # Errors
/// If it is for another engine.
#[expect(
    unsafe_code,
    reason = "the engine cannot check whether code is its own"
)]
pub fn compiled(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the caller passes code that an engine has compiled.
    unsafe { Component::deserialize(engine, code) }
}

/// The component from code in this range of the program's own file, if an engine with the same settings compiled it
/// and this machine can run it.
///
/// # Errors
/// If it is from another engine, for another machine, or cannot be read.
#[expect(
    unsafe_code,
    reason = "the engine cannot check whether code is its own"
)]
pub fn carried(engine: &Engine, program: &File, code: &Range<u64>) -> wasmtime::Result<Component> {
    let length = usize::try_from(code.end - code.start)?;
    // SAFETY: the code is a part of the program's own file, which is trusted like the program.
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
    reason = "the engine cannot check whether code is its own"
)]
fn load(engine: &Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: the file has been verified to be the output of an engine with the same settings. Only processes with the
    // user's rights could change it since, and they gain nothing by that.
    unsafe { Component::deserialize_file(engine, path) }
}
