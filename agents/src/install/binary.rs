//! Agents that are archives.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use super::{Found, Install, Release, written};
use crate::archive::{self, inside};
use crate::digest::{digest, of_hex};
use crate::error::Error;
use crate::location::Location;
use crate::registry::{Archive, open};
use crate::system;

/// The maximum length of an archive, in bytes.
const LONGEST: u64 = 1 << 30;

/// Fetches an archive, and unpacks it if it differs from the installed one.
pub fn get(install: &Install, offer: &Archive, room: &Path) -> Result<Found, Error> {
    let location = locate(install, offer)?;
    let expected = match &offer.sha256 {
        Some(hex) => Some(of_hex(hex).ok_or_else(|| {
            install.wrong(format!(
                "has `{hex}` as the sha256 of its archive, which is none"
            ))
        })?),
        None => None,
    };
    let release = |digest| Release {
        version: install.entry.version.clone(),
        source: location.to_string(),
        digest,
    };
    // With a known digest, it need not be fetched to be compared.
    if let Some(expected) = &expected
        && install.is_installed(&release(expected.clone()))?
    {
        return Ok(Found::Same);
    }
    let mut file = fetch(install, &location, room)?;
    let actual = digest(&file).map_err(Error::disk(room))?;
    if let Some(expected) = expected.filter(|expected| *expected != actual) {
        return Err(Error::OtherDigest {
            what: location.to_string(),
            expected,
            actual,
        });
    }
    let release = release(actual);
    if install.is_installed(&release)? {
        return Ok(Found::Same);
    }
    file.rewind().map_err(Error::disk(room))?;
    let wrong = |wrong: String| Error::Archive {
        archive: location.to_string(),
        wrong,
    };
    let cmd = inside(Path::new(&offer.cmd))
        .ok_or_else(|| wrong(format!("its program `{}` would not be in it", offer.cmd)))?;
    archive::unpack(file, &location, &cmd, room)?;
    let program = room.join(&cmd);
    if !program.is_file() {
        return Err(wrong(format!("the program `{}` is not in it", offer.cmd)));
    }
    system::make_executable(&program).map_err(Error::disk(&program))?;
    Ok(Found::Other(release, vec![written(&program)?]))
}

/// The location of an archive. Only a local registry may name local files.
fn locate(install: &Install, offer: &Archive) -> Result<Location, Error> {
    let folder = match &install.registry.location {
        Location::File(path) => path.parent(),
        Location::Web(_) => None,
    };
    let location = Location::parse(&offer.archive, folder.unwrap_or(Path::new("")))?;
    match (folder, &location) {
        (None, Location::File(_)) => Err(install.wrong(format!(
            "has its archive at `{}`, which is a file of this machine: only a registry that is a file here may name one",
            offer.archive
        ))),
        _ => Ok(location),
    }
}

/// A downloaded archive, in an unnamed file.
fn fetch(install: &Install, location: &Location, room: &Path) -> Result<File, Error> {
    let mut file = tempfile::tempfile_in(room).map_err(Error::disk(room))?;
    match location {
        Location::Web(url) => install
            .web
            .get(url, LONGEST, &mut file)
            .map_err(Error::Web)?,
        Location::File(path) => {
            let mut from = open(path)?.take(LONGEST + 1);
            let copied = io::copy(&mut from, &mut file).map_err(Error::disk(path))?;
            if copied > LONGEST {
                return Err(Error::TooLarge {
                    what: location.to_string(),
                    most: LONGEST,
                });
            }
        }
    }
    file.flush()
        .and_then(|()| file.rewind())
        .map_err(Error::disk(room))?;
    Ok(file)
}
