//! Connections from programs of the same user: a Unix socket.
//!
//! It is in a folder of its own that nobody else can enter, and accepts only processes of our user. Both are removed
//! when its [`Address`] is dropped. Leftovers of dead programs are removed too.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Read};
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

use super::supervisor::Supervisor;
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

/// The side that accepts connections.
#[derive(Debug)]
pub struct Listener(UnixListener);

/// Its address: a folder with only the socket in it.
#[derive(Debug)]
pub struct Address {
    path: PathBuf,
    folder: Folder,
}

/// Who removes it.
#[derive(Debug)]
enum Folder {
    Ours(PathBuf),
    /// The supervisor, when its life ends.
    Theirs(StdStream),
}

impl Address {
    /// The argument of [`connect`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes folders of our user's dead programs: those on whose socket nobody listens. The supervisor does that by
    /// itself.
    pub fn clear(&self) -> impl Future<Output = ()> + Send + use<> {
        let place = match &self.folder {
            Folder::Ours(folder) => folder.parent().map(Path::to_owned),
            Folder::Theirs(_) => None,
        };
        async move {
            if let Some(place) = place {
                clear(&place).await;
            }
        }
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        match &mut self.folder {
            Folder::Ours(folder) => remove(folder),
            Folder::Theirs(life) => {
                // It ends when the folder is gone.
                let _ = life.shutdown(Shutdown::Write);
                let _ = life.read(&mut [0]);
            }
        }
    }
}

fn remove(folder: &Path) {
    for name in [NAME, NEW] {
        // It may not exist yet.
        let _ = fs::remove_file(folder.join(name));
    }
    if let Err(error) = fs::remove_dir(folder) {
        tracing::warn!("{} stays behind: {error}", Untrusted::new(folder.display()));
    }
}

impl Listener {
    /// Listens from now on, at an address that contains this text: a short one that was never used before. Must be
    /// called within a tokio runtime. The supervisor opens the socket if there is one.
    pub fn open(random: &str, by: Option<&Supervisor>) -> io::Result<(Address, Self)> {
        let (address, listener) = match by {
            None => make(random)?,
            Some(supervisor) => {
                let (path, listener, life) = supervisor.socket(random)?;
                life.set_read_timeout(Some(PATIENCE))?;
                let folder = Folder::Theirs(life);
                (Address { path, folder }, listener)
            }
        };
        listener.set_nonblocking(true)?;
        Ok((address, Self(UnixListener::from_std(listener)?)))
    }

    /// The next connection; `None` if it is from another user. Cancel safe.
    pub async fn accept(&mut self) -> io::Result<Option<UnixStream>> {
        let (stream, _) = self.0.accept().await?;
        let ours = stream
            .peer_cred()
            .is_ok_and(|peer| peer.uid() == geteuid().as_raw());
        Ok(ours.then_some(stream))
    }
}

/// Where a folder with the socket may be, the better place first. Paths in the second are short enough for sockets.
pub fn places() -> Vec<PathBuf> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|path| path.is_absolute() && path.is_dir());
    own.into_iter().chain([std::env::temp_dir()]).collect()
}

/// A port on the loopback interface, chosen by the system. The supervisor opens it if there is one.
pub fn port(by: Option<&Supervisor>) -> io::Result<TcpListener> {
    match by {
        None => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)),
        Some(supervisor) => supervisor.port(),
    }
}

/// Makes a folder in the best place, and the socket in it.
pub(super) fn make(random: &str) -> io::Result<(Address, StdListener)> {
    let mut made = Err(io::ErrorKind::NotFound.into());
    for place in places() {
        made = make_in(&place, random);
        if made.is_ok() {
            break;
        }
    }
    made
}

fn make_in(place: &Path, random: &str) -> io::Result<(Address, StdListener)> {
    let folder = place.join(format!("{FOLDER}{random}"));
    let made = DirBuilder::new().mode(0o700).create(&folder);
    let made = made.and_then(|()| {
        let address = Address {
            path: folder.join(NAME),
            folder: Folder::Ours(folder.clone()),
        };
        let new = folder.join(NEW);
        let listener = StdListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        // Under its final name it is never visible without a listener.
        fs::rename(&new, address.path())?;
        Ok((address, listener))
    });
    made.map_err(|error| {
        let path = Untrusted::new(folder.display());
        let why = format!(
            "the socket for MCP clients cannot be made in {path}: {error}; set XDG_RUNTIME_DIR to a \
             folder of yours, with a short path"
        );
        io::Error::new(error.kind(), why)
    })
}

/// Connects to a listener of our user.
pub async fn connect(path: &str) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    let (us, them) = (geteuid().as_raw(), stream.peer_cred()?.uid());
    match them == us {
        true => Ok(stream),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("user {them} listens there, and this runs as user {us}"),
        )),
    }
}

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
                Ok(()) => tracing::info!("cleared away {}", Untrusted::new(entry.path().display())),
                Err(error) => {
                    tracing::debug!("{}: {error}", Untrusted::new(entry.path().display()));
                }
            }
        }
    }
}
