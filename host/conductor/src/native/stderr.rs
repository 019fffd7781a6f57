//! What a child process prints on its standard error: read always, kept in part, shown only when
//! the process fails.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// So much of the end is kept.
const KEPT: usize = 16 * 1024;

/// The end of what a process prints.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Takes what a process of this name has printed.
    pub fn take(&self, name: &str, printed: &[u8]) {
        for line in String::from_utf8_lossy(printed).lines() {
            tracing::debug!(target: "stderr", "{name}: {}", quote(line, MAX_QUOTE));
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(printed);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// What is kept, as text.
    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}
