//! The standard error of a child process: always read, kept in part, shown only if the process fails.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// How many bytes of the end are kept.
const KEPT: usize = 16 * 1024;

/// The end of a process's output.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Takes output of the process of this name.
    pub fn take(&self, name: &str, printed: &[u8]) {
        for line in String::from_utf8_lossy(printed).lines() {
            tracing::debug!(target: "stderr", "{name}: {}", quote(line, MAX_QUOTE));
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(printed);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The kept output, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}
