//! The output of a finished command.

use std::process::Output;

/// The output of a finished command, and whether the command succeeded.
#[derive(Debug)]
pub struct CommandOutput {
    /// Whether the command succeeded.
    pub is_success: bool,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub err: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            is_success: output.status.success(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl CommandOutput {
    /// The standard output of the command with these arguments, which has to succeed.
    ///
    /// # Panics
    /// If the command failed.
    #[must_use]
    #[track_caller]
    pub fn of_success(self, args: &[&str]) -> String {
        assert!(self.is_success, "{args:?}: {self:?}");
        self.out
    }

    /// The standard error of the command with these arguments, which has to fail.
    ///
    /// # Panics
    /// If the command succeeded.
    #[must_use]
    #[track_caller]
    pub fn of_failure(self, args: &[&str]) -> String {
        assert!(!self.is_success, "{args:?}: {self:?}");
        self.err
    }
}
