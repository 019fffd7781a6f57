//! A program that was started.

use tokio::io::{AsyncRead, AsyncWrite};

use crate::tree::Tree;

/// A running program, with its standard input and output.
pub struct StartedProgram {
    pub tree: Tree,
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
}

impl std::fmt::Debug for StartedProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("StartedProgram")
            .field("tree", &self.tree)
            .finish_non_exhaustive()
    }
}
