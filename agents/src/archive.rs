//! Unpacks archives, which may be hostile: nothing escapes the target folder, no link leads out of it, and the size and
//! the number of files are limited.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};

use bzip2::read::BzDecoder;
use flate2::read::GzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::error::Error;
use crate::location::Location;
use crate::system;

/// The maximum size of an archive's content, in bytes.
const BYTES: u64 = 4 << 30;

/// The maximum number of files and folders.
const FILES: usize = 200_000;

/// Packages for installers of operating systems.
const INSTALLERS: [&str; 6] = [".dmg", ".pkg", ".deb", ".rpm", ".msi", ".appimage"];

/// The formats of archives, by their endings.
#[derive(Clone, Copy)]
enum Format {
    Zip,
    Gzip,
    Bzip2,
    /// The program itself.
    Plain,
}

/// Unpacks a downloaded file into a folder. Anything but an archive is the program itself.
pub fn unpack(file: File, from: &Location, program: &Path, into: &Path) -> Result<(), Error> {
    let wrong = |wrong: String| Error::Archive {
        archive: from.to_string(),
        wrong,
    };
    let name = from.file_name().to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let format = match () {
        () if ends(&[".zip"]) => Format::Zip,
        () if ends(&[".tar.gz", ".tgz"]) => Format::Gzip,
        () if ends(&[".tar.bz2", ".tbz2"]) => Format::Bzip2,
        () if ends(&INSTALLERS) => {
            return Err(wrong(
                "it is for an installer, which acp-chain is not".to_owned(),
            ));
        }
        () => Format::Plain,
    };
    let mut unpacked = Unpacked {
        root: into,
        bytes: BYTES,
        files: FILES,
        links: Vec::new(),
    };
    let reader = BufReader::new(file);
    let done = match format {
        Format::Zip => unpacked.zip(reader),
        Format::Gzip => unpacked.tar(GzDecoder::new(reader)),
        Format::Bzip2 => unpacked.tar(BzDecoder::new(reader)),
        Format::Plain => unpacked.file(program, reader, true),
    };
    done.and_then(|()| unpacked.link())
        .map_err(|error| wrong(error.to_string()))
}

/// A normalized path within a folder.
pub fn inside(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
        }
    }
    Some(inside)
}

