//! The agents whose hooks are known: by their package, with the versions for which their [dialect](crate::Dialect) is
//! written.

use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use semver::{Version, VersionReq};
use serde_json::Value;

use crate::{Dialect, dialect};

/// An agent, and how far its hooks are known.
#[derive(Clone, Copy, Debug)]
pub struct KnownAgent {
    /// Its package, in npm.
    pub package: &'static str,
    /// The packages with its program for one platform, which may be run without that package: their name before the
    /// platform.
    programs: Option<&'static str>,
    /// The beginning of its name in `agentInfo`, in lower case.
    name: &'static str,
    /// The versions of which this row is.
    range: &'static str,
    /// The versions for which the dialect is written.
    versions: &'static str,
    dialect: &'static str,
    /// When its hooks first give a sign of life.
    pub sign: Sign,
    /// The variables by which its user has it start another program than that of its package.
    pub replaced_by: &'static [&'static str],
    /// The program that runs its hooks, if that is of another package, which is installed apart.
    pub runs: Option<RunProgram>,
}

/// A program that runs the hooks of an agent.
#[derive(Clone, Copy, Debug)]
pub struct RunProgram {
    /// Its name, which is looked up in `PATH`.
    pub name: &'static str,
    /// The variable with another name or path.
    pub variable: &'static str,
    /// Its package, in npm.
    pub package: &'static str,
    /// The versions for which the dialect is written.
    versions: &'static str,
}

/// When the hooks of an agent first report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Before a session's set-up is answered: no prompt passes earlier.
    Session,
    /// With the first prompt, before any of the turn's updates.
    Prompt,
    /// Never: no hooks run, and the agent asks before each tool instead.
    Never,
}

pub(crate) const AGENTS: &[KnownAgent] = &[
    KnownAgent {
        package: "@agentclientprotocol/claude-agent-acp",
        programs: None,
        name: "@agentclientprotocol/claude-agent-acp",
        range: "*",
        versions: "0.49.0, 0.101.0",
        dialect: "claude",
        sign: Sign::Session,
        replaced_by: &["CLAUDE_CODE_EXECUTABLE"],
        runs: None,
    },
    KnownAgent {
        package: "@agentclientprotocol/codex-acp",
        programs: None,
        name: "@agentclientprotocol/codex-acp",
        range: ">=1.0.0",
        versions: "2.6.0",
        dialect: "codex",
        sign: Sign::Prompt,
        replaced_by: &["CODEX_PATH"],
        runs: None,
    },
    KnownAgent {
        package: "@zed-industries/codex-acp",
        programs: Some("@zed-industries/codex-acp"),
        name: "codex-acp",
        range: "<1.0.0",
        versions: "0.16.0",
        dialect: "codex-older",
        sign: Sign::Prompt,
        replaced_by: &[],
        runs: None,
    },
    KnownAgent {
        package: "@google/gemini-cli",
        programs: None,
        name: "gemini-cli",
        // Older ones may not know the argument.
        range: ">=0.61.0",
        versions: "0.61.0",
        dialect: "gemini",
        sign: Sign::Never,
        replaced_by: &[],
        runs: None,
    },
    KnownAgent {
        package: "@qwen-code/qwen-code",
        programs: None,
        name: "qwen-code",
        range: "*",
        versions: "0.15.10, 0.24.4",
        dialect: "qwen",
        sign: Sign::Session,
        replaced_by: &[],
        runs: None,
    },
    KnownAgent {
        package: "opencode-ai",
        programs: Some("opencode"),
        name: "opencode",
        range: "*",
        versions: "1.18.33",
        dialect: "opencode",
        sign: Sign::Session,
        replaced_by: &[],
        runs: None,
    },
    KnownAgent {
        package: "@kilocode/cli",
        programs: Some("@kilocode/cli"),
        name: "kilo",
        range: "*",
        versions: "7.7.7",
        dialect: "kilo",
        sign: Sign::Session,
        replaced_by: &["KILO_BIN_PATH"],
        runs: None,
    },
    KnownAgent {
        package: "@github/copilot",
        programs: Some("@github/copilot"),
        name: "copilot",
        range: "*",
        versions: "1.0.102",
        dialect: "copilot",
        sign: Sign::Prompt,
        replaced_by: &[],
        runs: None,
    },
    KnownAgent {
        package: "cline",
        programs: Some("@cline/cli"),
        name: "cline",
        range: "*",
        versions: "3.0.65",
        dialect: "cline",
        sign: Sign::Prompt,
        replaced_by: &["CLINE_BIN_PATH"],
        runs: None,
    },
    KnownAgent {
        package: "@augmentcode/auggie",
        programs: None,
        name: "auggie",
        range: "*",
        versions: "0.36.0",
        dialect: "auggie",
        sign: Sign::Prompt,
        replaced_by: &[],
        runs: None,
    },
    KnownAgent {
        package: "pi-acp",
        programs: None,
        name: "pi-acp",
        range: "*",
        versions: "0.0.34",
        dialect: "pi",
        sign: Sign::Session,
        replaced_by: &[],
        runs: Some(RunProgram {
            name: "pi",
            variable: "PI_ACP_PI_COMMAND",
            package: "@earendil-works/pi-coding-agent",
            versions: "1.5.2",
        }),
    },
];

