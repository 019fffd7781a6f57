//! The deadline of an endless transcript: proxies may keep each other busy forever, and then simulated time stands
//! still. This is the only real clock here, and transcripts that come to rest never see it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// How long a transcript may take, if it is not said.
pub const LONGEST: Duration = Duration::from_mins(5);

/// A clock that runs until it is dropped.
pub struct Deadline {
    passed: oneshot::Receiver<()>,
    _runs: mpsc::Sender<()>,
}

impl Deadline {
    /// Begins to wait.
    pub fn after(longest: Duration) -> Self {
        let (end, passed) = oneshot::channel();
        let (runs, dropped) = mpsc::channel::<()>();
        thread::spawn(move || {
            if dropped.recv_timeout(longest) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Whoever waited may be gone just now.
                let _ = end.send(());
            }
        });
        Self {
            passed,
            _runs: runs,
        }
    }

    /// Done when it has taken too long. Cancel safe.
    pub async fn passed(&mut self) {
        if (&mut self.passed).await.is_err() {
            // Nothing waits any more.
            std::future::pending::<()>().await;
        }
    }
}
