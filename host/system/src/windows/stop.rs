//! Being asked to stop, by an event of the console.

use std::future::pending;

use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

/// Done with the next of an event. One that cannot be listened for never comes.
macro_rules! next {
    ($listen:ident) => {
        async {
            match $listen() {
                Ok(mut event) => event.recv().await,
                Err(_) => pending().await,
            }
        }
    };
}

/// Done when the system asks us to stop. When the console is closed, it lets us live for some
/// seconds more.
pub async fn requested() {
    tokio::select! {
        _ = next!(ctrl_c) => {}
        _ = next!(ctrl_break) => {}
        _ = next!(ctrl_close) => {}
        _ = next!(ctrl_shutdown) => {}
    }
}
