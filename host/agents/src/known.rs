//! Agents that speak ACP by a program of their own: where it is in `PATH`, nothing has to be fetched.

use std::ffi::OsString;

/// An agent, and how its program is told to speak ACP.
#[derive(Debug)]
pub struct Known {
    /// The name under which it is installed, if it has no other.
    pub name: &'static str,
    /// The name of its program.
    pub program: &'static str,
    /// The arguments of the program.
    pub args: &'static [&'static str],
}

/// The known agents, in the order in which they are offered.
const KNOWN: [Known; 10] = [
    known("claude", "claude-agent-acp", &[]),
    known("codex", "codex-acp", &[]),
    known("gemini", "gemini", &["--acp"]),
    known("opencode", "opencode", &["acp"]),
    known("qwen", "qwen", &["--acp"]),
    known("copilot", "copilot", &["--acp"]),
    known("kilo", "kilo", &["acp"]),
    known("cline", "cline", &["--acp"]),
    known("auggie", "auggie", &["--acp"]),
    known("pi", "pi-acp", &[]),
];

const fn known(name: &'static str, program: &'static str, args: &'static [&'static str]) -> Known {
    Known {
        name,
        program,
        args,
    }
}

impl Known {
    /// Its command line, for people.
    pub fn line(&self) -> String {
        let words = [self.program].into_iter().chain(self.args.iter().copied());
        words.collect::<Vec<_>>().join(" ")
    }

    /// The words of its command line.
    pub fn words(&self) -> Vec<OsString> {
        let words = [self.program].into_iter().chain(self.args.iter().copied());
        words.map(OsString::from).collect()
    }
}

/// The known agent with this name, or with a program of this name.
pub(crate) fn named(name: &str) -> Option<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.name == name || known.program == name)
}

/// The known agents whose program is in `PATH`.
pub fn in_path() -> Vec<&'static Known> {
    let all = KNOWN.iter();
    all.filter(|known| which::which(known.program).is_ok())
        .collect()
}
