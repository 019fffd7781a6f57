//! Which of its rights a process has given up, and why not more.

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
    /// Nothing is given up, for this reason.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "Linux gives up some"))]
    pub(crate) fn kept(why: &str) -> Self {
        Self {
            files: Err(why.to_owned()),
            calls: Err(why.to_owned()),
        }
    }

    /// Why not everything is given up, in words.
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
        match lacks.is_empty() {
            true => f.write_str(
                "opens no file but in what its proxies are given, starts nothing and connects to \
                 nothing",
            ),
            false => write!(f, "still {}", lacks.join(", and ")),
        }
    }
}
