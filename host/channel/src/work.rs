//! How much the host reads on behalf of a proxy. It reads without yielding, so the amount is bounded.

use super::ChannelError;
use super::ledger::invalid;
use acp_chain_rpc::MAX_POINTER;

/// How many bytes may be read for one call.
const MAX_BYTES: usize = 256 << 20;

/// How many bytes may still be read for the current call.
#[derive(Debug)]
pub struct Work(usize);

impl Default for Work {
    fn default() -> Self {
        Self(MAX_BYTES)
    }
}

impl Work {
    /// Accounts for bytes that are about to be read.
    pub fn spend(&mut self, bytes: usize) -> Result<(), ChannelError> {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.map(drop).ok_or(ChannelError::Full)
    }

    /// How many bytes may still be read, for callers that count as they go.
    pub fn left(&mut self) -> &mut usize {
        &mut self.0
    }

    /// Accounts for looking up several places in a text at once: the text is read as often as the deepest pointer has
    /// parts.
    pub fn look_up_at_once<'p>(
        &mut self,
        text: &str,
        pointers: impl Iterator<Item = &'p str>,
    ) -> Result<(), ChannelError> {
        let mut deepest = 1;
        for pointer in pointers {
            deepest = deepest.max(parts(pointer)?);
        }
        self.spend(text.len().saturating_mul(deepest))
    }

    /// Accounts for looking up a place in a text: each part of the pointer counts as a read of the whole text.
    pub fn look_up(&mut self, text: &str, pointer: &str) -> Result<(), ChannelError> {
        self.look_up_at_once(text, std::iter::once(pointer))
    }
}

/// How many parts a pointer has, if it is not too long.
fn parts(pointer: &str) -> Result<usize, ChannelError> {
    if pointer.len() <= MAX_POINTER {
        Ok(pointer.matches('/').count())
    } else {
        let length = pointer.len();
        invalid(format!("a pointer of {length} bytes is over the limit"))
    }
}
