//! The running programs, and the supervisor's events about them.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::Printed;
use super::wire::Event;

/// Each by its number.
#[derive(Debug, Default)]
pub struct Programs {
    numbers: AtomicU64,
    running: Mutex<HashMap<u64, Program>>,
}

struct Program {
    /// The waiter for its end.
    ends: Option<oneshot::Sender<ExitStatus>>,
    /// Receives its standard error.
    printed: Option<Printed>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

impl Programs {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, Program>> {
        // Its state is always consistent.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a program that is about to be started: returns its number, and the receiver of its status.
    pub fn add(&self, printed: Printed) -> (u64, oneshot::Receiver<ExitStatus>) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (ends, end) = oneshot::channel();
        let program = Program {
            ends: Some(ends),
            printed: Some(printed),
        };
        self.running().insert(number, program);
        (number, end)
    }

    /// It could not be started.
    pub fn remove(&self, number: u64) {
        self.running().remove(&number);
    }

    /// Reads events about them, until the sender is gone.
    pub async fn hear(self: Arc<Self>, told: UnixStream) {
        // However this ends, waiters are released.
        let hearing = Hearing(self);
        let mut told = BufReader::new(told);
        let mut line = Vec::new();
        while matches!(told.read_until(b'\n', &mut line).await, Ok(1..)) {
            let Ok(event) = serde_json::from_slice(&line) else {
                break;
            };
            line.clear();
            hearing.0.take(event);
        }
    }

    fn take(&self, event: Event) {
        let (Event::Ended(number, _) | Event::Printed(number, _) | Event::Silent(number)) = event;
        let mut running = self.running();
        let Some(program) = running.get_mut(&number) else {
            return;
        };
        match event {
            Event::Ended(_, status) => {
                if let Some(ends) = program.ends.take() {
                    // Perhaps nobody waits.
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

struct Hearing(Arc<Programs>);

impl Drop for Hearing {
    fn drop(&mut self) {
        self.0.running().clear();
    }
}
