//! The socket to which `acp-chain mcp-shim` connects: all that only Unix has.
//!
//! It lies in a folder of its own that nobody else can enter, and only processes of our user are
//! heard. Both are gone when it is dropped. What hosts that died left behind is cleared away.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::geteuid;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{AbortHandle, JoinSet};

use super::hall::Hall;
use super::pipe;
use super::secret::Secret;
use crate::limits;

/// What our folders' names begin with.
const FOLDER: &str = "acp-chain-";

/// The socket's name in its folder.
const NAME: &str = "mcp";

/// Its name until somebody listens.
const NEW: &str = "new";

/// So many folders of others are looked at.
const LOOKED_AT: usize = 1000;

/// How long one of them may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long nobody is let in when the system has no more to give.
const PAUSE: Duration = Duration::from_millis(100);

/// The socket.
pub struct Socket {
    path: PathBuf,
    _folder: Folder,
    task: AbortHandle,
}

/// A folder with nothing but the socket in it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        for name in [NAME, NEW] {
            // It may not have come so far.
            let _ = fs::remove_file(self.0.join(name));
        }
        if let Err(error) = fs::remove_dir(&self.0) {
            tracing::warn!("{} stays behind: {error}", self.0.display());
        }
    }
}

impl Socket {
    /// Makes it, and lets clients in.
    pub fn open(hall: &Arc<Hall>) -> io::Result<Self> {
        // The first may be that of another user, whose environment we have.
        let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let own = own.filter(|path| path.is_absolute());
        let made = own.map(|place| make(&place));
        let (folder, listener) = match made {
            Some(Ok(made)) => made,
            _ => make(&std::env::temp_dir())?,
        };
        let (hall, path) = (Arc::clone(hall), folder.0.join(NAME));
        let place = folder.0.parent().map(Path::to_owned).unwrap_or_default();
        let task = tokio::spawn(async move {
            tokio::join!(clear(&place), accept(&hall, &listener));
        });
        Ok(Self {
            path,
            _folder: folder,
            task: task.abort_handle(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Makes a folder in this place, and the socket in it.
fn make(place: &Path) -> io::Result<(Folder, UnixListener)> {
    let random = Secret::new()?;
    let folder = place.join(format!("{FOLDER}{}", &random.reveal()[..16]));
    let made = DirBuilder::new().mode(0o700).create(&folder);
    let made = made.and_then(|()| {
        let folder = Folder(folder.clone());
        let new = folder.0.join(NEW);
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        // Under its name it is never seen without somebody who listens.
        fs::rename(&new, folder.0.join(NAME))?;
        Ok((folder, listener))
    });
    made.map_err(|error| {
        let path = folder.display();
        let why = format!(
            "the socket for MCP clients cannot be made in {path}: {error}; set XDG_RUNTIME_DIR to a \
             folder of yours, with a short path"
        );
        io::Error::new(error.kind(), why)
    })
}

/// The client's side: connects to the socket at a path.
pub async fn connect(path: &str) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin> {
    UnixStream::connect(path).await
}

/// Lets clients in; ends with all of them when it is dropped.
async fn accept(hall: &Arc<Hall>, listener: &UnixListener) {
    let mut clients = JoinSet::new();
    loop {
        while clients.try_join_next().is_some() {}
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("no MCP client gets in for a while: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let ours = stream
            .peer_cred()
            .is_ok_and(|peer| peer.uid() == geteuid().as_raw());
        if !ours {
            hall.turned_away("it is of another user");
        } else if clients.len() >= limits::MCP_CONNECTIONS {
            hall.turned_away("there are too many connections");
        } else {
            clients.spawn(pipe::serve(Arc::clone(hall), stream));
        }
    }
}

/// Removes the folders of our user's hosts that are gone: those whose socket nobody listens at.
async fn clear(place: &Path) {
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
        let connected = tokio::time::timeout(PATIENCE, UnixStream::connect(&socket)).await;
        if matches!(connected, Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused) {
            let cleared = fs::remove_file(&socket).and_then(|()| fs::remove_dir(entry.path()));
            match cleared {
                Ok(()) => tracing::info!("cleared away {}", entry.path().display()),
                Err(error) => tracing::debug!("{}: {error}", entry.path().display()),
            }
        }
    }
}
