//! The manifest of a project, which is part of a repository: it is not trusted.
//!
//! It names the components in the chain, and the powers that each asks for. Only the user may set keys that start
//! programs, or that affect other proxies: in a project they are errors that say where to set them. All paths are
//! within the project. A [`Draft`] has been checked for that, by its text alone.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use toml::de::{DeTable, DeValue};

use super::error::unknown_key;
use super::proxy::ProxyTable;
use super::terms::Wrong;
use super::{Context, File, Manifest, ManifestError, User};
use acp_chain_extension::{Installed, Lock};

/// The maximum number of proxies in a project.
const MOST: usize = 64;

/// Keys that only the user may set, each with the place to set it.
const USERS: &[(&str, &str)] = &[
    (
        "agent",
        "the agent is set by the command line that starts acp-chain",
    ),
    ("mcp", "`mcp` is set in your config.toml"),
    ("native", "native proxies are allowed in your config.toml"),
    ("ceilings", "ceilings are set in your config.toml"),
    ("receipts", "receipts are set in your config.toml"),
    ("registries", "no file of acp-chain sets registries"),
    ("trust", "trusted signers are set in your config.toml"),
    (
        "keys",
        "trusted signers are set by `[trust]` in your config.toml",
    ),
    (
        "signers",
        "trusted signers are set by `[trust]` in your config.toml",
    ),
    ("agents", "`agents` is set in your config.toml"),
    ("trace", "the trace is set in your config.toml"),
    ("live", "`live` is set in your config.toml"),
    ("serve", "`serve` is set in your config.toml"),
    (
        "require-signature",
        "`require-signature` is set in your config.toml",
    ),
    ("revocations", "revocations are set in your config.toml"),
    (
        "updates",
        "the channel of releases is set in your config.toml",
    ),
];

/// The keys of a project; of `agent`, only the mode of hooks.
const KEYS: &[&str] = &["agent", "order", "proxy"];

/// Keys that only native proxies have.
const PROGRAMS: &[&str] = &["command", "args", "env", "dialect"];

/// The parsed manifest of a project. Its components have not been read.
#[derive(Clone, Debug)]
pub struct Draft {
    path: PathBuf,
    text: String,
    file: File,
    /// The proxies, the client's neighbour first.
    pub proxies: Vec<Drafted>,
}

/// A proxy of a [`Draft`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drafted {
    /// Its id.
    pub id: String,
    /// The source of the component.
    pub from: From,
    /// The byte in the text at which its table begins.
    start: usize,
}

/// The source of a proxy's component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// An extension of this name.
    Extension(String),
    /// A file in the project. The path is relative to the root.
    Path(PathBuf),
}

impl Draft {
    /// Parses the text of the manifest at `path`, in the root of its project.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ManifestError> {
        let wrong = |(at, what): Wrong| ManifestError::at(path, text, at, what);
        let syntax = |error| ManifestError::syntax(path, text, &error);
        let table = DeTable::parse(text).map_err(syntax)?;
        check_keys(table.get_ref()).map_err(wrong)?;
        let file: File = super::parse(text, path)?;
        if let Some(one) = file.proxy.get(MOST) {
            let what = format!("a project has no more than {MOST} proxies");
            return Err(wrong((one.span().start, what)));
        }
        let mut ids = HashSet::new();
        let mut proxies = Vec::new();
        for table in &file.proxy {
            let start = table.span().start;
            let drafted = drafted(table.get_ref(), start).map_err(wrong)?;
            if !ids.insert(drafted.id.clone()) {
                let what = format!("two proxies have the id `{}`; ids are unique", drafted.id);
                return Err(wrong((start, what)));
            }
            proxies.push(drafted);
        }
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            file,
            proxies,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error about a proxy, at the place of its table.
    pub fn wrong(&self, proxy: &Drafted, what: String) -> ManifestError {
        ManifestError::at(&self.path, &self.text, proxy.start, what)
    }

    /// The manifest, with this lock and these components. The components are by the ids of their proxies.
    pub fn manifest(
        self,
        lock: Lock,
        components: &BTreeMap<String, Bytes>,
        user: &User,
        installed: &Installed,
    ) -> Result<Manifest, ManifestError> {
        let context = Context {
            project: Some(components),
            lock: Ok(lock).into(),
            ..Context::new(&self.path, &self.text, user, installed)
        };
        context.manifest(self.file)
    }
}

