//! The running programs, and the supervisor's events about them.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use acp_chain_rpc::Mutex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::StderrCallback;
use super::wire::Event;

/// Running programs, by their numbers.
#[derive(Debug, Default)]
pub struct Programs {
    numbers: AtomicU64,
    running: Mutex<HashMap<u64, Program>>,
}

struct Program {
    /// Receives its status when it ends.
    ends: Option<oneshot::Sender<ExitStatus>>,
    printed: Option<StderrCallback>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

impl Programs {
    /// Adds a program before it is started. Returns its number, and the receiver of its status.
    pub fn add(&self, printed: StderrCallback) -> (u64, oneshot::Receiver<ExitStatus>) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (ends, end) = oneshot::channel();
        let program = Program {
            ends: Some(ends),
            printed: Some(printed),
        };
        self.running.lock().insert(number, program);
        (number, end)
    }

    /// Removes a program that could not be started.
    pub fn remove(&self, number: u64) {
        self.running.lock().remove(&number);
    }

    /// Reads events until the supervisor closes the socket.
    pub async fn read_events(self: Arc<Self>, events: UnixStream) {
        // However this ends, waiters are released.
        let release = Release(self);
        let mut events = BufReader::new(events);
        let mut line = Vec::new();
        while matches!(events.read_until(b'\n', &mut line).await, Ok(1..)) {
            let Ok(event) = serde_json::from_slice(&line) else {
                break;
            };
            line.clear();
            release.0.take(event);
        }
    }

    fn take(&self, event: Event) {
        let (Event::Ended(number, _) | Event::Printed(number, _) | Event::Silent(number)) = event;
        let mut running = self.running.lock();
        let Some(program) = running.get_mut(&number) else {
            return;
        };
        match event {
            Event::Ended(_, status) => {
                if let Some(ends) = program.ends.take() {
                    // The receiver may have been dropped.
                    let _ = ends.send(ExitStatus::from_raw(status));
                }
            }
            Event::Printed(_, bytes) => {
                if let (Some(printed), Ok(bytes)) = (&mut program.printed, STANDARD.decode(bytes)) {
                    printed(&bytes);
                }
            }
            Event::Silent(_) => program.printed = None,
        }
        if program.ends.is_none() && program.printed.is_none() {
            running.remove(&number);
        }
    }
}

struct Release(Arc<Programs>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.running.lock().clear();
    }
}
