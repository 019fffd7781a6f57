//! Chains of projects: the proxies that a session has beside those that hold everywhere, by its working
//! directory.
//!
//! Who finds projects, and decides whether their proxies may run, is not said here. A session waits for that
//! no longer than [`PATIENCE`].

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::Member;
use acp_chain_channel::Failure;

/// How long a session waits for its project to be found. Its folder may lie on a disk that hangs.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Finds the projects of sessions.
pub trait Projects: Send {
    /// Begins to look for the project of a session with this working directory, as its request names it.
    /// The answer comes from [`next`](Self::next), under this number.
    fn find(&mut self, number: u64, cwd: &Path);

    /// What there is to say next; pending while there is nothing. Cancel safe.
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Word> + Send + '_>>;
}

/// What is said of projects.
#[derive(Debug)]
pub enum Word {
    /// What was looked for under this number was found, or is not there.
    Found(u64, Option<Project>),
    /// Something that the user is to know, in the next turn.
    Notice(String),
}

/// A project of which the proxies may run.
pub struct Project {
    /// Which proxies, of which project, on which terms: sessions with the same key share them.
    pub key: Arc<str>,
    /// What people call it.
    pub name: String,
    /// Makes the proxies, the client's neighbour first. Called if they do not run yet.
    pub make: Make,
}

/// Makes the proxies of a project. Without them its sessions do not begin: who relies on them gets an error.
pub type Make = Box<dyn FnOnce() -> Result<Vec<Member>, Failure> + Send>;

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Project")
            .field("key", &self.key)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
