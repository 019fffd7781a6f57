//! Which rights a process has given up, and why it keeps others.

use std::fmt;

/// The restrictions in force, or why one is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Opening files.
    pub files: Result<(), String>,
    /// Starting programs, connecting, and reaching other processes.
    pub calls: Result<(), String>,
}

impl Rights {
    /// No right is given up, for this reason.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "Linux gives up some"))]
    pub(crate) fn kept(why: &str) -> Self {
        Self {
            files: Err(why.to_owned()),
            calls: Err(why.to_owned()),
        }
    }

    /// The rights that were not given up, with reasons.
    pub fn lacks(&self) -> impl Iterator<Item = String> {
        let files = self.files.as_ref().err();
        let files = files.map(|why| format!("may open any file of yours ({why})"));
        let calls = self.calls.as_ref().err();
        let calls = calls.map(|why| format!("may start programs and connect ({why})"));
        files.into_iter().chain(calls)
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let lacks: Vec<_> = self.lacks().collect();
        if lacks.is_empty() {
            f.write_str(
                "opens only files in the directories of its proxies, starts no programs and connects to \
                 nothing",
            )
        } else {
            write!(f, "still {}", lacks.join(", and "))
        }
    }
}
