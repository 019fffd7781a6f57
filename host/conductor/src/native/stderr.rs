//! What a child process prints on its standard error: read always, kept in part, shown only when
//! the process fails.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// So much of the end is kept.
const KEPT: usize = 16 * 1024;

/// The end of a stream that is being read.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Reads a stream to its end.
    pub async fn drain(self, name: String, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 1024];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let read = &buffer[..count];
            for line in String::from_utf8_lossy(read).lines() {
                tracing::debug!(target: "stderr", "{name}: {}", quote(line, MAX_QUOTE));
            }
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(read);
            let surplus = kept.len().saturating_sub(KEPT);
            kept.drain(..surplus);
        }
    }

    /// What is kept, as text.
    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}
