//! The agents whose hooks are known: by their package, with the versions for which their [dialect](crate::Dialect) is
//! written.

use semver::{Version, VersionReq};

use crate::{Dialect, dialect};

/// An agent, and how far its hooks are known.
#[derive(Clone, Copy, Debug)]
pub struct KnownAgent {
    /// Its package, in npm.
    pub package: &'static str,
    /// The versions of which this row is.
    range: &'static str,
    /// The versions for which the dialect is written.
    versions: &'static str,
    dialect: &'static str,
    /// When its hooks first give a sign of life.
    pub sign: Sign,
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
        range: "*",
        versions: "0.49.0, 0.101.0",
        dialect: "claude",
        sign: Sign::Session,
    },
    KnownAgent {
        package: "@agentclientprotocol/codex-acp",
        range: ">=1.0.0",
        versions: "2.6.0",
        dialect: "codex",
        sign: Sign::Prompt,
    },
    KnownAgent {
        package: "@zed-industries/codex-acp",
        range: "<1.0.0",
        versions: "0.16.0",
        dialect: "codex-older",
        sign: Sign::Prompt,
    },
    KnownAgent {
        package: "@google/gemini-cli",
        // Older ones may not know the argument.
        range: ">=0.61.0",
        versions: "0.61.0",
        dialect: "gemini",
        sign: Sign::Never,
    },
    KnownAgent {
        package: "@qwen-code/qwen-code",
        range: "*",
        versions: "0.15.10, 0.24.4",
        dialect: "qwen",
        sign: Sign::Session,
    },
    KnownAgent {
        package: "opencode-ai",
        range: "*",
        versions: "1.18.33",
        dialect: "opencode",
        sign: Sign::Session,
    },
    KnownAgent {
        package: "@kilocode/cli",
        range: "*",
        versions: "7.7.7",
        dialect: "kilo",
        sign: Sign::Session,
    },
    KnownAgent {
        package: "@github/copilot",
        range: "*",
        versions: "1.0.102",
        dialect: "copilot",
        sign: Sign::Prompt,
    },
    KnownAgent {
        package: "cline",
        range: "*",
        versions: "3.0.65",
        dialect: "cline",
        sign: Sign::Prompt,
    },
    KnownAgent {
        package: "@augmentcode/auggie",
        range: "*",
        versions: "0.36.0",
        dialect: "auggie",
        sign: Sign::Prompt,
    },
    KnownAgent {
        package: "pi-acp",
        range: "*",
        versions: "0.0.34",
        dialect: "pi",
        sign: Sign::Session,
    },
];

/// The agent in this package, in this version.
#[must_use]
pub fn known(package: &str, version: &Version) -> Option<&'static KnownAgent> {
    AGENTS.iter().find(|agent| {
        let range = VersionReq::parse(agent.range);
        agent.package == package && range.is_ok_and(|range| range.matches(version))
    })
}

impl KnownAgent {
    /// How its hooks report and are answered.
    #[must_use]
    pub fn dialect(&self) -> Option<&'static Dialect> {
        dialect(self.dialect)
    }

    /// Whether nothing is reported: the agent asks before each tool instead, in ACP.
    #[must_use]
    pub fn only_asks(&self) -> bool {
        self.sign == Sign::Never
    }

    /// The versions for which the dialect is written.
    #[must_use]
    pub fn versions(&self) -> &'static str {
        self.versions
    }

    /// Whether the dialect is written for this version. In others, the hooks may do something else.
    #[must_use]
    pub fn is_for(&self, version: &Version) -> bool {
        let mut versions = self.versions.split(", ");
        versions.any(|own| Version::parse(own).is_ok_and(|own| own == *version))
    }
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
        }
        assert!(known("somebody-elses", &Version::new(1, 0, 0)).is_none());
    }
}
