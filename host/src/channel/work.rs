//! What the host reads on behalf of a proxy. It does so in one go, and nothing else moves meanwhile.

use super::ChannelError;
use crate::rpc::MAX_POINTER;

/// How many bytes may be read for one call.
const MOST: usize = 256 << 20;

/// What was read for the current call.
#[derive(Debug, Default)]
pub struct Work(usize);

impl Work {
    /// So many bytes are about to be read.
    pub fn spend(&mut self, bytes: usize) -> Result<(), ChannelError> {
        self.0 = self.0.saturating_add(bytes);
        match self.0 <= MOST {
            true => Ok(()),
            false => Err(ChannelError::Full),
        }
    }

    /// A place is about to be looked up in a text: each part of the pointer may read all of it.
    pub fn look_up(&mut self, text: &str, pointer: &str) -> Result<(), ChannelError> {
        if pointer.len() > MAX_POINTER {
            let text = format!("a pointer of {} bytes is over the limit", pointer.len());
            return Err(ChannelError::Invalid(text));
        }
        let parts = pointer.matches('/').count().max(1);
        self.spend(text.len().saturating_mul(parts))
    }
}
