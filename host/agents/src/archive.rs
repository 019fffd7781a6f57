//! Unpacks archives, which may be hostile: nothing escapes the target folder, no link leads out of it, and the size and
//! the number of files are limited. As with `tar`, an entry replaces an earlier one of its name, and a link that cannot
//! be made is left out, with a note. Nothing is ever written through a link.

#[cfg(test)]
mod tests;
mod unpacker;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Component, Path, PathBuf};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;

use self::unpacker::Unpacker;
use crate::error::Error;
use crate::location::Location;
use acp_chain_system::names::is_special;

/// Endings of packed files that are not supported.
const UNKNOWN: [&str; 15] = [
    ".tar", ".gz", ".bz2", ".xz", ".txz", ".zst", ".tzst", ".lz", ".tlz", ".lz4", ".lzma", ".br",
    ".7z", ".rar", ".cab",
];

/// Packages for installers of operating systems.
const INSTALLERS: [&str; 6] = [".dmg", ".pkg", ".deb", ".rpm", ".msi", ".appimage"];

/// Unpacks a downloaded file into a folder. Anything but an archive is the program itself. Returns notes about entries
/// that were left out.
pub fn unpack(
    file: File,
    from: &Location,
    program: &Path,
    into: &Path,
) -> Result<Vec<String>, Error> {
    let name = from.file_name().to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let mut unpacker = Unpacker::new(into);
    let reader = BufReader::new(file);
    let done = if ends(&[".zip"]) {
        unpacker.zip(reader)
    } else if ends(&[".tar.gz", ".tgz"]) {
        unpacker.tar(MultiGzDecoder::new(reader))
    } else if ends(&[".tar.bz2", ".tbz2"]) {
        unpacker.tar(MultiBzDecoder::new(reader))
    } else if ends(&INSTALLERS) {
        Err(io::Error::other(
            "it is for an installer of the operating system, which acp-chain does not run",
        ))
    } else if ends(&UNKNOWN) {
        Err(io::Error::other(
            "acp-chain cannot unpack it: expected a .zip, .tar.gz, .tgz, .tar.bz2 or .tbz2, or the program itself",
        ))
    } else {
        unpacker.file(program, reader, true)
    };
    let notes = done.and_then(|()| unpacker.finish());
    let unfit = Error::unfit(from.to_string());
    notes.map_err(|error| unfit(error.to_string()))
}

/// A normalized path within a folder.
pub fn inside(path: &Path) -> Option<PathBuf> {
    inside_on(path, cfg!(windows))
}

/// A normalized path within a folder, on Windows or another system. On Windows, `D:x` behind a `/` is a part that leads
/// to another drive, `x:y` is a stream, and some names are those of devices.
fn inside_on(path: &Path, is_windows: bool) -> Option<PathBuf> {
    let leads_elsewhere = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        is_windows && (name.iter().any(|byte| b":\\".contains(byte)) || is_special(name))
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
