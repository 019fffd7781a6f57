//! The proxy's table in the manifest. The host has checked it against the schema.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_chain_calls::command::Pattern;
use acp_chain_calls::glob::Glob;
use serde::Deserialize;

use crate::judge::Judge;

/// Commands that only read, and show what is in the project.
pub(crate) const LOCAL: &[&str] = &[
    "cat *",
    "cd *",
    "echo *",
    "git diff *",
    "git log *",
    "git status *",
    "grep *",
    "head *",
    "ls *",
    "pwd",
    "rg *",
    "tail *",
    "wc *",
];

/// Where programs keep secrets.
pub(crate) const PRIVATE: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "**/.ssh/**",
    "**/.gnupg/**",
    "**/.aws/**",
    "**/.azure/**",
    "**/.kube/**",
    "**/.docker/**",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.git-credentials",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/id_rsa",
    "**/id_ed25519",
];

/// What the user may set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    local: Vec<String>,
    local_tools: Vec<String>,
    private: Vec<String>,
    untrusted: Vec<String>,
    servers: BTreeMap<String, Server>,
    assume_private: bool,
    /// Whether results of tools are searched, beside looking for marks of `redact`.
    pub(crate) find_secrets: bool,
    pub(crate) resumed: Resumed,
    least_milliseconds: u64,
}

/// What the user says of an MCP server.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Server {
    pub(crate) trusted: bool,
    pub(crate) local: bool,
    pub(crate) private: bool,
}

/// Which labels a session has whose history is not replayed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Resumed {
    /// It may have gone on without this proxy.
    #[default]
    Unknown,
    AsStored,
}

impl Default for Config {
    fn default() -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            local: owned(LOCAL),
            local_tools: Vec::new(),
            private: owned(PRIVATE),
            untrusted: Vec::new(),
            servers: BTreeMap::new(),
            assume_private: false,
            find_secrets: true,
            resumed: Resumed::default(),
            least_milliseconds: 400,
        }
    }
}

impl Config {
    /// How long a person takes to answer at least.
    pub(crate) fn least_time(&self) -> Duration {
        Duration::from_millis(self.least_milliseconds)
    }

    pub(crate) fn judge(self) -> Result<Judge, String> {
        let patterns = self.local.iter().map(|text| Pattern::new(text));
        let local = patterns.collect::<Result<Vec<_>, _>>();
        Ok(Judge {
            local: local.map_err(|wrong| format!("in `local`: {wrong}"))?,
            local_tools: self.local_tools,
            private: globs("private", &self.private)?,
            untrusted: globs("untrusted", &self.untrusted)?,
            servers: self.servers,
            assume_private: self.assume_private,
        })
    }
}

fn globs(key: &str, patterns: &[String]) -> Result<Vec<Glob>, String> {
    let all = patterns.iter().map(|pattern| Glob::all(pattern));
    let read = all.collect::<Result<Vec<_>, _>>();
    let globs = read.map_err(|wrong| format!("in `{key}`: {wrong}"))?;
    Ok(globs.into_iter().flatten().collect())
}
