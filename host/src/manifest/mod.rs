//! `acp-chain.toml`: which proxies stand in the chain, in which order, with what settings.
//!
//! A manifest that was read is valid in itself: its ids are unique, its paths are absolute, and
//! it has no key that the host does not know. Whether the files are there is found out later.

mod error;
mod grant;
mod proxy;
mod terms;
mod user;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

pub use error::ManifestError;
pub use proxy::{ComponentEntry, Make, NativeEntry, ProxyEntry};
pub use user::User;

use self::proxy::{ProxyTable, check_id};
use self::terms::Wrong;
use crate::channel::FailurePolicy;
use crate::mcp::door::Transport;
use crate::native::CommandLine;
use crate::untrusted::Untrusted;

/// What a manifest asks for.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// The agent to start when the command line names none.
    pub agent: Option<CommandLine>,
    /// The proxies, the client's neighbour first.
    pub proxies: Vec<ProxyEntry>,
    /// Whether guards may stand where they are written, in front of other proxies.
    pub as_written: bool,
    /// How the agent gets to MCP servers in the chain, if it can choose.
    pub bridge: Option<Transport>,
}

/// `order`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    AsWritten,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    agent: Option<AgentTable>,
    order: Option<Order>,
    #[serde(default)]
    mcp: McpTable,
    #[serde(default)]
    proxy: Vec<Spanned<ProxyTable>>,
}

/// `[mcp]`, in a manifest and in the user's file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct McpTable {
    bridge: Option<Transport>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentTable {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Environment,
}

/// Variables, by name.
type Environment = BTreeMap<Spanned<String>, String>;

impl Manifest {
    /// Reads a manifest file. Relative paths in it begin at its folder.
    pub fn read(path: &Path, user: &User) -> Result<Self, ManifestError> {
        let unreadable = |error| ManifestError::unreadable(path, error);
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let path = std::path::absolute(path).map_err(unreadable)?;
        Self::parse(&text, &path, user)
    }

    /// The proxies that are programs, in their order.
    pub fn natives(&self) -> impl Iterator<Item = (&ProxyEntry, &NativeEntry)> {
        let entries = self.proxies.iter();
        entries.filter_map(|entry| match &entry.make {
            Make::Native(native) => Some((entry, native)),
            Make::Component(_) => None,
        })
    }

    /// What is wrong with a proxy, and where that proxy is named.
    #[must_use]
    pub fn about(&self, entry: &ProxyEntry, wrong: &dyn std::fmt::Display) -> String {
        let (manifest, id) = (Untrusted::new(self.path.display()), &entry.id);
        let what = match &entry.make {
            Make::Component(component) => component.path.display().to_string(),
            Make::Native(native) => native.command.program.to_string_lossy().into_owned(),
        };
        let what = Untrusted::new(what);
        format!("{manifest}: proxy `{id}` ({what}): {wrong}")
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
            let on_failure = entry.on_failure.map(FailurePolicy::from);
            let id = id.clone();
            let wrong = |(at, what)| ManifestError::at(path, text, at, what);
            let make = entry.read(span.start, folder, user).map_err(wrong)?;
            proxies.push(ProxyEntry {
                id,
                on_failure,
                make,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            agent: file
                .agent
                .map(|agent| command(&agent.command, agent.args, agent.env, folder))
                .transpose()
                .map_err(|(at, what)| ManifestError::at(path, text, at, what))?,
            proxies,
            as_written: matches!(file.order, Some(Order::AsWritten)),
            bridge: file.mcp.bridge,
        })
    }
}

