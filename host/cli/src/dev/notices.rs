//! Messages to the developer, on standard error.
//!
//! An editor may leave standard error unread, or close it; the chain never waits for it.

use crate::out;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The maximum number of messages that wait to be written. Further ones are only in the log.
const MOST: usize = 64;

static QUEUE: LazyLock<Option<SyncSender<String>>> = LazyLock::new(|| {
    let (sender, queue) = sync_channel(MOST);
    let writer = thread::Builder::new().spawn(move || write(&queue));
    writer.ok().map(|_| sender)
});

/// Sends a message to the developer. Text from outside must be escaped already.
pub fn send(what: &str) {
    if let Some(queue) = &*QUEUE {
        // A message that does not fit is in the log.
        let _ = queue.try_send(format!("acp-chain dev: {what}\n"));
    }
}

fn write(queue: &Receiver<String>) {
    for what in queue {
        out::write(format_args!("{what}"));
    }
}
