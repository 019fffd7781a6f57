//! Built-in extensions, appended to the program's file with their compiled code. They need no network, home or writable
//! disk.
//!
//! ```text
//! the program | component, code, component, code, … | index, as JSON | its length, 8 bytes | MAGIC
//! ```
//!
//! They are as trustworthy as the program: both are the same file. A signature, which only programs for macOS have
//! here, may follow them (`macho`).

mod macho;

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use acp_chain_package::Package;
use acp_chain_system::files;
use serde::{Deserialize, Serialize};
use tempfile::Builder;

use super::Digest;

/// The last bytes of a program with built-in extensions.
const MAGIC: &[u8; 17] = b"acp-chain-carried";

/// The maximum length of the index, in bytes.
const INDEX: u64 = 1 << 20;

/// The built-in extensions of a program.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    extensions: Vec<Extension>,
}

/// A built-in extension, as in the index.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Extension {
    /// The name in its package.
    pub name: String,
    /// The digest of its component.
    pub digest: Digest,
    /// The program that contains it.
    #[serde(skip)]
    program: PathBuf,
    component: Range<u64>,
    code: Range<u64>,
}

/// An extension to append to a program.
#[derive(Debug)]
pub struct Load {
    /// The package of the component.
    pub package: Package,
    /// The bytes of the component.
    pub component: Vec<u8>,
    /// The compiled code of the component.
    pub code: Vec<u8>,
}

impl Carried {
    /// Reads the built-in extensions of the program at a path.
    pub fn by(program: &Path) -> io::Result<Self> {
        let mut file = File::open(program)?;
        let (mut extensions, _) = read(&mut file)?;
        for extension in &mut extensions {
            extension.program = program.to_owned();
        }
        Ok(Self { extensions })
    }

    /// The extension of this name.
    pub fn named(&self, name: &str) -> Option<&Extension> {
        self.iter().find(|extension| extension.name == name)
    }

    /// The extension with this digest.
    pub fn of_digest(&self, digest: &Digest) -> Option<&Extension> {
        self.iter().find(|extension| extension.digest == *digest)
    }

    /// All extensions.
    pub fn iter(&self) -> impl Iterator<Item = &Extension> {
        self.extensions.iter()
    }
}

impl Extension {
    /// The size of the component in bytes.
    pub fn size(&self) -> u64 {
        self.component.end - self.component.start
    }

    /// Opens the component.
    pub fn component(&self) -> io::Result<impl Read + Seek> {
        let mut file = File::open(&self.program)?;
        file.seek(SeekFrom::Start(self.component.start))?;
        Ok(BufReader::new(Part {
            file,
            range: self.component.clone(),
            at: self.component.start,
        }))
    }

    /// Opens the program. Returns it with the range of the component's compiled code.
    pub fn code(&self) -> io::Result<(File, Range<u64>)> {
        Ok((File::open(&self.program)?, self.code.clone()))
    }
}

/// A range of a file, read like a whole file.
struct Part {
    file: File,
    range: Range<u64>,
    at: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.range.end.saturating_sub(self.at);
        let read = Read::by_ref(&mut self.file).take(left).read(into)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Part {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => self.range.start.checked_add(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.range.end.checked_add_signed(by),
        };
        let at = at.filter(|at| *at >= self.range.start);
        self.at = self
            .file
            .seek(SeekFrom::Start(at.ok_or(io::ErrorKind::InvalidInput)?))?;
        Ok(self.at - self.range.start)
    }
}

