//! Agents that are archives.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use super::{Install, Release, UnpackedAgent, launch, written};
use crate::archive::{self, inside};
use crate::digest::{digest, of_hex};
use crate::error::Error;
use crate::location::Location;
use crate::registry::{Archive, open};
use crate::web::Web;

/// The maximum length of an archive, in bytes.
const LONGEST: u64 = 1 << 30;

/// Fetches an archive, and unpacks it; `None` if it is the installed one.
pub fn get(
    install: &Install,
    offer: &Archive,
    room: &Path,
) -> Result<Option<UnpackedAgent>, Error> {
    let location = locate(install, offer)?;
    let expected = match &offer.sha256 {
        Some(hex) => Some(of_hex(hex).ok_or_else(|| {
            install.wrong(format!("has the invalid sha256 `{hex}` for its archive"))
        })?),
        None => None,
    };
    let release = |digest| Release {
        version: install.entry.version.clone(),
        source: location.to_string(),
        digest,
    };
    let wrong = Error::unfit(location.to_string());
    let cmd = inside(Path::new(&offer.cmd))
        .ok_or_else(|| wrong(format!("its program `{}` would not be in it", offer.cmd)))?;
    let command = |folder: &Path| written(&folder.join(&cmd)).map(|program| vec![program]);
    // With a known digest, it need not be fetched to be compared.
    if let Some(expected) = &expected
        && install.is_installed(&release(expected.clone()), command)?
    {
        return Ok(None);
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
    if install.is_installed(&release, command)? {
        return Ok(None);
    }
    file.rewind().map_err(Error::disk(room))?;
    let notes = archive::unpack(file, &location, &cmd, room)?;
    let program = room.join(&cmd);
    let unfit = |how: &str| wrong(format!("the program `{}` {how}", offer.cmd));
    if !program.is_file() {
        return Err(unfit("is not in it"));
    }
    Ok(Some(UnpackedAgent {
        release,
        command: launch::command(&program, room, &unfit)?,
        notes,
    }))
}

/// The location of an archive.
fn locate(install: &Install, offer: &Archive) -> Result<Location, Error> {
    let folder = match &install.registry.location {
        Location::File(path) => path.parent(),
        Location::Web(_) => None,
    };
    let location = Location::parse(&offer.archive, folder.unwrap_or(Path::new("")))?;
    match forbidden(&install.registry.location, &location, install.web) {
        Some(why) => Err(install.wrong(format!(
            "has its archive at `{}`, which {why}",
            offer.archive
        ))),
        None => Ok(location),
    }
}

/// Why a registry may not name this location; `None` if it may. Only a registry on this machine may name a location on
/// this machine.
fn forbidden(registry: &Location, archive: &Location, web: &dyn Web) -> Option<&'static str> {
    match (registry, archive) {
        (Location::Web(_), Location::File(_)) => {
            Some("is a file of this machine: only a registry that is a file here may name one")
        }
        (Location::Web(from), Location::Web(to)) if web.is_local(to) && !web.is_local(from) => {
            Some("is on this machine: only a registry that is here may name it")
        }
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;

    impl Web for Names {
        fn is_local(&self, url: &str) -> bool {
            url.starts_with("http://127.0.0.1")
        }

        fn get(&self, url: &str, _: u64, _: &mut dyn Write) -> Result<(), String> {
            Err(url.to_owned())
        }
    }

    #[test]
    fn only_a_registry_on_this_machine_may_name_locations_on_it() {
        let web = |url: &str| Location::Web(url.to_owned());
        let file = Location::File("it.zip".into());
        let [there, here] = ["https://host/a", "http://127.0.0.1:5000/a"].map(web);
        let is_forbidden = |registry, archive| forbidden(registry, archive, &Names).is_some();
        assert!(is_forbidden(&there, &here) && is_forbidden(&there, &file));
        assert!(is_forbidden(&here, &file));
        for registry in [&here, &file] {
            assert!(!is_forbidden(registry, &here) && !is_forbidden(registry, &there));
        }
        assert!(!is_forbidden(&file, &file) && !is_forbidden(&there, &there));
    }
}
