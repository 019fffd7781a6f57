//! The deadline of a transcript whose chain never becomes idle: proxies may send messages to each other endlessly, and
//! then simulated time stands still. Only this deadline uses the real clock.

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
                // The receiver may have been dropped just now.
                let _ = end.send(());
            }
        });
        Self {
            passed,
            _runs: runs,
        }
    }

    /// Does some work; `None` if the time is over before it is done.
    pub async fn within<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.passed() => None,
        }
    }

    /// Completes when the time is over. Cancel safe.
    async fn passed(&mut self) {
        if (&mut self.passed).await.is_err() {
            // The clock's thread ended: there is no time limit.
            std::future::pending::<()>().await;
        }
    }
}
