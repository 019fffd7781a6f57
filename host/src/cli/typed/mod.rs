//! A built-in interactive client: what `acp-chain dev` and `acp-chain try` share.
//!
//! | file | what it is |
//! |---|---|
//! | `wire` | JSON-RPC, a line a message |
//! | `prompts` | the lines that are typed |
//! | `picture` | what the chain made of messages |

pub mod picture;
pub mod prompts;
pub mod wire;

use tokio::io::{DuplexStream, duplex};

/// What a stream holds before its writer waits.
const PIPE: usize = 64 * 1024;

/// The streams between an end of a chain and its host: that of one, and that of the other.
pub fn streams() -> (DuplexStream, DuplexStream) {
    duplex(PIPE)
}
