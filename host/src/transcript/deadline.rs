//! The deadline of an endless transcript: proxies may keep each other busy forever, and then simulated time stands
//! still. This is the only real clock here, and transcripts that come to rest never see it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// The default maximum duration of a transcript.
pub const LONGEST: Duration = Duration::from_mins(5);

/// A clock that runs until it is dropped.
pub struct Deadline {
    passed: oneshot::Receiver<()>,
    _runs: mpsc::Sender<()>,
}

impl Deadline {
    /// Starts the clock.
    pub fn after(longest: Duration) -> Self {
        let (end, passed) = oneshot::channel();
        let (runs, dropped) = mpsc::channel::<()>();
        thread::spawn(move || {
            if dropped.recv_timeout(longest) == Err(mpsc::RecvTimeoutError::Timeout) {
                // The receiver may just have gone.
                let _ = end.send(());
            }
        });
        Self {
            passed,
            _runs: runs,
        }
    }

    /// Completes when the time is over. Cancel safe.
    pub async fn passed(&mut self) {
        if (&mut self.passed).await.is_err() {
            // There is no time limit any more.
            std::future::pending::<()>().await;
        }
    }
}
