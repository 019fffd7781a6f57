//! Messages to the developer, on standard error and in the log.
//!
//! An editor may not read standard error, or close it; the chain never waits for that.

use crate::cli::out;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// How many messages wait to be written. Any more are only in the log.
const MOST: usize = 64;

static WORDS: LazyLock<Option<SyncSender<String>>> = LazyLock::new(|| {
    let (tell, told) = sync_channel(MOST);
    let writer = thread::Builder::new().spawn(move || write(&told));
    writer.ok().map(|_| tell)
});

/// Tells the developer, and the log. Everything is marked as ours, or has been escaped.
pub fn tell(what: &str) {
    tracing::info!("{what}");
    if let Some(words) = &*WORDS {
        // It is in the log.
        let _ = words.try_send(format!("acp-chain dev: {what}\n"));
    }
}

fn write(told: &Receiver<String>) {
    for what in told {
        out::write(format_args!("{what}"));
    }
}
