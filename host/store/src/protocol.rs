//! The calls of a server to the process that has the store, such as `{"id":1,"leave":{…}}`, answered by
//! `{"id":1,"answer":"done"}`.

use serde::{Deserialize, Serialize};

use crate::call::Answer;
use crate::limits::LimitError;

/// The longest line, in bytes.
pub const LINE: usize = 4 << 20;

/// What becomes of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Answer(Answer),
    Limit(LimitError),
    /// The store cannot be used now, for this reason.
    Unavailable(String),
}
