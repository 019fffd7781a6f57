//! Unpacks archives, which may be hostile: nothing escapes the target folder, no link leads out of it, and the size and
//! the number of files are limited.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::error::Error;
use crate::location::Location;
use crate::system;

/// The maximum size of an archive's content, in bytes.
const BYTES: u64 = 4 << 30;

/// The maximum number of files and folders.
const FILES: usize = 200_000;

/// The maximum length of what stands before an entry of a tar file, in bytes: its name, and other facts, which are kept
/// in memory.
const HEAD: u64 = 64 << 10;

/// The maximum length of the table of contents of a zip file, in bytes. In memory it takes several times as much.
const CONTENTS: u64 = 32 << 20;

/// Packed files that are not unpacked here.
const UNKNOWN: [&str; 15] = [
    ".tar", ".gz", ".bz2", ".xz", ".txz", ".zst", ".tzst", ".lz", ".tlz", ".lz4", ".lzma", ".br",
    ".7z", ".rar", ".cab",
];

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
        () if ends(&UNKNOWN) => {
            return Err(wrong(
                "acp-chain cannot unpack it: expected a .zip, .tar.gz, .tgz, .tar.bz2 or .tbz2, or the program itself"
                    .to_owned(),
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
        Format::Gzip => unpacked.tar(MultiGzDecoder::new(reader)),
        Format::Bzip2 => unpacked.tar(MultiBzDecoder::new(reader)),
        Format::Plain => unpacked.file(program, reader, true),
    };
    done.and_then(|()| unpacked.link())
        .map_err(|error| wrong(error.to_string()))
}

/// A normalized path within a folder.
pub fn inside(path: &Path) -> Option<PathBuf> {
    inside_on(path, cfg!(windows))
}

/// The same on a system. On Windows, `D:x` behind a `/` is a part that leads to another drive, and `x:y` is a stream.
fn inside_on(path: &Path, is_windows: bool) -> Option<PathBuf> {
    let leads_elsewhere = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        is_windows && name.iter().any(|byte| b":\\".contains(byte))
    };
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) if leads_elsewhere(name) => return None,
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
        let left = Cell::new(CONTENTS);
        let mut archive = ZipArchive::new(Bounded {
            reader,
            left: &left,
            what: "in its table of contents",
        })?;
        left.set(u64::MAX);
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
        let left = Cell::new(HEAD);
        // However well it is compressed: skipped entries must be read, too.
        let mut archive = tar::Archive::new(Bounded {
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
            let path = entry.path()?.into_owned();
            let to = entry.link_name()?.unwrap_or_default().into_owned();
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let is_executable = entry.header().mode()? & 0o111 != 0;
                    self.file(&path, &mut entry, is_executable)?;
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
            // What is left of it does not stand before the next one.
            io::copy(&mut entry, &mut io::sink())?;
        }
    }

    /// The path of an entry, in a folder that exists.
    fn place(&mut self, path: &Path) -> io::Result<PathBuf> {
        self.count(1)?;
        let place = inside(path).ok_or_else(|| refused(path, "would be outside of its folder"))?;
        let place = self.root.join(place);
        if let Some(folder) = place
            .parent()
            .filter(|folder| folder.starts_with(self.root))
        {
            let missing = folder.ancestors().take_while(|folder| !folder.exists());
            self.count(missing.count())?;
            fs::create_dir_all(folder)?;
        }
        Ok(place)
    }

    /// Counts files and folders that are about to be made.
    fn count(&mut self, many: usize) -> io::Result<()> {
        let left = self.files.checked_sub(many);
        self.files =
            left.ok_or_else(|| io::Error::other(format!("it has more than {FILES} files")))?;
        Ok(())
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

/// Gives only so many bytes.
struct Bounded<'l, R> {
    reader: R,
    /// How many more.
    left: &'l Cell<u64>,
    /// Where they stand.
    what: &'static str,
}

impl<R: Read> Read for Bounded<'_, R> {
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

