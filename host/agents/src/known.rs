//! Agents that speak ACP by a program of their own: where it is in `PATH`, nothing has to be fetched.

use std::ffi::{OsStr, OsString};
use std::path::Path;

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

/// Whether this is the name of a known agent, or of its program.
pub fn is_known(name: &str) -> bool {
    named(name).is_some()
}

/// What speaks ACP in place of a command that does not: one that launches a known agent without the argument for it, or
/// the program that this agent has for people.
pub fn correction(program: &OsStr, args: &[OsString]) -> Option<String> {
    let name = Path::new(program).file_stem()?.to_str()?;
    let known = named(name)?;
    let is_told = args.iter().any(|arg| arg.to_string_lossy().contains("acp"));
    let (is_own, line) = (known.program == name, known.line());
    if is_told || is_own && known.args.is_empty() {
        None
    } else if is_own {
        Some(format!("`{name}` speaks ACP as `{line}`"))
    } else {
        Some(format!("`{name}` does not speak ACP, and `{line}` does"))
    }
}

/// The known agents whose program is in `PATH`.
pub fn in_path() -> Vec<&'static Known> {
    let all = KNOWN.iter();
    all.filter(|known| which::which(known.program).is_ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_agent_without_acp_is_told_with_what_has_it() {
        for (command, expected) in [
            (
                &["gemini"][..],
                Some("`gemini` speaks ACP as `gemini --acp`"),
            ),
            (
                &["/opt/bin/opencode", "--verbose"],
                Some("`opencode` speaks ACP as `opencode acp`"),
            ),
            (
                &["claude"],
                Some("`claude` does not speak ACP, and `claude-agent-acp` does"),
            ),
            (
                &["codex", "--model", "o3"],
                Some("`codex` does not speak ACP, and `codex-acp` does"),
            ),
            (&["gemini", "--experimental-acp"], None),
            (&["opencode", "acp"], None),
            (&["claude-agent-acp"], None),
            (&["my-agent"], None),
        ] {
            let args: Vec<_> = command[1..].iter().map(OsString::from).collect();
            let told = correction(OsStr::new(command[0]), &args);
            assert_eq!(told.as_deref(), expected, "{command:?}");
        }
    }
}
