//! What a proxy is doing.

use acp_chain_channel::Part;

/// Whether a proxy can be called.
pub enum Phase {
    /// It waits for something to do.
    Idle(Box<dyn Part>),
    /// It is being called or started, and will return.
    Busy,
    /// A running native proxy: messages for it are written to it.
    Runs,
    /// It has no instance, and nothing of it is open. A message for it wakes it up.
    Asleep,
    /// It broke, and is about to be restarted. Messages for it wait.
    Down,
    /// It broke, for this reason, and was given up.
    Ended(String),
}