/// The state of unpacking. Links are made last, so that nothing is written through one.
struct Unpacked<'r> {
    root: &'r Path,
    /// How many more bytes there may be.
    bytes: u64,
    files: usize,
    /// Links to be made, and their targets.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Unpacked<'_> {
    fn zip(&mut self, reader: impl Read + Seek) -> io::Result<()> {
        let mut archive = ZipArchive::new(reader)?;
        for at in 0..archive.len() {
            let mut entry = archive.by_index(at)?;
            let path = PathBuf::from(entry.name());
            let is_executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            if entry.is_symlink() {
                let mut to = String::new();
                (&mut entry).take(4096).read_to_string(&mut to)?;
                self.later(&path, Path::new(&to))?;
            } else if entry.is_dir() {
                self.folder(&path)?;
            } else {
                self.file(&path, entry, is_executable)?;
            }
        }
        Ok(())
    }

    fn tar(&mut self, reader: impl Read) -> io::Result<()> {
        // However well it is compressed: skipped entries must be read, too.
        let mut archive = tar::Archive::new(reader.take(2 * BYTES));
        for entry in archive.entries()? {
            let entry = entry?;
            let path = entry.path()?.into_owned();
            let to = entry.link_name()?.unwrap_or_default().into_owned();
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let is_executable = entry.header().mode()? & 0o111 != 0;
                    self.file(&path, entry, is_executable)?;
                }
                EntryType::Directory => self.folder(&path)?,
                EntryType::Symlink => self.later(&path, &to)?,
                EntryType::Link => {
                    let (path, to) = (self.place(&path)?, self.place(&to)?);
                    fs::hard_link(to, path)?;
                }
                EntryType::XGlobalHeader => {}
                _ => {
                    return Err(refused(
                        &path,
                        "is neither a file, nor a folder, nor a link",
                    ));
                }
            }
        }
        Ok(())
    }

    /// The path of an entry, in a folder that exists.
    fn place(&mut self, path: &Path) -> io::Result<PathBuf> {
        self.files = self
            .files
            .checked_sub(1)
            .ok_or_else(|| io::Error::other(format!("it has more than {FILES} files")))?;
        let place = inside(path).ok_or_else(|| refused(path, "would be outside of its folder"))?;
        let place = self.root.join(place);
        if let Some(folder) = place
            .parent()
            .filter(|folder| folder.starts_with(self.root))
        {
            fs::create_dir_all(folder)?;
        }
        Ok(place)
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        fs::create_dir_all(place)
    }

    fn file(&mut self, path: &Path, from: impl Read, is_executable: bool) -> io::Result<()> {
        let place = self.place(path)?;
        let mut file = File::create(&place)?;
        let written = io::copy(&mut from.take(self.bytes + 1), &mut file)?;
        self.bytes = self
            .bytes
            .checked_sub(written)
            .ok_or_else(|| io::Error::other(format!("it has more than {} GiB", BYTES >> 30)))?;
        match is_executable {
            true => system::make_executable(&place),
            false => Ok(()),
        }
    }

    fn later(&mut self, path: &Path, to: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        self.links.push((place, to.to_owned()));
        Ok(())
    }

    /// Makes the links. One may lead through another, so their targets are checked when all exist.
    fn link(&self) -> io::Result<()> {
        let root = self.root.canonicalize()?;
        for (place, to) in &self.links {
            if to.is_absolute() {
                return Err(refused(place, "is a link out of its folder"));
            }
            system::link(to, place)?;
        }
        for (place, _) in &self.links {
            let is_inside = place.canonicalize().is_ok_and(|to| to.starts_with(&root));
            if !is_inside {
                return Err(refused(place, "is a link to nothing in its folder"));
            }
        }
        Ok(())
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("`{}` in it {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::TempDir;

    use super::*;

    /// An entry of a tar file, with any name.
    fn entry(kind: EntryType, name: &str, link: &str, content: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_gnu_mut().unwrap().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    }

    /// Unpacks a tar file with these entries. Returns the result, and the folder.
    fn unpacked(entries: &[Vec<u8>]) -> (Result<(), String>, TempDir) {
        let outer = tempfile::tempdir().unwrap();
        let room = outer.path().join("room");
        fs::create_dir(&room).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let level = flate2::Compression::fast();
        let mut packed = flate2::write::GzEncoder::new(&mut file, level);
        packed.write_all(&entries.concat()).unwrap();
        packed.write_all(&[0; 1024]).unwrap();
        packed.finish().unwrap();
        file.rewind().unwrap();
        let from = Location::File("it.tar.gz".into());
        let done = unpack(file, &from, Path::new("x"), &room);
        (done.map_err(|error| error.to_string()), outer)
    }

    fn file(name: &str) -> Vec<u8> {
        entry(EntryType::Regular, name, "", b"content")
    }

    fn link(name: &str, to: &str) -> Vec<u8> {
        entry(EntryType::Symlink, name, to, b"")
    }

    #[test]
    fn nothing_gets_outside_of_its_folder() {
        for entries in [
            vec![file("../x")],
            vec![file("a/../../x")],
            vec![file("/tmp/acp-chain-agents-x")],
            vec![link("a", "..")],
            vec![link("a", "/etc")],
            vec![link("a", "/etc/passwd")],
            vec![link("a", "../room/../..")],
            // Through a link, before and after.
            vec![link("a", ".."), file("a/x")],
            vec![link("a", "/tmp"), file("a/acp-chain-agents-x")],
            vec![file("a/x"), link("a", "..")],
            // One link leads through another.
            vec![link("a", "."), link("b", "a/../..")],
            vec![file("d/y"), link("a", "d"), link("b", "a/../../.")],
            vec![entry(EntryType::Link, "a", "../x", b"")],
            vec![entry(EntryType::Link, "a", "/etc/passwd", b"")],
            vec![link("a", ".."), entry(EntryType::Link, "b", "a/x", b"")],
            vec![entry(EntryType::Fifo, "a", "", b"")],
            vec![entry(EntryType::Char, "a", "", b"")],
        ] {
            let (done, outer) = unpacked(&entries);
            assert!(done.is_err(), "{entries:?}");
            let left = fs::read_dir(outer.path()).unwrap().count();
            assert_eq!(left, 1, "{done:?}");
            assert!(!Path::new("/tmp/acp-chain-agents-x").exists());
        }
    }

    #[test]
    fn links_within_the_folder_stay() {
        let (done, outer) = unpacked(&[
            link("bin/run", "../lib/run"),
            file("lib/run"),
            entry(EntryType::Link, "lib/also", "lib/run", b""),
        ]);
        done.unwrap();
        for path in ["bin/run", "lib/also"] {
            let text = fs::read_to_string(outer.path().join("room").join(path)).unwrap();
            assert_eq!(text, "content", "{path}");
        }
    }

    #[test]
    fn what_was_cut_short_is_refused() {
        let whole = entry(EntryType::Regular, "a", "", &[7; 4096]);
        let (done, _) = unpacked(&[whole[..1024].to_vec()]);
        assert!(done.is_err(), "{done:?}");
    }
}
