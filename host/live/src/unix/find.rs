//! Finding running chains.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::is_ours;
use super::place::{self, NEW, SOCKET};

/// A running chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its socket.
    pub path: PathBuf,
    /// Its process.
    pub process: u32,
}

impl Found {
    /// Connects to the chain, which sends the lines of its trace, the heading first.
    ///
    /// # Errors
    /// If the chain has ended, or belongs to another user.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.path).inspect_err(|error| {
            if error.kind() == io::ErrorKind::ConnectionRefused {
                // Its process id has been reused.
                let _ = fs::remove_file(&self.path);
            }
        })?;
        if is_ours(&stream)? {
            Ok(stream)
        } else {
            Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a program of another user listens there",
            ))
        }
    }
}

/// All running chains, ordered by process. Leftovers of dead ones are removed.
///
/// # Errors
/// If a folder of sockets cannot be read.
pub fn chains() -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for folder in place::places() {
        found.extend(in_folder(&folder)?);
    }
    found
        .sort_by(|first, second| (first.process, &first.path).cmp(&(second.process, &second.path)));
    Ok(found)
}

/// The chains whose sockets are in a folder.
pub(super) fn in_folder(folder: &Path) -> io::Result<Vec<Found>> {
    if place::check(folder).is_err() {
        // The folder is missing, or belongs to another user.
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some((process, end)) = name.to_str().and_then(parts) else {
            continue;
        };
        let path = folder.join(&name);
        let is_alive = exists(process) || end == SOCKET && has_listener(&path);
        match (is_alive, end) {
            (true, SOCKET) => found.push(Found { path, process }),
            (true, _) => {}
            // Another watcher may have removed it already.
            (false, _) => drop(fs::remove_file(&path)),
        }
    }
    Ok(found)
}

/// The process in the name of a socket, and the end of the name.
fn parts(name: &str) -> Option<(u32, &'static str)> {
    let ends = [SOCKET, NEW];
    let end = ends.into_iter().find(|end| name.ends_with(end))?;
    let (process, _) = name.split_once('-')?;
    Some((process.parse().ok()?, end))
}

fn exists(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| !matches!(test_kill_process(process), Err(Errno::SRCH)))
}

/// Whether a process listens, perhaps one that we cannot see.
fn has_listener(path: &Path) -> bool {
    let connected = UnixStream::connect(path);
    !matches!(connected, Err(error) if error.kind() == io::ErrorKind::ConnectionRefused)
}