/// A command with a slash is a path, and begins at the manifest's folder.
fn command(
    program: &str,
    args: Vec<String>,
    env: Environment,
    folder: &Path,
) -> Result<CommandLine, Wrong> {
    let is_wrong =
        |name: &&Spanned<String>| name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']);
    if let Some(name) = env.keys().find(is_wrong) {
        let what = format!("{:?} is no name of a variable", name.get_ref());
        return Err((name.span().start, what));
    }
    let env = env.into_iter();
    Ok(CommandLine {
        program: match program.contains(std::path::is_separator) {
            true => folder.join(program).into_os_string(),
            false => program.into(),
        },
        args: args.into_iter().map(OsString::from).collect(),
        env: env
            .map(|(name, value)| (name.into_inner().into(), value.into()))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::native::Dialect;

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
            env = { HOME = "/h" }

            [[proxy]]
            id = "one"
            path = "one.wasm"

            [[proxy]]
            id = "two"
            path = "/opt/two.wasm"
            config = { since = 2026-01-02, list = [1, 2.5, "x"] }
            limits = { memory = "512 MiB", time = "100 ms", held = 7 }
            on-failure = "bypass"
            powers = ["prompts.read", "plans.show"]
            methods = { "_vendor/*" = ["read", "change"] }
            directories = [{ path = "notes", name = "/notes" }]
            "#,
        )
        .unwrap();
        let agent = manifest.agent.unwrap();
        assert_eq!(agent.program, "/project/bin/agent");
        assert_eq!(agent.env, [("HOME".into(), "/h".into())]);
        let [first, second] = &manifest.proxies[..] else {
            panic!("two proxies")
        };
        let (Make::Component(one), Make::Component(two)) = (&first.make, &second.make) else {
            panic!("two components")
        };
        assert_eq!((&*first.id, &*one.config), ("one", "{}"));
        assert_eq!(one.path, Path::new("/project/one.wasm"));
        assert_eq!(*one.limits, Limits::default());
        assert!(one.grant.powers().is_empty() && one.grant.methods().is_empty());
        assert_eq!(first.on_failure, None);
        assert_eq!(two.path, Path::new("/opt/two.wasm"));
        assert_eq!(two.config, r#"{"list":[1,2.5,"x"],"since":"2026-01-02"}"#);
        assert_eq!(two.limits.memory, 512 << 20);
        assert_eq!(two.limits.time.as_millis(), 100);
        assert_eq!(two.limits.held, 7);
        assert_eq!(second.on_failure, Some(FailurePolicy::Bypass));
        assert!(two.grant.has("prompts.read") && two.grant.has("plans.show"));
        let named = &two.grant.methods()[0];
        assert_eq!(named.methods.to_string(), "_vendor/*");
        assert_eq!(named.actions.names(), ["read", "change"]);
        let [notes] = &*two.directories else {
            panic!("one directory")
        };
        assert_eq!(notes.path, Path::new("/project/notes"));
        assert!(!notes.write);
    }

    #[test]
    fn a_proxy_with_a_command_is_a_program() {
        let manifest = parse(
            r#"
            [[proxy]]
            id = "one"
            command = "bin/proxy"
            args = ["--fast"]
            env = { KEY = "value" }
            dialect = "_proxy"
            on-failure = "bypass"
            "#,
        )
        .unwrap();
        let entry = &manifest.proxies[0];
        let Make::Native(native) = &entry.make else {
            panic!("a program")
        };
        assert_eq!(native.command.program, "/project/bin/proxy");
        assert_eq!(native.command.args, ["--fast"]);
        assert_eq!(native.command.env, [("KEY".into(), "value".into())]);
        assert_eq!(native.dialect, Some(Dialect::Underscore));
        assert_eq!(entry.on_failure, Some(FailurePolicy::Bypass));
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
        let error = parse("[[proxy]]\nid = \"one\"\npth = \"one.wasm\"\n").unwrap_err();
        assert_eq!(
            error,
            "/project/acp-chain.toml:3:1: unknown key `pth`; did you mean `path`? Known here are \
             `id`, `path`, `command`, `args`, `env`, `dialect`, `config`, `on-failure`, `limits`, \
             `powers`, `methods`, `directories`, `grant`"
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
            (
                "[[proxy]]\nid = \"a\"\n",
                ":1:1: `a` needs a `path`, if it is a component, or a `command`",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\npath=\"p\"\n",
                ":1:1: `path` is for components; `a` has a `command`",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\npowers=['tools']\n",
                ":1:1: `powers` is for components",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\nlimits.held=1\n",
                ":1:1: `limits` is for components",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\nconfig={}\n",
                ":1:1: `config` is for components",
            ),
            (
                "[[proxy]]\nid=\"a\"\npath=\"p\"\nargs=[]\n",
                ":1:1: `args` is for programs",
            ),
            (
                "[[proxy]]\nid=\"a\"\npath=\"p\"\ndialect=\"proxy\"\n",
                ":1:1: `dialect` is for programs",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\ndialect=\"prxy\"\n",
                "unknown variant `prxy`, expected one of `proxy`, `proxy-meta`, `_proxy`",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\nenv={\"A=B\"=\"\"}\n",
                ":4:6: \"A=B\" is no name of a variable",
            ),
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
                "powers = [\"prompts.read\", \"prompt.change\"]",
                ":4:27: `powers`: there is no power `prompt.change`; did you mean `prompts.change`?",
            ),
            (
                "powers = [\"tools\", \"tools\"]",
                ":4:20: `powers`: the power `tools` is named twice",
            ),
            (
                "powers = [\"session-setup.secrets\"]",
                ":4:11: `powers`: the power `session-setup.secrets` makes no sense without `session-setup.read`",
            ),
            (
                "methods = { \"a*b\" = [\"read\"] }",
                ":4:13: `methods`: a `*` stands only at the end",
            ),
            (
                "methods = { \"_x\" = [\"raed\"] }",
                ":4:21: `methods`: unknown key `raed`; did you mean `read`?",
            ),
            (
                "methods = { \"session/prompt\" = [\"read\"] }",
                "`session/prompt` is of the protocol, and is granted by powers: `prompts.read`",
            ),
            (
                "methods = { \"$/x\" = [\"read\"] }",
                "`methods`: $/x is the host's own",
            ),
            ("methods = { \"*\" = [\"read\"] }", "`*` is the host's own"),
            (
                "grant.observe = [\"session/prompt\"]",
                ":4:1: there is no `grant` any more: write `powers`",
            ),
            (
                "grant = { change = [\"session/prompt\"], originate = [\"fs/*\"], tools = true }",
                "\"files.read\", \"files.write\", \"tools\"",
            ),
            (
                "on-failure = \"shrug\"",
                "unknown variant `shrug`, expected one of `restart`",
            ),
            (
                "directories = [{ path = \"a\", name = \"\" }]",
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
