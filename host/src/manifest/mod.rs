//! `acp-chain.toml`: which proxies stand in the chain, in which order, with what settings.
//!
//! A manifest that was read is valid in itself: its ids are unique, its paths are absolute, and
//! it has no key that the host does not know. Whether the files are there is found out later.

mod error;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

pub use error::ManifestError;

use crate::native::AgentCommand;
use crate::sandbox::Limits;

/// What a manifest asks for.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// The agent to start when the command line names none.
    pub agent: Option<AgentCommand>,
    /// The proxies, the client's neighbour first.
    pub proxies: Vec<ProxyEntry>,
}

/// One `[[proxy]]`.
#[derive(Clone, Debug)]
pub struct ProxyEntry {
    /// Its name in messages to people, logs and traces.
    pub id: String,
    /// The component file.
    pub path: PathBuf,
    /// The table `[proxy.config]` as JSON text.
    pub config: String,
    /// The defaults, changed by `[proxy.limits]`.
    pub limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    agent: Option<AgentTable>,
    #[serde(default)]
    proxy: Vec<Spanned<ProxyTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentTable {
    command: String,
    #[serde(default)]
    args: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProxyTable {
    id: Spanned<String>,
    path: PathBuf,
    #[serde(default)]
    config: toml::Table,
    #[serde(default)]
    limits: LimitsTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LimitsTable {
    memory_mib: Option<u32>,
    time_ms: Option<u32>,
    init_time_ms: Option<u32>,
    requests: Option<u32>,
    held: Option<u32>,
}

impl Manifest {
    /// Reads a manifest file. Relative paths in it begin at its folder.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let unreadable = |error| ManifestError::unreadable(path, error);
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let path = std::path::absolute(path).map_err(unreadable)?;
        Self::parse(&text, &path)
    }

    /// What is wrong with a proxy, and where that proxy is named.
    #[must_use]
    pub fn about(&self, entry: &ProxyEntry, wrong: &dyn std::fmt::Display) -> String {
        let (manifest, id, path) = (self.path.display(), &entry.id, entry.path.display());
        format!("{manifest}: proxy `{id}` ({path}): {wrong}")
    }

    /// Reads the text of a manifest that lies at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ManifestError> {
        let file: File =
            toml::from_str(text).map_err(|error| ManifestError::syntax(path, text, &error))?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut ids = HashSet::new();
        let mut proxies = Vec::new();
        for entry in file.proxy {
            let span = entry.span();
            let entry = entry.into_inner();
            let wrong = |what: String| ManifestError::at(path, text, entry.id.span().start, what);
            let id = entry.id.get_ref();
            check_id(id).map_err(wrong)?;
            if !ids.insert(id.clone()) {
                return Err(wrong(format!(
                    "two proxies have the id `{id}`; ids are unique"
                )));
            }
            let config = to_json(toml::Value::Table(entry.config)).map_err(|what| {
                ManifestError::at(
                    path,
                    text,
                    span.start,
                    format!("the config of `{id}` {what}"),
                )
            })?;
            proxies.push(ProxyEntry {
                id: id.clone(),
                path: folder.join(&entry.path),
                config: config.to_string(),
                limits: entry.limits.over(Limits::default()),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            agent: file.agent.map(|agent| agent.into_command(folder)),
            proxies,
        })
    }
}

impl AgentTable {
    /// A command with a slash is a path, and begins at the manifest's folder.
    fn into_command(self, folder: &Path) -> AgentCommand {
        AgentCommand {
            program: match self.command.contains('/') {
                true => folder.join(&self.command).into_os_string(),
                false => self.command.into(),
            },
            args: self.args.into_iter().map(OsString::from).collect(),
        }
    }
}

impl LimitsTable {
    fn over(self, limits: Limits) -> Limits {
        let millis = |ms: u32| Duration::from_millis(ms.into());
        Limits {
            memory: self
                .memory_mib
                .map_or(limits.memory, |mib| (mib as usize) << 20),
            time: self.time_ms.map_or(limits.time, millis),
            init_time: self.init_time_ms.map_or(limits.init_time, millis),
            requests: self
                .requests
                .map_or(limits.requests, |count| count as usize),
            held: self.held.map_or(limits.held, |count| count as usize),
            ..limits
        }
    }
}

fn check_id(id: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
        return Err(format!(
            "the id {id:?} is not of 1 to 64 letters, digits, `-`, `_` or `.`"
        ));
    }
    if matches!(id, "client" | "agent") {
        return Err(format!(
            "`{id}` is the name of an end of the chain, and no id for a proxy"
        ));
    }
    Ok(())
}

/// A config table as JSON. Dates become strings.
fn to_json(value: toml::Value) -> Result<serde_json::Value, &'static str> {
    use serde_json::Value as Json;
    Ok(match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(Json::Number)
            .ok_or("has a number that is infinite or not a number, which JSON cannot say")?,
        toml::Value::Array(values) => values.into_iter().map(to_json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => {
            let mut members = serde_json::Map::new();
            for (key, value) in table {
                members.insert(key, to_json(value)?);
            }
            Json::Object(members)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest, String> {
        let read = Manifest::parse(text, Path::new("/project/acp-chain.toml"));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_manifest_gives_the_chain_in_order() {
        let manifest = parse(
            r#"
            [agent]
            command = "bin/agent"
            args = ["acp"]

            [[proxy]]
            id = "one"
            path = "one.wasm"

            [[proxy]]
            id = "two"
            path = "/opt/two.wasm"
            config = { since = 2026-01-02, list = [1, 2.5, "x"] }
            limits = { memory-mib = 512, time-ms = 100 }
            "#,
        )
        .unwrap();
        assert_eq!(manifest.agent.unwrap().program, "/project/bin/agent");
        let [one, two] = &manifest.proxies[..] else {
            panic!("two proxies")
        };
        assert_eq!((&*one.id, &*one.config), ("one", "{}"));
        assert_eq!(one.path, Path::new("/project/one.wasm"));
        assert_eq!(one.limits, Limits::default());
        assert_eq!(two.path, Path::new("/opt/two.wasm"));
        assert_eq!(two.config, r#"{"list":[1,2.5,"x"],"since":"2026-01-02"}"#);
        assert_eq!(two.limits.memory, 512 << 20);
        assert_eq!(two.limits.time, Duration::from_millis(100));
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
        let error = parse("[[proxy]]\nid = \"one\"\npth = \"one.wasm\"\n").unwrap_err();
        assert_eq!(
            error,
            "/project/acp-chain.toml:3:1: unknown key `pth`; did you mean `path`? Known here are \
             `id`, `path`, `config`, `limits`"
        );
        let error = parse("[[proxies]]\nid = \"one\"\n").unwrap_err();
        assert!(
            error.contains(":1:3: unknown key `proxies`; did you mean `proxy`?"),
            "{error}"
        );
        let error = parse("[[proxy]]\nid=\"a\"\npath=\"p\"\nlimits.memory = 3\n").unwrap_err();
        assert!(
            error.contains(":4:8: unknown key `memory`; did you mean `memory-mib`?"),
            "{error}"
        );
    }

    #[test]
    fn other_mistakes_are_told_with_their_place() {
        for (text, expected) in [
            (
                "[[proxy]]\nid = 7\npath = \"p\"\n",
                ":2:6: invalid type: integer `7`, expected a string",
            ),
            ("[[proxy]]\nid = \"a\"\n", ":1:1: missing field `path`"),
            ("[[proxy]\n", ":1:9: "),
            (
                "[[proxy]]\nid=\"a/b\"\npath=\"p\"\n",
                ":2:4: the id \"a/b\" is not of",
            ),
            (
                "[[proxy]]\nid=\"agent\"\npath=\"p\"\n",
                ":2:4: `agent` is the name of an end",
            ),
            (
                "[[proxy]]\nid=\"a\"\npath=\"p\"\n[[proxy]]\nid=\"a\"\npath=\"p\"\n",
                ":5:4: two proxies have the id `a`",
            ),
            (
                "[[proxy]]\nid=\"a\"\npath=\"p\"\nconfig.x = inf\n",
                "the config of `a` has a number",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
        }
    }
}
