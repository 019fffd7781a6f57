//! Being asked to stop, by an event of the console.

use std::future::pending;
use std::io;

use tokio::signal::windows::{CtrlC, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

/// Done with the next event of this kind. One that cannot be listened for never comes.
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

/// The same, but for an interrupt, which means something else.
pub async fn ordered() {
    tokio::select! {
        _ = next!(ctrl_break) => {}
        _ = next!(ctrl_close) => {}
        _ = next!(ctrl_shutdown) => {}
    }
}

/// What a user sends us with Ctrl-C.
#[derive(Debug)]
pub struct Interrupts(CtrlC);

impl Interrupts {
    /// Listens from now on; these events no longer end us.
    pub fn listen() -> io::Result<Self> {
        ctrl_c().map(Self)
    }

    /// Done with the next one. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            pending::<()>().await;
        }
    }
}