/// An error about the first key that only the user may set, or that is unknown, if there is one.
fn check_keys(table: &DeTable) -> Result<(), Wrong> {
    let mut wrong = Vec::new();
    for (key, value) in table {
        let name = &**key.get_ref();
        let users = USERS.iter().find(|(users, _)| *users == name);
        if let Some((_, instead)) = users.filter(|_| !is_mode_of_hooks(name, value.get_ref())) {
            let what = format!("a project cannot set `{name}`: {instead}");
            wrong.push((key.span().start, what));
        } else if !KEYS.contains(&name) {
            wrong.push((key.span().start, unknown_key(name, KEYS)));
        }
        let proxies = value.get_ref().as_array().filter(|_| name == "proxy");
        let proxies = proxies.into_iter().flatten();
        let keys = proxies.filter_map(|proxy| proxy.get_ref().as_table());
        for (key, _) in keys.flatten() {
            let name = &**key.get_ref();
            if PROGRAMS.contains(&name) {
                let what = format!(
                    "a project starts no programs, so its proxies have no `{name}`; name programs in your \
                     config.toml, or in a manifest for `--manifest`"
                );
                wrong.push((key.span().start, what));
            }
        }
    }
    wrong.into_iter().min().map_or(Ok(()), Err)
}

/// Whether a key is `[agent]` with nothing but the mode of hooks, which a project may make stricter.
fn is_mode_of_hooks(name: &str, value: &DeValue) -> bool {
    let keys = value.as_table().filter(|_| name == "agent");
    keys.is_some_and(|keys| !keys.is_empty() && keys.keys().all(|key| key.get_ref() == "hooks"))
}

fn drafted(table: &ProxyTable, start: usize) -> Result<Drafted, Wrong> {
    let id = table.id(start)?.into_inner();
    for directory in table.directories.iter().flatten() {
        let what = within(&directory.path).map_err(|wrong| (directory.name.span().start, wrong));
        what.map(drop)?;
    }
    let from = match (&table.r#use, &table.path) {
        (Some(name), None) => From::Extension(name.get_ref().clone()),
        (None, Some(path)) => From::Path(within(path).map_err(|wrong| (start, wrong))?),
        _ => {
            let what = format!(
                "`{id}` needs either a `use`, if it is an extension, or a `path`, if it is a component of the \
                 project"
            );
            return Err((start, what));
        }
    };
    Ok(Drafted { id, from, start })
}

