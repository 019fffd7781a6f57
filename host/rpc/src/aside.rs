//! Work that takes long, kept from holding up others.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// The shortest text, in bytes, for which others may be held up: a pass over less takes no time that anybody notices.
const LONG: usize = 256 * 1024;

/// Does something with a text of this length. If it is long, the other tasks of this thread go on elsewhere meanwhile,
/// where a runtime has more than one.
pub fn aside<T>(length: usize, work: impl FnOnce() -> T) -> T {
    let has_others = || {
        Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread)
    };
    match length >= LONG && has_others() {
        true => block_in_place(work),
        false => work(),
    }
}