/// Copies a program to `to`, with these built-in extensions in place of the existing ones.
pub fn write(program: &Path, extensions: &[Load], to: &Path) -> io::Result<()> {
    let mut from = File::open(program)?;
    let (present, end) = read(&mut from)?;
    let layout = macho::layout(&mut from)?;
    let within = layout.as_ref().is_some_and(|layout| layout.covers(end));
    if within && !present.is_empty() {
        return Err(io::Error::other(
            "the program's extensions are signed with it; take one without extensions",
        ));
    }
    // A signature that is made later would not cover what follows the last segment.
    let unsigned = layout.filter(|layout| !layout.is_signed());
    let folder = to.parent().filter(|folder| *folder != Path::new(""));
    // `tempfile` would add the temporary name to its error, and callers name the file.
    let mut beside =
        Builder::new().make_in(folder.unwrap_or(Path::new(".")), files::create_private)?;
    let file = beside.as_file_mut();
    from.rewind()?;
    io::copy(&mut from.take(end), file)?;
    let mut at = end;
    let mut entries = Vec::new();
    for extension in extensions {
        let mut put = |bytes: &[u8]| {
            file.write_all(bytes)?;
            let begin = at;
            at += bytes.len() as u64;
            io::Result::Ok(begin..at)
        };
        entries.push(Extension {
            name: extension.package.name.clone(),
            digest: Digest::of(&extension.component),
            program: PathBuf::new(),
            component: put(&extension.component)?,
            code: put(&extension.code)?,
        });
    }
    let index = serde_json::to_vec(&entries)?;
    file.write_all(&index)?;
    file.write_all(&(index.len() as u64).to_le_bytes())?;
    file.write_all(MAGIC)?;
    if let Some(layout) = unsigned {
        layout.stretch(file)?;
    }
    file.set_permissions(fs::metadata(program)?.permissions())?;
    file.sync_all()?;
    beside.persist(to).map(drop).map_err(|error| error.error)
}

/// The index of a program, and the length of the file before the extensions. Without extensions, the index is empty.
fn read(file: &mut File) -> io::Result<(Vec<Extension>, u64)> {
    let size = file.seek(SeekFrom::End(0))?;
    let tail = MAGIC.len() as u64 + 8;
    let Some((at, length)) = trailer(file, size, tail)? else {
        return Ok((Vec::new(), size));
    };
    let damaged =
        || io::Error::other("the built-in extensions are damaged; install acp-chain again");
    let index = at.checked_sub(length).filter(|_| length <= INDEX);
    let index = index.ok_or_else(damaged)?;
    file.seek(SeekFrom::Start(index))?;
    let mut text = Vec::new();
    file.take(length).read_to_end(&mut text)?;
    let entries: Vec<Extension> = serde_json::from_slice(&text).map_err(|_| damaged())?;
    let ranges = || {
        entries
            .iter()
            .flat_map(|entry| [&entry.component, &entry.code])
    };
    if ranges().any(|range| range.start > range.end || range.end > index) {
        return Err(damaged());
    }
    let end = ranges().map(|range| range.start).min().unwrap_or(index);
    Ok((entries, end))
}

