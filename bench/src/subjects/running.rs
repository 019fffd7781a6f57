//! A running subject, with the client in front of it.

use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{Subject, Tree, log};
use crate::client::Client;

/// How long a subject has to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running subject. It ends when this is dropped.
#[derive(Debug)]
pub struct RunningSubject {
    /// The subject.
    pub subject: Subject,
    /// When the subject was started.
    pub since: Instant,
    /// The client in front of it.
    pub client: Client<ChildStdout, ChildStdin>,
    /// Dropped after the client, whose end makes the subject end.
    ending: ProcessGuard,
}

#[derive(Debug)]
struct ProcessGuard {
    child: Child,
    tree: Option<Tree>,
}

impl RunningSubject {
    pub(super) fn start(subject: &Subject, mut command: Command, scratch: &Path) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(log(scratch)?);
        let since = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("{} cannot be started", command.get_program().display()))?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (output, input) = pipes.context("no pipes")?;
        Ok(Self {
            subject: subject.clone(),
            since,
            client: Client::new(output, input),
            ending: ProcessGuard { child, tree: None },
        })
    }

    /// Its processes.
    #[must_use]
    pub fn tree(&self) -> Tree {
        Tree::of(self.ending.child.id())
    }
}

impl Drop for RunningSubject {
    fn drop(&mut self) {
        // Once the subject has ended, its children are no longer known.
        self.ending.tree = Some(self.tree());
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        if let Some(tree) = &self.tree {
            tree.kill();
        }
        // For systems without a process tree.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
