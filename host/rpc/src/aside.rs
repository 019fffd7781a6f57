//! Runs long work without blocking other tasks.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The shortest text that counts as long, in bytes. A pass over a shorter text takes too little time to matter.
const LONG: usize = 256 * 1024;

/// Runs `work` on a text of this length, in bytes. If the text is long and the runtime has several threads, the other
/// tasks of this thread continue on another.
pub fn aside<T>(length: usize, work: impl FnOnce() -> T) -> T {
    if length >= LONG {
        blocking(work)
    } else {
        work()
    }
}

/// Runs work that takes long, or waits. If the runtime has several threads, the other tasks of this thread continue on
/// another.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    let here = Handle::try_current();
    if here.is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread) {
        block_in_place(work)
    } else {
        work()
    }
}
