//! Sockets for programs of the same user, each in a separate folder that other users cannot enter.
//!
//! What else a host puts into this folder is removed together with the socket.

use std::env;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

use acp_chain_rpc::untrusted::Untrusted;

use super::files::check_owner;

/// The prefix of our folders' names.
const FOLDER: &str = "acp-chain-";

/// The socket's file name.
const NAME: &str = "mcp";

/// Its name until the listener is ready.
const NEW: &str = "new";

/// How many folders of other programs are checked.
const LOOKED_AT: usize = 1000;

/// Timeout for connecting to another program's socket.
const PATIENCE: Duration = Duration::from_secs(1);

/// The folder of a socket. It is removed, with all that is in it, when this is dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn socket(&self) -> PathBuf {
        self.0.join(NAME)
    }

    /// The directory that contains the folder.
    pub fn place(&self) -> Option<&Path> {
        self.0.parent()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Links are removed, not followed.
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(
                "cannot remove {}: {error}",
                Untrusted::new(self.0.display())
            );
        }
    }
}

/// Directories for the folder, in order of preference. A later one is used if the earlier ones are not writable, or
/// have paths too long for a socket.
pub fn places() -> Vec<PathBuf> {
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let named = named.filter(|path| path.is_absolute() && path.is_dir());
    // These two are not from the environment: if others can change them, they are skipped without an error.
    let usual = PathBuf::from(format!("/run/user/{}", geteuid().as_raw()));
    let [usual, last] =
        [usual, PathBuf::from("/tmp")].map(|path| Some(path).filter(|path| is_safe(path)));
    let all = [named, usual, Some(env::temp_dir()), last];
    let mut places = Vec::new();
    for place in all.into_iter().flatten() {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn is_safe(place: &Path) -> bool {
    place.is_dir() && check_owner(place).is_ok()
}

/// A port on the loopback interface, chosen by the system.
pub fn port() -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}

/// Creates a folder in the first directory that works, and the socket in it.
pub fn make(random: &str) -> io::Result<(Folder, UnixListener)> {
    make_in_first(&places(), random)
}

fn make_in_first(places: &[PathBuf], random: &str) -> io::Result<(Folder, UnixListener)> {
    let mut failed = io::ErrorKind::NotFound.into();
    for place in places {
        match make_in(place, random) {
            Ok(made) => return Ok(made),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn make_in(place: &Path, random: &str) -> io::Result<(Folder, UnixListener)> {
    let path = place.join(format!("{FOLDER}{random}"));
    let made = DirBuilder::new().mode(0o700).create(&path);
    let made = made.and_then(|()| {
        let folder = Folder(path.clone());
        let new = path.join(NEW);
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        // Under its final name the socket never exists without a listener.
        fs::rename(&new, folder.socket())?;
        Ok((folder, listener))
    });
    made.map_err(|error| {
        let path = Untrusted::new(path.display());
        let why = format!(
            "cannot create a socket in {path}: {error}; set XDG_RUNTIME_DIR to a \
             folder of yours, with a short path"
        );
        io::Error::new(error.kind(), why)
    })
}

/// Removes folders of our user's dead programs from a directory: those whose socket has no listener.
pub async fn clear(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    let ours = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        let named = name.to_str().is_some_and(|name| name.starts_with(FOLDER));
        // Do not follow symbolic links.
        named
            && fs::symlink_metadata(entry.path())
                .is_ok_and(|about| about.is_dir() && about.uid() == geteuid().as_raw())
    });
    for entry in ours.take(LOOKED_AT) {
        let socket = entry.path().join(NAME);
        if !fs::symlink_metadata(&socket).is_ok_and(|about| about.file_type().is_socket()) {
            continue;
        }
        let connected =
            tokio::time::timeout(PATIENCE, tokio::net::UnixStream::connect(&socket)).await;
        if matches!(connected, Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused) {
            match fs::remove_dir_all(entry.path()) {
                Ok(()) => tracing::info!(
                    "removed {}, which an ended program left",
                    Untrusted::new(entry.path().display())
                ),
                Err(error) => {
                    tracing::debug!("{}: {error}", Untrusted::new(entry.path().display()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_where_a_socket_cannot_be_created_is_skipped_and_left_empty() {
        let top = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
        let short = top.path().to_owned();
        let long = short.join("x".repeat(100));
        fs::create_dir(&long).unwrap();
        let file = short.join("file");
        fs::write(&file, "").unwrap();
        let missing = short.join("missing");
        for unfit in [&long, &file, &missing] {
            let places = [unfit.clone(), short.clone()];
            let (folder, _listener) = make_in_first(&places, "abc").unwrap();
            assert_eq!(folder.place(), Some(&*short), "{}", unfit.display());
            let about = fs::metadata(folder.socket().parent().unwrap()).unwrap();
            assert_eq!(about.mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(&long).unwrap().count(), 0);
        let error = make_in_first(&[missing, long], "abc").unwrap_err();
        assert!(error.to_string().contains("set XDG_RUNTIME_DIR"), "{error}");
    }

    #[test]
    fn the_last_place_is_one_that_every_system_has() {
        let places = places();
        assert_eq!(places.last().map(PathBuf::as_path), Some(Path::new("/tmp")));
    }
}
