//! Connections from programs of the same user: a Unix socket.
//!
//! It is in a separate folder that other users cannot enter, and accepts only processes of our user. The socket and the
//! folder are removed when the [`Address`] is dropped. Leftovers of dead programs are removed too.

use std::io::{self, Read};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

pub use super::socket::places;

use super::socket::{self, Folder};
use super::supervisor::Supervisor;

/// How long the supervisor may take to remove a folder.
const PATIENCE: Duration = Duration::from_secs(1);

/// An open socket that accepts no connections yet: those of programs wait.
#[derive(Debug)]
pub struct Endpoint(StdListener);

/// The side that accepts connections.
#[derive(Debug)]
pub struct Listener(UnixListener);

/// The address of a listener: a socket in a folder of its own.
#[derive(Debug)]
pub struct Address {
    path: PathBuf,
    kept: FolderOwner,
}

/// What tells the supervisor that a port is closed, by being dropped.
#[derive(Debug)]
pub struct Lifeline {
    _stream: Option<StdStream>,
}

/// The owner of the folder.
#[derive(Debug)]
enum FolderOwner {
    ByUs(Folder),
    /// The supervisor, until this ends.
    Elsewhere(StdStream),
}

/// The process that has made a connection. Another one may use it, if that one was given it.
#[derive(Debug)]
pub struct Peer {
    id: Option<u32>,
    #[cfg(target_os = "linux")]
    handle: nix::Result<std::os::fd::OwnedFd>,
}

impl Peer {
    pub fn of(stream: &UnixStream) -> Self {
        let credentials = stream.peer_cred().ok();
        let id = credentials.and_then(|credentials| credentials.pid());
        let id = id.and_then(|id| u32::try_from(id).ok());
        Self {
            // In a container that we do not see into, it is 0.
            id: id.filter(|id| *id > 0),
            #[cfg(target_os = "linux")]
            handle: nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerPidfd),
        }
    }

    /// Its id, if the system tells. Once it has ended, another process may have that.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// Whether it has ended, as far as the system tells.
    #[cfg(target_os = "linux")]
    pub fn has_ended(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        match &self.handle {
            Ok(handle) => {
                let mut end = [PollFd::new(handle, PollFlags::IN)];
                poll(&mut end, Some(&Timespec::default())) != Ok(0)
            }
            // Linux has such handles since 6.5. There is none of what has ended.
            Err(error) => *error != nix::errno::Errno::ENOPROTOOPT,
        }
    }

    /// Whether it has ended, as far as the system tells: not here.
    #[cfg(not(target_os = "linux"))]
    pub fn has_ended(&self) -> bool {
        false
    }
}

impl Address {
    /// Whether addresses have a [`folder`](Self::folder) on this system.
    pub const HAS_FOLDER: bool = true;

    /// The argument of [`connect`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the socket, which only our user can enter. It is removed with all that was put into it.
    pub fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// Removes folders of our user's dead programs: those without a listener. With a supervisor, this does nothing,
    /// since the supervisor does that.
    pub fn clear(&self) -> impl Future<Output = ()> + Send + use<> {
        let place = match &self.kept {
            FolderOwner::ByUs(folder) => folder.place().map(Path::to_owned),
            FolderOwner::Elsewhere(_) => None,
        };
        async move {
            if let Some(place) = place {
                socket::clear(&place).await;
            }
        }
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        if let FolderOwner::Elsewhere(life) = &mut self.kept {
            // The stream ends when the folder has been removed.
            let _ = life.shutdown(Shutdown::Write);
            let _ = life.read(&mut [0]);
        }
    }
}

impl Endpoint {
    /// Opens a socket at an address that contains `random`, which must be short and unique. If there is a supervisor,
    /// it opens the socket.
    pub fn open(random: &str, by: Option<&Supervisor>) -> io::Result<(Address, Self)> {
        let (path, kept, listener) = match by {
            None => {
                let (folder, listener) = socket::make(random)?;
                (folder.socket(), FolderOwner::ByUs(folder), listener)
            }
            Some(supervisor) => {
                let (path, listener, life) = supervisor.socket(random)?;
                life.set_read_timeout(Some(PATIENCE))?;
                (path, FolderOwner::Elsewhere(life), listener)
            }
        };
        listener.set_nonblocking(true)?;
        Ok((Address { path, kept }, Self(listener)))
    }

    /// Accepts connections from now on. Must be called within a tokio runtime, which may be another one.
    pub fn listen(self) -> io::Result<Listener> {
        Ok(Listener(UnixListener::from_std(self.0)?))
    }
}

impl Listener {
    /// Opens an [`Endpoint`], and listens there. Must be called within a tokio runtime.
    pub fn open(random: &str, by: Option<&Supervisor>) -> io::Result<(Address, Self)> {
        let (address, endpoint) = Endpoint::open(random, by)?;
        Ok((address, endpoint.listen()?))
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

/// A port on the loopback interface, chosen by the system. If there is a supervisor, it opens the port. The lifeline is
/// kept for as long as the port is open.
pub fn port(by: Option<&Supervisor>) -> io::Result<(TcpListener, Lifeline)> {
    match by {
        None => Ok((socket::port()?, Lifeline { _stream: None })),
        Some(supervisor) => {
            let (port, life) = supervisor.port()?;
            Ok((
                port,
                Lifeline {
                    _stream: Some(life),
                },
            ))
        }
    }
}

/// Connects to a listener of our user.
pub async fn connect(path: &str) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    let (us, them) = (geteuid().as_raw(), stream.peer_cred()?.uid());
    if them == us {
        Ok(stream)
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("user {them} listens there, and this runs as user {us}"),
        ))
    }
}
