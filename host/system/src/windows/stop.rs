//! Requests to stop, by events of the console.

use std::future::pending;
use std::io;

use tokio::signal::windows::{CtrlC, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

/// Resolves with the next event of this kind. If listening fails, it never does.
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

/// Resolves with the next event to stop. When the console is closed, the system ends the process some seconds later.
pub async fn requested() {
    tokio::select! {
        _ = next!(ctrl_c) => {}
        () = ordered() => {}
    }
}

/// Resolves with the next event to stop, except an interrupt, which the caller handles.
pub async fn ordered() {
    tokio::select! {
        _ = next!(ctrl_break) => {}
        _ = next!(ctrl_close) => {}
        _ = next!(ctrl_shutdown) => {}
    }
}

#[derive(Debug)]
pub struct Interrupts(CtrlC);

impl Interrupts {
    /// From now on, these events no longer end the process.
    pub fn listen() -> io::Result<Self> {
        ctrl_c().map(Self)
    }

    /// Resolves with the next one. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            pending::<()>().await;
        }
    }
}
