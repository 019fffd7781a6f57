//! Sockets for programs of the same user, each in a folder of its own that nobody else can enter.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

use acp_chain_rpc::untrusted::Untrusted;

/// The prefix of our folders' names.
const FOLDER: &str = "acp-chain-";

/// The socket's name in its folder.
const NAME: &str = "mcp";

/// Its name until the listener is ready.
const NEW: &str = "new";

/// How many other folders are checked.
const LOOKED_AT: usize = 1000;

/// How long one of them may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A folder with only a socket in it. Both are removed when this is dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.0.join(NAME)
    }

    /// Where the folder is.
    pub fn place(&self) -> Option<&Path> {
        self.0.parent()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for name in [NAME, NEW] {
            // It may not exist yet.
            let _ = fs::remove_file(self.0.join(name));
        }
        if let Err(error) = fs::remove_dir(&self.0) {
            tracing::warn!("{} stays behind: {error}", Untrusted::new(self.0.display()));
        }
    }
}

/// Where a folder with the socket may be, the better place first. Paths in the second are short enough for sockets.
pub fn places() -> Vec<PathBuf> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|path| path.is_absolute() && path.is_dir());
    own.into_iter().chain([std::env::temp_dir()]).collect()
}

/// A port on the loopback interface, chosen by the system.
pub fn port() -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}

/// Makes a folder in the best place, and the socket in it.
pub fn make(random: &str) -> io::Result<(Folder, UnixListener)> {
    let mut made = Err(io::ErrorKind::NotFound.into());
    for place in places() {
        made = make_in(&place, random);
        if made.is_ok() {
            break;
        }
    }
    made
}

fn make_in(place: &Path, random: &str) -> io::Result<(Folder, UnixListener)> {
    let path = place.join(format!("{FOLDER}{random}"));
    let made = DirBuilder::new().mode(0o700).create(&path);
    let made = made.and_then(|()| {
        let folder = Folder(path.clone());
        let new = path.join(NEW);
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        // Under its final name it is never visible without a listener.
        fs::rename(&new, folder.socket())?;
        Ok((folder, listener))
    });
    made.map_err(|error| {
        let path = Untrusted::new(path.display());
        let why = format!(
            "the socket for MCP clients cannot be made in {path}: {error}; set XDG_RUNTIME_DIR to a \
             folder of yours, with a short path"
        );
        io::Error::new(error.kind(), why)
    })
}

/// Removes folders of our user's dead programs in a place: those on whose socket nobody listens.
pub async fn clear(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    let ours = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        let named = name.to_str().is_some_and(|name| name.starts_with(FOLDER));
        // Not through symbolic links.
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
            let cleared = fs::remove_file(&socket).and_then(|()| fs::remove_dir(entry.path()));
            match cleared {
                Ok(()) => tracing::info!("cleared away {}", Untrusted::new(entry.path().display())),
                Err(error) => {
                    tracing::debug!("{}: {error}", Untrusted::new(entry.path().display()));
                }
            }
        }
    }
}