/// The place of the trailer, the last bytes of what is appended, and the length of the index before it. `None` without
/// one. It is at the end of the file, or before the signature.
fn trailer(file: &mut File, size: u64, tail: u64) -> io::Result<Option<(u64, u64)>> {
    let signed = macho::layout(file)?.and_then(|layout| layout.signed());
    let ends = [size].into_iter().chain(signed.into_iter().flatten().rev());
    for at in ends.filter_map(|end| end.checked_sub(tail)) {
        let mut length = [0; 8];
        let mut magic = [0; MAGIC.len()];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut length)?;
        file.read_exact(&mut magic)?;
        if magic == *MAGIC {
            return Ok(Some((at, u64::from_le_bytes(length))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use acp_chain_package::{About, Asks, Version};

    use super::*;

    fn load(name: &str) -> Load {
        Load {
            package: Package {
                name: name.to_owned(),
                version: Version::new(1, 0, 0),
                about: About::default(),
                asks: Asks::default(),
                imports: Vec::new(),
                exports: Vec::new(),
                draft: false,
            },
            component: format!("the component {name}").into_bytes(),
            code: format!("the code of {name}").into_bytes(),
        }
    }

    #[test]
    fn a_program_carries_extensions_and_can_be_given_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("plain"), "the program").unwrap();
        fs::write(path("two.new"), "somebody's").unwrap();
        assert_eq!(Carried::by(&path("plain")).unwrap().iter().count(), 0);

        write(&path("plain"), &[load("a"), load("b")], &path("two")).unwrap();
        let two = Carried::by(&path("two")).unwrap();
        let b = two.named("b").unwrap();
        let mut component = b.component().unwrap();
        assert_eq!(
            io::read_to_string(&mut component).unwrap(),
            "the component b"
        );
        component.seek(SeekFrom::End(-1)).unwrap();
        assert_eq!(io::read_to_string(&mut component).unwrap(), "b");
        assert_eq!(component.seek(SeekFrom::Start(4)).unwrap(), 4);
        component.seek_relative(10).unwrap();
        assert_eq!(io::read_to_string(&mut component).unwrap(), "b");
        assert!(component.seek(SeekFrom::Current(-16)).is_err());
        let (program, code) = b.code().unwrap();
        let program = io::read_to_string(program).unwrap();
        let code = usize::try_from(code.start).unwrap()..usize::try_from(code.end).unwrap();
        assert_eq!(&program.as_bytes()[code], b"the code of b");
        assert_eq!(two.of_digest(&b.digest), Some(b));
        assert!(fs::read(path("two")).unwrap().starts_with(b"the program"));

        // Source and target may be the same file.
        write(&path("two"), &[load("c")], &path("two")).unwrap();
        let one = Carried::by(&path("two")).unwrap();
        let names: Vec<_> = one.iter().map(|extension| &*extension.name).collect();
        assert_eq!(names, ["c"]);
        write(&path("two"), &[], &path("two")).unwrap();
        assert_eq!(Carried::by(&path("two")).unwrap().iter().count(), 0);
        assert_eq!(fs::read_to_string(path("two.new")).unwrap(), "somebody's");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn an_error_names_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "the program").unwrap();
        let error = write(&program, &[], &folder.path().join("missing/two"));
        let error = error.unwrap_err().to_string();
        assert!(!error.contains("missing"), "{error}");
    }

    #[test]
    fn a_damaged_index_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        for (index, length) in [("[", 1), ("[]", 1 << 40), ("[]", 3), ("{}", 2)] {
            let mut bytes = index.as_bytes().to_vec();
            bytes.extend(u64::to_le_bytes(length));
            bytes.extend(MAGIC);
            fs::write(&path, bytes).unwrap();
            let error = Carried::by(&path).unwrap_err().to_string();
            assert!(error.contains("are damaged"), "{index}: {error}");
        }
        fs::write(&path, "").unwrap();
        assert_eq!(Carried::by(&path).unwrap().iter().count(), 0);
    }

    #[test]
    fn extensions_are_found_before_a_signature_that_came_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let unsigned = macho::tests::program(b"", None);
        fs::write(path("unsigned"), &unsigned).unwrap();
        // Whatever padding their length asks for.
        for length in 1..=16 {
            let name = "x".repeat(length);
            write(&path("unsigned"), &[load(&name)], &path("bundled")).unwrap();
            let bundled = fs::read(path("bundled")).unwrap();
            let more = &bundled[unsigned.len()..];
            // What is appended can be signed.
            assert!(bundled == macho::tests::program(more, None));
            assert!(
                Carried::by(&path("bundled"))
                    .unwrap()
                    .named(&name)
                    .is_some()
            );
            let signed = macho::tests::program(more, Some(b"the signature"));
            fs::write(path("signed"), signed).unwrap();
            let carried = Carried::by(&path("signed")).unwrap();
            let component = carried.named(&name).unwrap().component().unwrap();
            let expected = format!("the component {name}");
            assert_eq!(io::read_to_string(component).unwrap(), expected);
        }
        for name in ["bundled", "signed"] {
            let error = write(&path(name), &[], &path("other")).unwrap_err();
            assert!(error.to_string().contains("take one without extensions"));
        }
        // One with a signature is for this machine: what is appended follows it.
        fs::write(
            path("linked"),
            macho::tests::program(b"", Some(b"its linker's")),
        )
        .unwrap();
        for _ in 0..2 {
            write(&path("linked"), &[load("a")], &path("linked")).unwrap();
            assert!(Carried::by(&path("linked")).unwrap().named("a").is_some());
        }
    }
}
