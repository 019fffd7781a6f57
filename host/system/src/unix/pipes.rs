//! The capacity of pipes.

use std::os::fd::AsFd;

/// The capacity, in bytes. Long messages then take fewer switches between both sides, and some hundreds of pipes still
/// stay far below Linux's limit for a user (`pipe-user-pages-soft`).
#[cfg(target_os = "linux")]
const SIZE: usize = 256 * 1024;

/// Raises the capacity of a pipe, where possible.
pub fn widen(pipe: impl AsFd) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(pipe, SIZE) {
        tracing::debug!("cannot raise the capacity of a pipe: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
