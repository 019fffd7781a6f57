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

/// Commands that build, test or arrange a project, and print what is in it and in what it depends on.
pub(crate) const BUILDS: &[&str] = &[
    "awk *",
    "basename *",
    "black *",
    "cargo build *",
    "cargo check *",
    "cargo clippy *",
    "cargo doc *",
    "cargo fmt *",
    "cargo nextest *",
    "cargo run *",
    "cargo test *",
    "cc *",
    "chmod *",
    "cmake *",
    "cp *",
    "cut *",
    "date *",
    "diff *",
    "dirname *",
    "dotnet build *",
    "dotnet test *",
    "du *",
    "eslint *",
    "find *",
    "g++ *",
    "gcc *",
    "git add *",
    "git blame *",
    "git branch *",
    "git checkout *",
    "git commit *",
    "git ls-files *",
    "git mv *",
    "git restore *",
    "git rev-parse *",
    "git rm *",
    "git show *",
    "git stash *",
    "git switch *",
    "go build *",
    "go fmt *",
    "go test *",
    "go vet *",
    "gradle *",
    "gradlew *",
    "jest *",
    "jq *",
    "make *",
    "mkdir *",
    "mv *",
    "mvn *",
    "mypy *",
    "ninja *",
    "npm run *",
    "npm test *",
    "npx eslint *",
    "npx jest *",
    "npx prettier *",
    "npx tsc *",
    "npx vitest *",
    "pnpm run *",
    "pnpm test *",
    "prettier *",
    "printf *",
    "pytest *",
    "python -m pytest *",
    "python3 -m pytest *",
    "rm *",
    "rmdir *",
    "ruff *",
    "rustc *",
    "rustfmt *",
    "sed *",
    "seq *",
    "sleep *",
    "sort *",
    "stat *",
    "swift build *",
    "swift test *",
    "tee *",
    "test *",
    "touch *",
    "tr *",
    "tree *",
    "true *",
    "tsc *",
    "uniq *",
    "vitest *",
    "which *",
    "xargs *",
    "yarn run *",
    "yarn test *",
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
    builds: Vec<String>,
    local_tools: Vec<String>,
    private: Vec<String>,
    untrusted: Vec<String>,
    servers: BTreeMap<String, Server>,
    assume_private: AssumePrivate,
    /// Whether results of tools are searched, beside looking for marks of `redact`.
    pub(crate) find_secrets: bool,
    pub(crate) resumed: Resumed,
    least_milliseconds: u64,
}

/// When a command that is not proved local, an unknown tool, or a server that the user has not described, counts as reading
/// private places.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AssumePrivate {
    Always,
    /// In a session with text from outside, which may steer it.
    #[default]
    AfterText,
    Never,
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
            builds: owned(BUILDS),
            local_tools: Vec::new(),
            private: owned(PRIVATE),
            untrusted: Vec::new(),
            servers: BTreeMap::new(),
            assume_private: AssumePrivate::default(),
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
        let mut builds = patterns("builds", &self.builds)?;
        builds.extend(patterns("local", &self.local)?);
        Ok(Judge {
            local: patterns("local", &self.local)?,
            builds,
            local_tools: self.local_tools,
            private: globs("private", &self.private)?,
            untrusted: globs("untrusted", &self.untrusted)?,
            servers: self.servers,
            assume_private: self.assume_private,
        })
    }
}

fn patterns(key: &str, texts: &[String]) -> Result<Vec<Pattern>, String> {
    let patterns = texts.iter().map(|text| Pattern::new(text));
    let read = patterns.collect::<Result<Vec<_>, _>>();
    read.map_err(|wrong| format!("in `{key}`: {wrong}"))
}

fn globs(key: &str, patterns: &[String]) -> Result<Vec<Glob>, String> {
    let all = patterns.iter().map(|pattern| Glob::all(pattern));
    let read = all.collect::<Result<Vec<_>, _>>();
    let globs = read.map_err(|wrong| format!("in `{key}`: {wrong}"))?;
    Ok(globs.into_iter().flatten().collect())
}
