//! A connection to a program of the same user, for programs that wait for nothing else.
//!
//! This file uses only the standard library, since the client of agents' hooks is compiled from it alone.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// `ERROR_PIPE_BUSY`: the pipe exists, but no instance is free.
pub(super) const BUSY: i32 = 231;

/// How long to retry while the pipe is busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The interval between retries.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// `SECURITY_IDENTIFICATION`: the server learns who we are, and cannot act as us.
const IDENTIFICATION: u32 = 0x0001_0000;

/// Connects to a listener.
pub fn connect(path: &Path) -> io::Result<File> {
    let start = Instant::now();
    loop {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .security_qos_flags(IDENTIFICATION)
            .open(path);
        match opened {
            Err(error) if error.raw_os_error() == Some(BUSY) && start.elapsed() < PATIENCE => {
                thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}
