//! The state of unpacking, entry by entry. Links are made last, so that nothing is written through one.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::mem;
use std::path::{Path, PathBuf};

use tar::EntryType;
use zip::ZipArchive;

use super::inside;
use crate::{program, system};

/// The maximum size of an archive's content, in bytes.
const BYTES: u64 = 4 << 30;

/// The maximum number of files and folders.
const FILES: usize = 200_000;

/// The maximum length of the headers before an entry of a tar file, in bytes: its name, and metadata, which are kept in
/// memory.
const HEAD: u64 = 64 << 10;

/// The maximum length of the table of contents of a zip file, in bytes. In memory it takes several times as much.
pub const CONTENTS: u64 = 32 << 20;

/// The maximum number of notes; further ones are counted.
pub const NOTES: usize = 8;

/// The maximum length of a chain of hard links whose files come later.
const CHAIN: usize = 40;

/// The progress of unpacking, and the limits of the rest.
pub struct Unpacker<'r> {
    root: &'r Path,
    /// How many more bytes may be unpacked.
    bytes: u64,
    pub files: usize,
    /// Symbolic links to be made, and their targets.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Other names of files, and the files.
    hard_links: BTreeMap<PathBuf, PathBuf>,
    /// Whether any file of the archive is marked as executable.
    has_modes: bool,
    /// Files that look like programs or scripts.
    programs: Vec<PathBuf>,
    /// Notes about entries that were left out.
    notes: Vec<String>,
    /// How many further entries were left out.
    more: usize,
}

impl<'r> Unpacker<'r> {
    pub fn new(root: &'r Path) -> Self {
        Self {
            root,
            bytes: BYTES,
            files: FILES,
            links: BTreeMap::new(),
            hard_links: BTreeMap::new(),
            has_modes: false,
            programs: Vec::new(),
            notes: Vec::new(),
            more: 0,
        }
    }

    pub fn zip(&mut self, reader: impl Read + Seek) -> io::Result<()> {
        let left = Cell::new(CONTENTS);
        let mut archive = ZipArchive::new(BoundedReader {
            reader,
            left: &left,
            what: "in its table of contents",
        })?;
        left.set(u64::MAX);
        for at in 0..archive.len() {
            // Some programs for Windows write `\` for `/`.
            let name = archive.name_for_index(at).unwrap_or_default();
            let path = PathBuf::from(name.replace('\\', "/"));
            let entry = archive.by_index(at);
            let mut entry =
                entry.map_err(|error| refused(&path, &format!("cannot be read: {error}")))?;
            let is_executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            if entry.is_symlink() {
                let to = io::read_to_string((&mut entry).take(4096))?;
                self.later(&path, Path::new(&to))?;
            } else if entry.is_dir() {
                self.folder(&path)?;
            } else {
                self.file(&path, entry, is_executable)?;
            }
        }
        Ok(())
    }

