//! The common parts of interactive clients.
//!
//! | file | what it is |
//! |---|---|
//! | `wire` | messages, one per line |
//! | `input` | typed lines, edited or not |
//! | `prompts` | lines as they arrive |
//! | `editor` | lines edited in a terminal, by another process |
//! | `edit_lines` | that process: `acp-chain edit-lines` |
//! | `history` | the history of prompts |
//! | `picture` | what the chain did with messages |

pub mod edit_lines;
pub mod editor;
mod history;
pub mod input;
pub mod picture;
pub mod prompts;
pub mod wire;

use tokio::io::{DuplexStream, duplex};

/// The capacity of a stream, past which its writer waits.
const PIPE: usize = 64 * 1024;

/// The two ends of the stream between an end of a chain and its host.
pub fn streams() -> (DuplexStream, DuplexStream) {
    duplex(PIPE)
}
