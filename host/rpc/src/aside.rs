//! Runs long work without blocking other tasks.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The shortest text that counts as long, in bytes. A pass over a shorter text takes too little time to matter.
const LONG: usize = 256 * 1024;

/// Runs `work` on a text of this length, in bytes. If the text is long and the runtime has several threads, the other
/// tasks of this thread continue on another.
pub fn aside<T>(length: usize, work: impl FnOnce() -> T) -> T {
    let has_others = || {
        Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread)
    };
    if length >= LONG && has_others() {
        block_in_place(work)
    } else {
        work()
    }
}
