//! Turns with an agent that the user types, each followed by a picture of what every proxy did with the messages.
//!
//! | file | what it is |
//! |---|---|
//! | `client` | the client: prompts, answers, and questions in between; `sign_in` there signs in |
//! | `scene` | what surrounds the client |
//! | `question` | permission requests |
//! | `files` | the files of the session's folder |
//! | `shown` | the agent's output, as it arrives |
//! | `failure` | what the user is told about a failed request |
//! | `silence` | a hint when an answer is long in coming, and the end when the user waits no longer |

mod client;
mod failure;
mod files;
mod question;
mod scene;
mod shown;
mod silence;

pub use self::client::Client;
pub use self::files::Files;
pub use self::scene::{Ending, RunningChain, Scene};