/// The agent in this package, in this version.
pub fn known(package: &str, version: &Version) -> Option<&'static KnownAgent> {
    AGENTS.iter().find(|agent| {
        let range = VersionReq::parse(agent.range);
        agent.is_in(package) && range.is_ok_and(|range| range.matches(version))
    })
}

/// Whether the rest of a package's name is a platform, as in `linux-x64`, `linuxmusl-arm64`, `windows-x64-baseline`.
fn is_platform(text: &str) -> bool {
    let mut words = text.split('-');
    let system = words.next().unwrap_or_default();
    let machine = words.next().unwrap_or_default();
    matches!(
        system,
        "linux" | "linuxmusl" | "darwin" | "win32" | "windows"
    ) && matches!(machine, "x64" | "arm64")
        && words.all(|word| matches!(word, "baseline" | "musl" | "gnu" | "msvc"))
}

/// An agent whose hooks are known not to be attachable for one run.
#[derive(Clone, Copy, Debug)]
pub struct UnattachedAgent {
    /// Its name, for users.
    pub name: &'static str,
    /// Its programs, and the packages that have them.
    programs: &'static [&'static str],
    /// Why its hooks cannot be attached, for users.
    pub why: &'static str,
}

const UNATTACHED: &[UnattachedAgent] = &[UnattachedAgent {
    name: "fast-agent",
    programs: &["fast-agent", "fast-agent-acp", "fast-agent-mcp"],
    why: "only its agent cards name hooks, so yours would have to be changed, and its subagents would run without them",
}];

/// The agent with this program, or with this package, whose hooks cannot be attached.
#[must_use]
pub fn unattached(program: &str) -> Option<&'static UnattachedAgent> {
    let mut agents = UNATTACHED.iter();
    agents.find(|agent| agent.programs.contains(&program))
}

impl KnownAgent {
    /// Whether a package is its own, or has its program for a platform.
    fn is_in(&self, package: &str) -> bool {
        let platform = self
            .programs
            .and_then(|name| package.strip_prefix(name)?.strip_prefix('-'));
        package == self.package || platform.is_some_and(is_platform)
    }

    /// How its hooks report and are answered.
    pub fn dialect(&self) -> Option<&'static Dialect> {
        dialect(self.dialect)
    }

    /// Whether nothing is reported: the agent asks before each tool instead, in ACP.
    pub fn only_asks(&self) -> bool {
        self.sign == Sign::Never
    }

    /// The versions for which the dialect is written.
    pub fn versions(&self) -> &'static str {
        self.versions
    }

    /// Whether the dialect is written for this version. In others, the hooks may do something else.
    pub fn is_for(&self, version: &Version) -> bool {
        is_among(version, self.versions)
    }

    /// Why an agent is none for which the dialect is written, by its answer to `initialize` (JSON text): it says
    /// another name or version. `None` if it does not, or says nothing of itself.
    #[must_use]
    pub fn unlike(&self, answer: &str) -> Option<String> {
        let result: Value = serde_json::from_str(answer).ok()?;
        let places = ["agentInfo", "info"].map(|member| &result[member]);
        let own = places.into_iter().find(|about| about.is_object())?;
        let [name, version] = ["name", "version"].map(|it| own[it].as_str().unwrap_or_default());
        let is_named = name.is_empty() || name.to_ascii_lowercase().starts_with(self.name);
        // Auggie adds its commit.
        let number = version.split_whitespace().next().unwrap_or_default();
        let said = Version::parse(number).ok();
        let is_tried = said.is_none_or(|number| self.is_for(&number));
        if is_named && is_tried {
            return None;
        }
        let about = quote(&format!("{name} {version}"), MAX_QUOTE);
        let (package, versions) = (self.package, self.versions);
        Some(format!(
            "the agent says that it is `{about}`, and its hooks are tried with {package} {versions} only"
        ))
    }
}

