//! The proxy's table in the manifest. The host has checked it against the schema.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_chain_calls::command::Pattern;
use acp_chain_calls::glob::Glob;
use serde::Deserialize;
use serde_json::Value;

use crate::judge::Judge;

/// The schema of the table, which has the defaults.
const SCHEMA: &str = include_str!("../config.schema.json");

/// What the user may set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    local: Vec<String>,
    builds: Vec<String>,
    local_tools: Vec<String>,
    private: Vec<String>,
    trusted: Vec<String>,
    untrusted: Vec<String>,
    servers: BTreeMap<String, Server>,
    assume_private: AssumePrivate,
    /// Whether results of tools are searched, beside looking for marks of `redact`.
    pub(crate) find_secrets: bool,
    pub(crate) resumed: Resumed,
    least_milliseconds: u64,
}

/// When a command that is not proved local, an unknown tool, or a server that the user has not described, counts as
/// reading private places.
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
        let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        let texts = |key: &str| -> Vec<String> {
            let default = schema["properties"][key]["default"].clone();
            serde_json::from_value(default).expect("the schema has the defaults")
        };
        Self {
            local: texts("local"),
            builds: texts("builds"),
            local_tools: Vec::new(),
            private: texts("private"),
            trusted: Vec::new(),
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
            git: patterns("local", &["git *".to_owned()])?,
            local_tools: self.local_tools,
            private: globs("private", &self.private)?,
            trusted: globs("trusted", &self.trusted)?,
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