impl<R: Seek> Seek for Bounded<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
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
    fn a_table_of_contents_is_limited() {
        let mut entry = b"PK\x01\x02".to_vec();
        entry.resize(46, 0);
        // How long its name is.
        entry[28..30].copy_from_slice(&u16::MAX.to_le_bytes());
        entry.resize(46 + usize::from(u16::MAX), b'a');
        let count = u16::try_from(CONTENTS / entry.len() as u64 + 1).unwrap();
        let contents = entry.repeat(count.into());
        let length = u32::try_from(contents.len()).unwrap();
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        end.extend([length.to_le_bytes(), [0; 4]].concat());
        end.extend([0; 2]);

        let room = tempfile::tempdir().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&contents).unwrap();
        file.write_all(&end).unwrap();
        file.rewind().unwrap();
        let from = Location::File("it.zip".into());
        let told = unpack(file, &from, Path::new("x"), room.path()).unwrap_err();
        let told = told.to_string();
        assert!(told.contains("too much in its table of contents"), "{told}");
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
    fn no_part_of_a_path_leads_to_another_drive_of_windows() {
        for path in ["a/D:evil.exe", "a.txt:stream", "a\\b", "C:"] {
            assert_eq!(inside_on(Path::new(path), true), None, "{path}");
        }
        let fit = Path::new("a/b.exe");
        assert_eq!(inside_on(fit, true).as_deref(), Some(fit));
    }

    #[test]
    fn a_name_may_be_long_but_not_without_end() {
        let named = |length: usize| {
            let name = entry(EntryType::GNULongName, "x", "", &vec![b'a'; length]);
            unpacked(&[name, file("x")])
        };
        let (done, outer) = named(200);
        done.unwrap();
        assert!(outer.path().join("room").join("a".repeat(200)).exists());
        let (done, _) = named(1 << 20);
        let told = done.unwrap_err();
        assert!(told.contains("too much before an entry"), "{told}");
    }

    #[test]
    fn folders_count_that_no_entry_names() {
        let deep = |at: usize| file(&format!("{at}/{}x", "d/".repeat(45)));
        let entries: Vec<_> = (0..3).map(deep).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut few = Unpacked {
            root: folder.path(),
            bytes: BYTES,
            files: 100,
            links: Vec::new(),
        };
        let told = few.tar(&*entries.concat()).unwrap_err().to_string();
        assert!(told.contains("more than"), "{told}");
    }

    #[test]
    fn all_parts_of_a_compressed_file_are_read() {
        let outer = tempfile::tempdir().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let tar = [
            entry(EntryType::Regular, "a", "", &[7; 4096]),
            vec![0; 1024],
        ]
        .concat();
        for part in tar.chunks(1000) {
            let level = flate2::Compression::fast();
            let mut packed = flate2::write::GzEncoder::new(&mut file, level);
            packed.write_all(part).unwrap();
            packed.finish().unwrap();
        }
        file.rewind().unwrap();
        let from = Location::File("it.tgz".into());
        unpack(file, &from, Path::new("x"), outer.path()).unwrap();
        let length = fs::metadata(outer.path().join("a")).unwrap().len();
        assert_eq!(length, 4096);
    }

    #[test]
    fn what_is_packed_in_another_way_is_not_taken_for_the_program() {
        for name in ["a.tar.xz", "a.tar.zst", "a.tar", "a.7z", "a.gz", "A.XZ"] {
            let outer = tempfile::tempdir().unwrap();
            let file = tempfile::tempfile().unwrap();
            let from = Location::Web(format!("https://host/{name}?x=.zip"));
            let told = unpack(file, &from, Path::new("x"), outer.path()).unwrap_err();
            assert!(told.to_string().contains("cannot unpack it"), "{told}");
        }
    }

    #[test]
    fn what_was_cut_short_is_refused() {
        let whole = entry(EntryType::Regular, "a", "", &[7; 4096]);
        let (done, _) = unpacked(&[whole[..1024].to_vec()]);
        assert!(done.is_err(), "{done:?}");
    }
}