impl RunProgram {
    /// The versions for which the dialect is written.
    pub fn versions(&self) -> &'static str {
        self.versions
    }

    /// Whether the dialect is written for this version.
    pub fn is_for(&self, version: &Version) -> bool {
        is_among(version, self.versions)
    }
}

fn is_among(version: &Version, versions: &str) -> bool {
    let mut versions = versions.split(", ");
    versions.any(|own| Version::parse(own).is_ok_and(|own| own == *version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_a_dialect_and_of_its_versions() {
        for agent in AGENTS {
            let dialect = agent.dialect().unwrap();
            assert_eq!(agent.only_asks(), dialect.events.is_empty(), "{agent:?}");
            for own in agent.versions.split(", ") {
                let version = Version::parse(own).unwrap();
                let found = known(agent.package, &version).unwrap();
                assert_eq!(found.dialect, agent.dialect);
                assert!(found.is_for(&version));
            }
            assert!(!agent.is_for(&Version::new(999, 0, 0)));
            assert_eq!(agent.name, agent.name.to_ascii_lowercase());
        }
        for (package, expected) in [
            ("@cline/cli-linux-x64", Some("cline")),
            ("@github/copilot-linuxmusl-arm64", Some("@github/copilot")),
            ("opencode-windows-x64-baseline", Some("opencode-ai")),
            ("opencode", None),
            ("opencode-linux", None),
            ("opencode-linux-x64-plugin", None),
            ("@github/copilot-language-server", None),
            ("pi-acp-linux-x64", None),
        ] {
            let found = known(package, &Version::new(1, 0, 0));
            assert_eq!(found.map(|agent| agent.package), expected, "{package}");
        }
        assert!(known("somebody-elses", &Version::new(1, 0, 0)).is_none());
    }

    /// As real agents answer.
    #[test]
    fn an_agent_is_confirmed_by_what_it_says_of_itself() {
        let of = |package: &str, version: &str| {
            let version = Version::parse(version).unwrap();
            known(package, &version).unwrap()
        };
        let says = |about: &str| format!(r#"{{"protocolVersion":1,"agentInfo":{about}}}"#);
        let auggie = of("@augmentcode/auggie", "0.36.0");
        let opencode = of("opencode-ai", "1.18.33");
        let copilot = of("@github/copilot", "1.0.102");
        for (agent, answer) in [
            (
                auggie,
                says(
                    r#"{"name":"auggie","title":"Auggie Agent","version":"0.36.0 (commit 7c61e5bb)"}"#,
                ),
            ),
            (opencode, says(r#"{"name":"OpenCode","version":"1.18.33"}"#)),
            (
                copilot,
                says(r#"{"name":"Copilot","title":"Copilot","version":"1.0.102"}"#),
            ),
            // It says nothing, or no number.
            (copilot, says("null")),
            (copilot, says(r#"{"name":"Copilot"}"#)),
            (copilot, says(r#"{"name":"Copilot","version":"nightly"}"#)),
            (copilot, r#"{"protocolVersion":1}"#.to_owned()),
        ] {
            assert_eq!(agent.unlike(&answer), None, "{answer}");
        }
        for (agent, answer, part) in [
            (
                copilot,
                says(r#"{"name":"Copilot","version":"1.0.103"}"#),
                "`Copilot 1.0.103`",
            ),
            (
                opencode,
                says(r#"{"name":"Kilo","version":"1.18.33"}"#),
                "`Kilo 1.18.33`",
            ),
            (
                opencode,
                r#"{"info":{"name":"OpenCode","version":"2.0.0"}}"#.to_owned(),
                "`OpenCode 2.0.0`",
            ),
        ] {
            let why = agent.unlike(&answer).unwrap();
            assert!(
                why.contains(part) && why.contains(agent.versions()),
                "{why}"
            );
        }
    }
}
