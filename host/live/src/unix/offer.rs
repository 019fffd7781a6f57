//! A chain's side: a socket at which other processes of this user may listen.
//!
//! Everything that needs privileges is done when the socket is opened. [`Acceptor::keep`], on a thread of its own,
//! accepts connections, and also sends bytes that a listener did not accept at once.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use acp_chain_trace::{Line, Sink};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::is_ours;
use super::listeners::Listeners;
use super::place::{self, NEW, SOCKET};
use crate::letters;

/// The pause before accepting is retried.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that others of this user may connect to. Dropping it removes the socket.
#[derive(Debug)]
pub struct Offer {
    path: PathBuf,
    connection: String,
    listeners: Arc<Mutex<Listeners>>,
    /// Wakes the [`Acceptor`], and ends it.
    life: UnixStream,
    acceptor: Option<Acceptor>,
}

/// Accepts listeners.
#[derive(Debug)]
pub struct Acceptor {
    socket: UnixListener,
    listeners: Arc<Mutex<Listeners>>,
    life: UnixStream,
}

impl Offer {
    /// Opens a socket, in the best available place.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open() -> io::Result<Self> {
        let mut opened = Err(io::ErrorKind::NotFound.into());
        for folder in place::places() {
            opened = Self::open_in(&folder).map_err(|error| {
                let why = format!("{}: {error}", folder.display());
                io::Error::new(error.kind(), why)
            });
            if opened.is_ok() {
                break;
            }
        }
        opened
    }

    /// Opens a socket in this folder.
    pub(super) fn open_in(folder: &Path) -> io::Result<Self> {
        let connection = letters()?;
        let name = format!("{}-{connection}", std::process::id());
        let (new, path) = (
            place::socket(folder, &name, NEW)?,
            place::socket(folder, &name, SOCKET)?,
        );
        place::make(folder)?;
        let socket = UnixListener::bind(&new)?;
        socket.set_nonblocking(true)?;
        let placed = fs::set_permissions(&new, Permissions::from_mode(0o600));
        // Under its final name it is never visible without a listener.
        placed
            .and_then(|()| fs::rename(&new, &path))
            .inspect_err(|_| drop(fs::remove_file(&new)))?;
        let (life, theirs) = UnixStream::pair()?;
        life.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        let listeners = Arc::default();
        let acceptor = Acceptor {
            socket,
            listeners: Arc::clone(&listeners),
            life: theirs,
        };
        Ok(Self {
            path,
            connection,
            listeners,
            life,
            acceptor: Some(acceptor),
        })
    }

    /// Random letters, part of the socket's name.
    #[must_use]
    pub fn connection(&self) -> &str {
        &self.connection
    }

    /// The folder of the socket. Removing the socket at the end needs the right to remove files there.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The number of listeners.
    #[must_use]
    pub fn listener_count(&self) -> Arc<AtomicUsize> {
        lock(&self.listeners).count.clone()
    }

    /// Accepts the listeners; `None` after the first call.
    pub fn acceptor(&mut self) -> Option<Acceptor> {
        self.acceptor.take()
    }
}

impl Sink for Offer {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut listeners = lock(&self.listeners);
        lines.iter().try_for_each(|line| listeners.push(line))?;
        listeners.send();
        if listeners.is_behind() {
            // If the socket is full, an unread wake-up is pending.
            let _ = (&self.life).write(&[0]);
        }
        Ok(())
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        // If we cannot remove it, the next search for chains does.
        let _ = fs::remove_file(&self.path);
    }
}

impl Acceptor {
    /// Accepts listeners until the offer is dropped. `joined` is called for each.
    pub fn keep(self, joined: impl Fn()) {
        while self.turn(&joined).is_ok_and(|goes_on| goes_on) {}
    }

    fn turn(&self, joined: &impl Fn()) -> io::Result<bool> {
        let streams = lock(&self.listeners).streams();
        let ends = PollFlags::HUP | PollFlags::ERR;
        let mut polled = vec![
            PollFd::from_borrowed_fd(self.life.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN),
        ];
        polled.extend(streams.iter().map(|(stream, is_behind)| {
            let wanted = if *is_behind {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            PollFd::from_borrowed_fd(stream.as_fd(), wanted)
        }));
        match poll(&mut polled, None) {
            Err(Errno::INTR) => return Ok(true),
            done => done?,
        };
        let [life, socket, listeners @ ..] = &*polled else {
            return Ok(false);
        };
        let is_over = !life.revents().is_empty() && self.is_over();
        let mut all = lock(&self.listeners);
        for (polled, (stream, _)) in listeners.iter().zip(&streams) {
            if polled.revents().intersects(ends) {
                all.leave(stream);
            }
        }
        all.send();
        drop(all);
        if !socket.revents().is_empty() && !is_over {
            self.accept(joined);
        }
        Ok(!is_over)
    }

    /// Reads wake-ups. Returns whether the offer was dropped.
    fn is_over(&self) -> bool {
        let read = (&self.life).read(&mut [0; 64]);
        matches!(read, Ok(0))
    }

    fn accept(&self, joined: &impl Fn()) {
        match self.socket.accept() {
            Ok((stream, _)) => {
                let is_accepted = is_ours(&stream).is_ok_and(|is_ours| is_ours)
                    && stream.set_nonblocking(true).is_ok();
                if is_accepted && lock(&self.listeners).join(stream) {
                    joined();
                }
            }
            // The process may be out of descriptors; then connections keep waiting.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(_) => {}
        }
    }
}

fn lock(listeners: &Mutex<Listeners>) -> MutexGuard<'_, Listeners> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}
