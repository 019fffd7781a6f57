//! How much pipes hold.

use std::os::fd::AsFd;

/// So much, in bytes. What is long then takes fewer turns of both sides; and some hundreds of pipes still
/// stay far below what Linux lets all of a user's hold together (`pipe-user-pages-soft`).
#[cfg(target_os = "linux")]
const SIZE: usize = 256 * 1024;

/// Lets a pipe hold more than by default, where that can be had.
pub fn widen(pipe: impl AsFd) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(pipe, SIZE) {
        tracing::debug!("a pipe stays as it is: {error}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
