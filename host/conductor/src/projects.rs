//! Projects: further proxies of a session, by its working directory, beside those of all sessions.
//!
//! An implementation of [`Projects`] finds projects, and decides whether their proxies may run. A session waits for
//! that no longer than [`PATIENCE`](acp_chain_router::PATIENCE).

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use acp_chain_channel::Failure;
use acp_chain_router::Member;

/// Finds the projects of sessions.
pub trait Projects: Send {
    /// Starts to look for the project of a session with this working directory, as named in its request.
    /// [`next`](Self::next) returns the result, with this number.
    fn find(&mut self, number: u64, cwd: &Path);

    /// Whether a session must not begin before its project is known.
    fn are_required(&self) -> bool {
        false
    }

    /// The next result or notice; pending until there is one. Cancel safe.
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Word> + Send + '_>>;
}

/// A result of a lookup, or a notice.
#[derive(Debug)]
pub enum Word {
    /// The result of the lookup with this number; an error says why the session must not begin.
    Found(u64, Result<Option<Project>, String>),
    /// A notice for the user's next turn.
    Notice(String),
}

/// A project whose proxies may run.
pub struct Project {
    /// Identifies the project, its proxies and their terms: sessions with the same key share them.
    pub key: Arc<str>,
    /// Its name for people.
    pub name: String,
    /// Makes the proxies, the client's neighbour first. Not called if they run already.
    pub make: ProxyFactory,
}

/// Makes the proxies of a project. If that fails, its sessions get an error and do not begin.
pub type ProxyFactory = Box<dyn FnOnce() -> Result<Vec<Member>, Failure> + Send>;

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Project")
            .field("key", &self.key)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