/// Checks a path relative to the root of the project: an error if it leads out.
fn within(path: &Path) -> Result<PathBuf, String> {
    let mut steps = path.components();
    if path.starts_with("~") {
        return Err(format!(
            "`{}` is in somebody's home, and so out of the project; its paths are relative to its root. What is in your \
             home is named in your config.toml, or in a manifest for `--manifest`",
            path.display()
        ));
    }
    let stays = steps.all(|step| matches!(step, Component::Normal(_) | Component::CurDir));
    if stays && !path.as_os_str().is_empty() {
        Ok(path.to_owned())
    } else {
        Err(format!(
            "`{}` leads out of the project; its paths are relative to its root, without `..`",
            path.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HooksMode;

    fn parse(text: &str) -> Result<Draft, String> {
        let draft = Draft::parse(text, Path::new("/project/acp-chain.toml"));
        draft.map_err(|error| error.to_string())
    }

    #[test]
    fn a_project_names_components_and_extensions() {
        let draft = parse(
            "order = \"as-written\"\n[[proxy]]\nuse = \"rules\"\nconfig.limit = 7\n\
             [[proxy]]\nid = \"own\"\npath = \"./tools/own.wasm\"\npowers = [\"prompts.read\"]\n\
             directories = [{ path = \"notes\", name = \"/notes\" }]\n",
        );
        let from = draft
            .unwrap()
            .proxies
            .into_iter()
            .map(|one| (one.id, one.from));
        let from: Vec<_> = from.collect();
        assert_eq!(
            from,
            [
                ("rules".to_owned(), From::Extension("rules".to_owned())),
                ("own".to_owned(), From::Path("./tools/own.wasm".into())),
            ]
        );
    }

    #[test]
    fn a_project_may_require_hooks() {
        let draft = parse("[agent]\nhooks = \"required\"\n").unwrap();
        let (user, installed) = (User::default(), Installed::default());
        let manifest = draft.manifest(Lock::default(), &BTreeMap::new(), &user, &installed);
        assert_eq!(manifest.unwrap().hooks, Some(HooksMode::Required));
    }

    #[test]
    fn a_key_of_the_user_is_an_error_with_its_place() {
        for (text, expected) in [
            (
                "[agent]\ncommand = \"sh\"\n",
                ":1:2: a project cannot set `agent`: the agent is set by the command line that starts acp-chain",
            ),
            (
                "[agent]\nhooks = \"required\"\nargs = []\n",
                ":1:2: a project cannot set `agent`",
            ),
            ("[agent]\n", ":1:2: a project cannot set `agent`"),
            (
                "agent.env.PATH = \"/tmp\"\n",
                ":1:1: a project cannot set `agent`",
            ),
            (
                "[mcp]\nbridge = \"http\"\n",
                ":1:2: a project cannot set `mcp`",
            ),
            ("native = true\n", ":1:1: a project cannot set `native`"),
            (
                "[ceilings]\nmemory = \"9 GiB\"\n",
                ":1:2: a project cannot set `ceilings`",
            ),
            (
                "[registries]\nx = \"y\"\n",
                ":1:2: a project cannot set `registries`",
            ),
            ("[trust]\n", ":1:2: a project cannot set `trust`"),
            (
                "trace = \"t.jsonl\"\n",
                ":1:1: a project cannot set `trace`",
            ),
            ("[serve]\n", ":1:2: a project cannot set `serve`"),
            ("keys = []\n", ":1:1: a project cannot set `keys`"),
            (
                "require-signature = false\n",
                ":1:1: a project cannot set `require-signature`",
            ),
            (
                "[revocations]\n",
                ":1:2: a project cannot set `revocations`",
            ),
            ("[updates]\n", ":1:2: a project cannot set `updates`"),
            (
                "[[proxy]]\nid = \"a\"\ncommand = \"sh\"\n",
                ":3:1: a project starts no programs, so its proxies have no `command`",
            ),
            (
                "proxy = [{ use = \"a\", env = { PATH = \"/tmp\" } }]\n",
                ":1:23: a project starts no programs, so its proxies have no `env`",
            ),
            (
                "[[proxy]]\nid = \"a\"\npath = \"../a.wasm\"\n",
                ":1:1: `../a.wasm` leads out of the project",
            ),
            (
                "[[proxy]]\nid = \"a\"\npath = \"/a.wasm\"\n",
                ":1:1: `/a.wasm` leads out of the project",
            ),
            (
                "[[proxy]]\nid = \"a\"\npath = \"~/a.wasm\"\n",
                ":1:1: `~/a.wasm` is in somebody's home, and so out of the project",
            ),
            (
                "[[proxy]]\nuse = \"a\"\ndirectories = [{ name = \"/n\", path = \"~/n\" }]\n",
                ":3:25: `~/n` is in somebody's home",
            ),
            (
                "[[proxy]]\nuse = \"a\"\ndirectories = [{ name = \"/n\", path = \"n/../..\" }]\n",
                ":3:25: `n/../..` leads out of the project",
            ),
            ("[[proxy]]\nid = \"a\"\n", ":1:1: `a` needs either a `use`"),
            (
                "[[proxy]]\nuse = \"a\"\npath = \"a\"\n",
                ":1:1: `a` needs either a `use`",
            ),
            (
                "[[proxy]]\nuse = \"a\"\n[[proxy]]\nuse = \"a\"\n",
                ":3:1: two proxies have the id `a`",
            ),
            (
                "[[proxies]]\n",
                ":1:3: unknown key `proxies`; did you mean `proxy`? Known here are `agent`, `order`, `proxy`",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
        }
    }

    #[test]
    fn too_many_proxies_are_an_error() {
        let entry = |number| format!("[[proxy]]\nid = \"p{number}\"\nuse = \"a\"\n");
        let text: String = (0..=MOST).map(entry).collect();
        let error = parse(&text).unwrap_err();
        assert!(
            error.contains(":193:1: a project has no more than 64 proxies"),
            "{error}"
        );
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        let deep = 300_000;
        for text in [
            format!("x = {}", "[".repeat(deep)),
            format!("x = {}", "{a=".repeat(deep)),
            format!("x{} = 1", ".x".repeat(deep)),
            format!("[x{}]", ".x".repeat(deep)),
            format!("[[proxy]]\nuse = \"a\"\nconfig{} = 1", ".x".repeat(deep)),
        ] {
            assert!(parse(&text).is_err());
        }
    }
}
