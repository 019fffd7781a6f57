//! What a command said until it ended.

use std::process::Output;

/// What it said, and whether it did what it should.
#[derive(Debug)]
pub struct Said {
    /// Whether it ended well.
    pub is_success: bool,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            is_success: output.status.success(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    /// What it printed, of a command with these arguments that had to succeed.
    ///
    /// # Panics
    /// If it did not.
    #[must_use]
    #[track_caller]
    pub fn of_success(self, args: &[&str]) -> String {
        assert!(self.is_success, "{args:?}: {self:?}");
        self.out
    }

    /// What it said on standard error, of a command with these arguments that had to fail.
    ///
    /// # Panics
    /// If it did not.
    #[must_use]
    #[track_caller]
    pub fn of_failure(self, args: &[&str]) -> String {
        assert!(!self.is_success, "{args:?}: {self:?}");
        self.err
    }
}