    pub fn tar(&mut self, reader: impl Read) -> io::Result<()> {
        let left = Cell::new(HEAD);
        // A limit of uncompressed bytes, as skipped entries are read, too.
        let mut archive = tar::Archive::new(BoundedReader {
            reader: reader.take(2 * BYTES),
            left: &left,
            what: "before an entry",
        });
        let mut entries = archive.entries()?;
        loop {
            left.set(HEAD);
            let Some(entry) = entries.next() else {
                return Ok(());
            };
            left.set(u64::MAX);
            let mut entry = entry?;
            // The hole in a sparse file takes nothing of the archive, and has any size.
            if entry.size() > self.bytes {
                return Err(too_large());
            }
            let path = entry.path()?.into_owned();
            let to = entry.link_name()?.unwrap_or_default().into_owned();
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let is_executable = entry.header().mode()? & 0o111 != 0;
                    self.file(&path, &mut entry, is_executable)?;
                }
                EntryType::Directory => self.folder(&path)?,
                EntryType::Symlink => self.later(&path, &to)?,
                EntryType::Link => self.hard_link(&path, &to)?,
                EntryType::XGlobalHeader => {}
                _ => self.leave_out(&path, "is neither a file, nor a folder, nor a link"),
            }
            // The rest of the entry does not count as a header of the next one.
            let left_out = io::copy(&mut entry, &mut io::sink())?;
            self.spend(left_out)?;
        }
    }

    /// The path of an entry, in a folder that exists; `None` if the entry is left out, since a file is in its way. An
    /// earlier link of that name is dropped.
    fn place(&mut self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.count(1)?;
        let place = inside(path).ok_or_else(|| refused(path, "would be outside of its folder"))?;
        let place = self.root.join(place);
        let is_ours = |folder: &&Path| folder.starts_with(self.root);
        if let Some(folder) = place.parent().filter(is_ours) {
            let missing = folder.ancestors().take_while(|folder| !folder.exists());
            self.count(missing.count())?;
            if !self.make_folder(folder, path)? {
                return Ok(None);
            }
        }
        self.links.remove(&place);
        self.hard_links.remove(&place);
        Ok(Some(place))
    }

    /// Counts files and folders that are about to be made.
    fn count(&mut self, many: usize) -> io::Result<()> {
        let left = self.files.checked_sub(many);
        self.files =
            left.ok_or_else(|| io::Error::other(format!("it has more than {FILES} files")))?;
        Ok(())
    }

    /// Makes a folder for an entry. Returns whether the folder exists; otherwise the entry is left out.
    fn make_folder(&mut self, folder: &Path, path: &Path) -> io::Result<bool> {
        let in_the_way = [ErrorKind::AlreadyExists, ErrorKind::NotADirectory];
        match fs::create_dir_all(folder) {
            Err(error) if in_the_way.contains(&error.kind()) => {
                self.leave_out(path, "has a file in its way");
                Ok(false)
            }
            made => made.map(|()| true),
        }
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        match self.place(path)? {
            Some(place) => self.make_folder(&place, path).map(drop),
            None => Ok(()),
        }
    }

    pub fn file(
        &mut self,
        path: &Path,
        mut from: impl Read,
        is_executable: bool,
    ) -> io::Result<()> {
        let Some(place) = self.place(path)? else {
            return Ok(());
        };
        if !self.clear(&place, path)? {
            return Ok(());
        }
        let named = |error: io::Error| refused(path, &format!("cannot be unpacked: {error}"));
        let mut head = Vec::new();
        let start = (&mut from).take(program::MAGIC as u64);
        let started = { start }.read_to_end(&mut head);
        started.map_err(named)?;
        let mut file = File::create(&place).map_err(named)?;
        let all = head.chain(from).take(self.bytes + 1);
        let written = io::copy(&mut { all }, &mut file).map_err(named)?;
        self.spend(written)?;
        self.has_modes |= is_executable;
        if is_executable {
            return system::make_executable(&place);
        }
        if program::may_be_run(&head) {
            self.programs.push(place);
        }
        Ok(())
    }

    /// Counts bytes that were written, or left out.
    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.ok_or_else(too_large)?;
        Ok(())
    }

    /// Removes the file of an earlier entry at this path: it may have other names, and only this one changes. Returns
    /// whether the path is free now; otherwise the entry is left out.
    fn clear(&mut self, place: &Path, path: &Path) -> io::Result<bool> {
        match fs::symlink_metadata(place) {
            Ok(about) if about.is_dir() => {
                self.leave_out(path, "has a folder in its way");
                Ok(false)
            }
            Ok(_) => fs::remove_file(place).map(|()| true),
            Err(_) => Ok(true),
        }
    }

    fn later(&mut self, path: &Path, to: &Path) -> io::Result<()> {
        if let Some(place) = self.place(path)? {
            self.links.insert(place, to.to_owned());
        }
        Ok(())
    }

    fn hard_link(&mut self, path: &Path, to: &Path) -> io::Result<()> {
        let Some(place) = self.place(path)? else {
            return Ok(());
        };
        match inside(to).map(|to| self.root.join(to)) {
            None => self.leave_out(path, "is a link out of its folder"),
            // Some archives have a file twice in this way.
            Some(to) if to == place => {}
            Some(to) => drop(self.hard_links.insert(place, to)),
        }
        Ok(())
    }

    /// Makes the links, and makes programs executable in archives that mark no file as executable. Returns the notes.
    pub fn finish(mut self) -> io::Result<Vec<String>> {
        self.make_hard_links()?;
        if !self.has_modes {
            let programs = self.programs.iter().filter(|program| program.is_file());
            for program in programs {
                system::make_executable(program)?;
            }
        }
        self.make_links()?;
        if self.more > 0 {
            let more = format!("{} more entries were left out", self.more);
            self.notes.push(more);
        }
        Ok(self.notes)
    }

    /// A file may be the other name of one that is made after it.
    fn make_hard_links(&mut self) -> io::Result<()> {
        for _ in 0..CHAIN {
            for (place, to) in mem::take(&mut self.hard_links) {
                let path = self.path(&place);
                if let Some(target) = self.links.get(&to) {
                    self.links.insert(place, target.clone());
                } else if !to.is_file() || self.hard_links.contains_key(&to) {
                    self.hard_links.insert(place, to);
                } else if self.clear(&place, &path)? && fs::hard_link(&to, &place).is_err() {
                    // Not every file system supports hard links.
                    self.spend(to.metadata()?.len())?;
                    fs::copy(&to, &place)?;
                }
            }
        }
        for place in mem::take(&mut self.hard_links).into_keys() {
            self.leave_out(&self.path(&place), "is a link to no file in it");
        }
        Ok(())
    }

    /// Makes symbolic links. One may lead through another, so their targets are checked when all exist.
    fn make_links(&mut self) -> io::Result<()> {
        let root = self.root.canonicalize()?;
        let mut made = Vec::new();
        for (place, to) in mem::take(&mut self.links) {
            let path = self.path(&place);
            if to.is_absolute() {
                self.leave_out(&path, "is a link out of its folder");
            } else if self.clear(&place, &path)? {
                match system::link(&to, &place) {
                    Ok(()) => made.push(place),
                    Err(error) => {
                        self.leave_out(&path, &format!("is a link that cannot be made: {error}"));
                    }
                }
            }
        }
        loop {
            let is_inside = |place: &PathBuf| {
                let to = place.canonicalize();
                to.is_ok_and(|to| to.starts_with(&root))
            };
            let (good, bad) = made.into_iter().partition::<Vec<_>, _>(is_inside);
            if bad.is_empty() {
                return Ok(());
            }
            for place in bad {
                self.leave_out(&self.path(&place), "is a link to nothing in its folder");
                fs::remove_file(place)?;
            }
            // Others may lead through those that were removed.
            made = good;
        }
    }

    /// The path of an entry in the archive.
    fn path(&self, place: &Path) -> PathBuf {
        place.strip_prefix(self.root).unwrap_or(place).to_owned()
    }

    /// Notes that an entry was left out.
    fn leave_out(&mut self, path: &Path, why: &str) {
        if self.notes.len() < NOTES {
            self.notes.push(format!("left out: {}", refused(path, why)));
        } else {
            self.more += 1;
        }
    }
}

/// A reader of at most so many bytes.
struct BoundedReader<'l, R> {
    reader: R,
    /// How many more bytes may be read.
    left: &'l Cell<u64>,
    /// The part of the archive, for the error.
    what: &'static str,
}

impl<R: Read> Read for BoundedReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other(format!("it has too much {}", self.what)));
        }
        let most = usize::try_from(left).map_or(into.len(), |left| left.min(into.len()));
        let read = self.reader.read(&mut into[..most])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for BoundedReader<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}

fn too_large() -> io::Error {
    io::Error::other(format!("it has more than {} GiB", BYTES >> 30))
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("`{}` in it {why}", path.display()))
}
