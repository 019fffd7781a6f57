//! `acp-chain.toml`: which proxies stand in the chain, in which order, with what settings.
//!
//! A manifest that was read is valid in itself: its ids are unique, its paths are absolute, and
//! it has no key that the host does not know. Whether the files are there is found out later.

mod error;
mod terms;
mod user;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

pub use error::ManifestError;
pub use user::User;

use self::terms::{GrantTable, LimitsTable, OnFailure, read_limits};
use crate::channel::{FailurePolicy, Grant};
use crate::limits::Limits;
use crate::native::AgentCommand;
use crate::sandbox::Directory;

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
    /// What becomes of it when it breaks, unless the component is to decide that.
    pub on_failure: Option<FailurePolicy>,
    /// The defaults, changed by `[proxy.limits]`.
    pub limits: Arc<Limits>,
    /// The defaults, changed by `[proxy.grant]`.
    pub grant: Arc<Grant>,
    /// The directories that it may open.
    pub directories: Arc<[Directory]>,
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
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ProxyTable {
    id: Spanned<String>,
    path: PathBuf,
    #[serde(default)]
    config: toml::Table,
    on_failure: Option<OnFailure>,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    grant: GrantTable,
}

impl Manifest {
    /// Reads a manifest file. Relative paths in it begin at its folder.
    pub fn read(path: &Path, user: &User) -> Result<Self, ManifestError> {
        let unreadable = |error| ManifestError::unreadable(path, error);
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let path = std::path::absolute(path).map_err(unreadable)?;
        Self::parse(&text, &path, user)
    }

    /// What is wrong with a proxy, and where that proxy is named.
    #[must_use]
    pub fn about(&self, entry: &ProxyEntry, wrong: &dyn std::fmt::Display) -> String {
        let (manifest, id, path) = (self.path.display(), &entry.id, entry.path.display());
        format!("{manifest}: proxy `{id}` ({path}): {wrong}")
    }

    /// Reads the text of a manifest that lies at `path`.
    pub fn parse(text: &str, path: &Path, user: &User) -> Result<Self, ManifestError> {
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
            let wrong = |(at, what)| ManifestError::at(path, text, at, what);
            let limits = read_limits(entry.limits, Limits::default(), Some(&user.ceilings));
            let (grant, directories) = entry.grant.read(folder).map_err(wrong)?;
            proxies.push(ProxyEntry {
                id: id.clone(),
                path: folder.join(&entry.path),
                config: config.to_string(),
                on_failure: entry.on_failure.map(FailurePolicy::from),
                limits: limits.map_err(wrong)?.into(),
                grant: grant.into(),
                directories: directories.into(),
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
        let read = Manifest::parse(text, Path::new("/project/acp-chain.toml"), &User::default());
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
            limits = { memory = "512 MiB", time = "100 ms", held = 7 }
            on-failure = "bypass"
            grant.originate = ["session/update"]
            grant.directories = [{ path = "notes", name = "/notes" }]
            "#,
        )
        .unwrap();
        assert_eq!(manifest.agent.unwrap().program, "/project/bin/agent");
        let [one, two] = &manifest.proxies[..] else {
            panic!("two proxies")
        };
        assert_eq!((&*one.id, &*one.config), ("one", "{}"));
        assert_eq!(one.path, Path::new("/project/one.wasm"));
        assert_eq!(*one.limits, Limits::default());
        assert_eq!((&*one.grant, one.on_failure), (&Grant::default(), None));
        assert_eq!(two.path, Path::new("/opt/two.wasm"));
        assert_eq!(two.config, r#"{"list":[1,2.5,"x"],"since":"2026-01-02"}"#);
        assert_eq!(two.limits.memory, 512 << 20);
        assert_eq!(two.limits.time.as_millis(), 100);
        assert_eq!(two.limits.held, 7);
        assert_eq!(two.on_failure, Some(FailurePolicy::Bypass));
        assert!(two.grant.originate.contain("session/update"));
        assert_eq!(two.grant.change, Grant::default().change);
        let [notes] = &*two.directories else {
            panic!("one directory")
        };
        assert_eq!(notes.path, Path::new("/project/notes"));
        assert!(!notes.write);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
        let error = parse("[[proxy]]\nid = \"one\"\npth = \"one.wasm\"\n").unwrap_err();
        assert_eq!(
            error,
            "/project/acp-chain.toml:3:1: unknown key `pth`; did you mean `path`? Known here are \
             `id`, `path`, `config`, `on-failure`, `limits`, `grant`"
        );
        let error = parse("[[proxies]]\nid = \"one\"\n").unwrap_err();
        assert!(
            error.contains(":1:3: unknown key `proxies`; did you mean `proxy`?"),
            "{error}"
        );
        let error = parse("[[proxy]]\nid=\"a\"\npath=\"p\"\nlimits.memroy = 3\n").unwrap_err();
        assert!(
            error.contains(":4:8: unknown key `memroy`; did you mean `memory`?"),
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

    #[test]
    fn terms_that_make_no_sense_are_told_with_their_place() {
        for (line, expected) in [
            (
                "limits.memory = 64",
                ":4:17: `memory`: 64 has no unit; write a number with B",
            ),
            ("limits.memory = \"64 MBs\"", "\"64 MBs\" is no size"),
            ("limits.time = \"-2 s\"", "`time`: \"-2 s\" is no time"),
            (
                "limits.held = -1",
                "`held`: \"-1\" is no number; write a whole number",
            ),
            (
                "limits.held = \"7\"",
                "`held`: \"7\" is a text; write a whole number",
            ),
            (
                "limits.memory = \"2 GiB\"",
                "`memory`: 2 GiB is over the ceiling of 1 GiB; only the user can raise that",
            ),
            (
                "grant.observe = [\"*\", \"a*b\"]",
                ":4:23: `observe`: a `*` stands only at the end",
            ),
            (
                "grant.answer = [\"\"]",
                "`answer`: an empty text names no method",
            ),
            (
                "grant.change = [\"!a\"]",
                "`change`: \"!a\" takes away what nothing before it gives",
            ),
            (
                "grant.originate = [\"$/x\"]",
                "`originate`: $/x is the host's own",
            ),
            (
                "grant.originate = [\"initialize\"]",
                "initialize is the host's own to send",
            ),
            ("grant.write = []", "unknown key `write`; did you mean"),
            (
                "on-failure = \"shrug\"",
                "unknown variant `shrug`, expected one of `restart`",
            ),
            (
                "grant.directories = [{ path = \"a\", name = \"\" }]",
                "needs a name of its own",
            ),
        ] {
            let text = format!("[[proxy]]\nid=\"a\"\npath=\"p\"\n{line}\n");
            let error = parse(&text).unwrap_err();
            assert!(
                error.contains(":4:") && error.contains(expected),
                "{error}\nlacks\n{expected}"
            );
        }
    }
}
