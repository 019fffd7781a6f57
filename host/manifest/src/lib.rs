//! `acp-chain.toml`: the proxies in the chain, their order and their settings.
//!
//! A parsed manifest is consistent: its ids are unique, its paths are absolute, and it has no unknown keys. Whether the
//! files exist is checked later.

#![forbid(unsafe_code)]

mod agent;
mod edit;
mod error;
mod extension;
mod grant;
mod origin;
mod project;
mod proxy;
mod receipts;
pub mod serve;
mod terms;
mod user;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use acp_chain_disk as disk;
use acp_chain_package::{PackageError, Project};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use agent::{HooksMode, Remote};
pub use edit::Edit;
pub use error::ManifestError;
pub use extension::check_asks;
pub use origin::Origin;
pub use project::{Draft, Drafted, From};
pub use proxy::{ComponentEntry, NativeEntry, ProxyEntry, ProxyKind};
pub use receipts::{OnReceiptsFailure, ReceiptsEntry};
pub use user::{
    Revocations, TrustedSigner, UntrustedPolicy, Updates, User, beside, located, written,
};

use self::agent::AgentTable;
use self::proxy::ProxyTable;
use self::terms::Wrong;
use self::user::placed;
use acp_chain_channel::limits::MANIFEST;
use acp_chain_extension::installed::Found;
use acp_chain_extension::{Installed, Location, Lock, LockError};
use acp_chain_mcp::reach::Reach;
use acp_chain_router::native::CommandLine;
use acp_chain_rpc::untrusted::Untrusted;

/// A parsed manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// The agent to start if the command line has none.
    pub agent: Option<CommandLine>,
    /// The proxies, the client's neighbour first.
    pub proxies: Vec<ProxyEntry>,
    /// The position of guards in the chain.
    pub order: Order,
    /// How the agent reaches MCP servers in the chain, where there is a choice.
    pub reach: Reach,
    /// Whether the agent's hooks are attached.
    pub hooks: Option<HooksMode>,
    /// The log of what is decided, if the manifest names one.
    pub receipts: Option<ReceiptsEntry>,
}

/// A proxy of a manifest that was read independently of the others.
#[derive(Debug)]
pub struct Single {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The extension that it uses, if any.
    pub uses: Option<String>,
    /// The proxy, or its error.
    pub read: Result<ProxyEntry, ManifestError>,
}

/// `order`: the position of guards in the chain.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Next to the agent, behind all other proxies. Guards, and other proxies, keep their order.
    #[default]
    #[serde(skip)]
    GuardsLast,
    /// As written, even in front of other proxies.
    AsWritten,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    agent: Option<Spanned<AgentTable>>,
    order: Option<Order>,
    mcp: Reach,
    receipts: Option<ReceiptsEntry>,
    proxy: Vec<Spanned<ProxyTable>>,
}

/// What the tables of a manifest are read with: its file, the user's settings, and the installed extensions.
struct Context<'a> {
    path: &'a Path,
    text: &'a str,
    user: &'a User,
    installed: &'a Installed,
    /// The lock beside the file, read on first use.
    lock: OnceCell<Result<Lock, LockError>>,
    /// The components of a project, by the ids of their proxies; `None` outside a project.
    project: Option<&'a BTreeMap<String, Bytes>>,
    /// Whether components in files are treated as installed extensions, with all the powers that they ask for.
    is_test: bool,
}

/// Environment variables, by name.
type Environment = BTreeMap<Spanned<String>, String>;

impl Manifest {
    /// The chain of a manifest file, or without one the user's own.
    pub fn of(
        path: Option<&Path>,
        user: &User,
        installed: &Installed,
    ) -> Result<Self, ManifestError> {
        match path {
            Some(path) => Self::read(path, user, installed),
            None => Self::of_user(user, installed),
        }
    }

    /// Reads a manifest file. Its paths are relative to its folder.
    pub fn read(path: &Path, user: &User, installed: &Installed) -> Result<Self, ManifestError> {
        let (path, text) = named(path)?;
        Self::parse(&text, &path, user, installed)
    }

    /// The chain of a test at `path`. Components in files are treated as installed extensions, with all the powers that
    /// they ask for; their default id is the name in the package, or that of the file. `component` replaces the first
    /// component in a file; without any proxy, it is the only one.
    pub fn of_test(
        text: &str,
        path: &Path,
        component: Option<&Path>,
        user: &User,
        installed: &Installed,
    ) -> Result<Self, ManifestError> {
        let mut file: File = parse(text, path)?;
        let mut context = Context::new(path, text, user, installed);
        context.is_test = true;
        if file.proxy.is_empty() && component.is_some() {
            file.proxy.push(Spanned::new(0..0, ProxyTable::default()));
        }
        let mut tables = file.proxy.iter_mut().map(Spanned::get_mut);
        if let Some(component) = component
            && let Some(first) = tables.find(|table| table.path.is_some() || table.is_empty())
        {
            first.path = Some(component.to_owned());
        }
        for table in file.proxy.iter_mut().map(Spanned::get_mut) {
            table.name_by_file(context.folder());
        }
        context.manifest(file)
    }

    /// The user's own chain, in `config.toml`.
    pub fn of_user(user: &User, installed: &Installed) -> Result<Self, ManifestError> {
        let own = &user.own;
        let context = Context::new(&own.path, &own.text, user, installed);
        Ok(Self {
            path: own.path.clone(),
            agent: None,
            proxies: context.proxies(own.proxies.clone())?,
            order: own.order.unwrap_or_default(),
            reach: Reach::default(),
            hooks: None,
            receipts: None,
        })
    }

    /// Reads the proxies of a manifest file independently, to report all errors.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a manifest.
    pub fn each(
        path: &Path,
        user: &User,
        installed: &Installed,
    ) -> Result<Vec<Single>, ManifestError> {
        let (path, text) = named(path)?;
        let file: File = parse(&text, &path)?;
        Ok(Context::new(&path, &text, user, installed).each(file.proxy))
    }

    /// Reads the proxies of the user's own chain independently, to report all errors.
    pub fn each_of_user(user: &User, installed: &Installed) -> Vec<Single> {
        let own = &user.own;
        Context::new(&own.path, &own.text, user, installed).each(own.proxies.clone())
    }

    /// Appends extensions, in order. Returns those that the chain has already, which are not added. The lock is that of
    /// the user's own chain.
    pub fn add(
        &mut self,
        names: &[String],
        user: &User,
        installed: &Installed,
    ) -> Result<Vec<String>, String> {
        let context = Context::new(&user.own.path, "", user, installed);
        let mut present = Vec::new();
        for name in names {
            let wrong = |(_, wrong): Wrong| format!("--with {name}: {wrong}");
            let is_wasm = Path::new(name).extension().is_some_and(|end| end == "wasm");
            if is_wasm || name.contains('/') {
                let what = format!(
                    "this is not the name of an extension: `acp-chain add {name}` installs one, from a file, a URL or a registry"
                );
                return Err(wrong((0, what)));
            }
            let added = ProxyTable::of_extension(name).read(0, &context);
            let added = added.map_err(wrong)?;
            match self.proxies.iter().find(|entry| entry.id == *name) {
                Some(entry) if entry.is_same_extension(&added) => present.push(name.clone()),
                Some(_) => {
                    let what = "the chain has another proxy of that id; change its `id`, or leave this one out";
                    return Err(wrong((0, what.to_owned())));
                }
                None => self.proxies.push(added),
            }
        }
        Ok(present)
    }

    /// The native proxies, in order.
    pub fn natives(&self) -> impl Iterator<Item = (&ProxyEntry, &NativeEntry)> {
        let entries = self.proxies.iter();
        entries.filter_map(|entry| match &entry.kind {
            ProxyKind::Native(native) => Some((entry, native)),
            ProxyKind::Component(_) => None,
        })
    }

    /// An error if a guard lacks powers, and its `on-failure` is not `bypass`.
    pub fn check_guards(&self) -> Result<(), String> {
        let mut unable = self.proxies.iter().filter_map(|entry| {
            let why = entry.check_guard().err()?;
            Some(self.about(entry, &why))
        });
        unable.next().map_or(Ok(()), Err)
    }

    /// An error about a proxy, with the manifest, the id, and the component or program.
    pub fn about(&self, entry: &ProxyEntry, wrong: &dyn std::fmt::Display) -> String {
        let (manifest, id) = (Untrusted::new(self.path.display()), &entry.id);
        let (what, next) = match &entry.kind {
            ProxyKind::Component(component) => (
                component.location.to_string(),
                unbuilt(&component.location).unwrap_or_default(),
            ),
            ProxyKind::Native(native) => {
                let program = native.command.program.to_string_lossy();
                (program.into_owned(), String::new())
            }
        };
        let what = Untrusted::new(what);
        format!("{manifest}: proxy `{id}` ({what}): {wrong}{next}")
    }

    /// Parses the text of a manifest at `path`.
    pub fn parse(
        text: &str,
        path: &Path,
        user: &User,
        installed: &Installed,
    ) -> Result<Self, ManifestError> {
        let file = parse(text, path)?;
        Context::new(path, text, user, installed).manifest(file)
    }
}

impl<'a> Context<'a> {
    fn new(path: &'a Path, text: &'a str, user: &'a User, installed: &'a Installed) -> Self {
        Self {
            path,
            text,
            user,
            installed,
            lock: OnceCell::new(),
            project: None,
            is_test: false,
        }
    }

    /// The folder that paths are relative to.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    fn manifest(&self, file: File) -> Result<Manifest, ManifestError> {
        let proxies = self.proxies(file.proxy)?;
        let hooks = file.agent.as_ref().and_then(|agent| agent.get_ref().hooks);
        let agent = file.agent.map(|agent| {
            let start = agent.span().start;
            agent.into_inner().read(start, self.folder())
        });
        let agent = agent.transpose().map_err(|wrong| self.error(wrong))?;
        Ok(Manifest {
            path: self.path.to_owned(),
            agent: agent.flatten(),
            proxies,
            order: file.order.unwrap_or_default(),
            reach: file.mcp,
            hooks,
            receipts: file.receipts.map(|entry| entry.beside(self.path)),
        })
    }

    fn error(&self, (at, what): Wrong) -> ManifestError {
        ManifestError::at(self.path, self.text, at, what)
    }

    fn proxies(&self, tables: Vec<Spanned<ProxyTable>>) -> Result<Vec<ProxyEntry>, ManifestError> {
        let mut ids = HashSet::new();
        let mut proxies = Vec::new();
        for table in tables {
            let start = table.span().start;
            let table = table.into_inner();
            let id = table.id(start).map_err(|wrong| self.error(wrong))?;
            if !ids.insert(id.get_ref().clone()) {
                let id_at = id.span().start;
                let what = format!("two proxies have the id `{}`; ids are unique", id.get_ref());
                return Err(self.error((id_at, what)));
            }
            let proxy = table.read(start, self);
            proxies.push(proxy.map_err(|wrong| self.error(wrong))?);
        }
        Ok(proxies)
    }

    fn each(&self, tables: Vec<Spanned<ProxyTable>>) -> Vec<Single> {
        let each = tables.into_iter().map(|table| {
            let start = table.span().start;
            let table = table.into_inner();
            Single {
                id: table.id(start).ok().map(Spanned::into_inner),
                uses: table.r#use.as_ref().map(|name| name.get_ref().clone()),
                read: table.read(start, self).map_err(|wrong| self.error(wrong)),
            }
        });
        each.collect()
    }

    /// Resolves an extension by its name.
    fn extension(&self, name: &str) -> Result<Found, String> {
        // Without a home folder there is no file, and so no lock.
        let lock = self.lock.get_or_init(|| {
            if self.path.is_absolute() {
                Lock::read(&Lock::beside(self.path))
            } else {
                Ok(Lock::default())
            }
        });
        let lock = lock.as_ref().map_err(ToString::to_string)?;
        let found = self.installed.find(name, lock);
        let mut found = found.map_err(|error| error.to_string())?;
        if let Some(release) = &mut found.locked
            && self.project.is_some()
        {
            // The project's author wrote its lock, so it cannot grant powers that the component does not ask for.
            extension::keep_asked(release, &found.package.asks);
        }
        Ok(found)
    }

    /// In a test, the component in a file as an installed extension; `None` outside tests, or if it has no package. It
    /// then has the powers of its entry.
    fn as_extension(&self, path: &Path) -> Result<Option<Found>, String> {
        if !self.is_test {
            return Ok(None);
        }
        let location = Location::File(placed(self.folder(), path));
        match location.package() {
            Ok(package) => Ok(Some(Found {
                location,
                package,
                locked: None,
            })),
            Err(PackageError::NoSection) => Ok(None),
            Err(error) => Err(format!("{location}: {error}")),
        }
    }

    /// The location of the component at a path. An error if it must not run; the components of a project are checked by
    /// those who read them.
    fn component(&self, id: &str, path: &Path) -> Result<Location, String> {
        let path = placed(self.folder(), path);
        if let Some(component) = self.project.and_then(|components| components.get(id)) {
            return Ok(Location::Read(path, component.clone()));
        }
        let revoked = self.installed.revoked.check_file(&path);
        revoked.map_err(|revocation| format!("`{id}`: {revocation}"))?;
        Ok(Location::File(path))
    }

    /// Whether the manifest is that of a project.
    fn is_project(&self) -> bool {
        self.project.is_some()
    }

    /// The byte at which a value begins in the configuration of the proxy whose table begins at `start`.
    fn place_of_config(&self, start: usize, pointer: &str) -> Option<usize> {
        let file = DeTable::parse(self.text).ok()?.into_inner();
        let proxies = file.get("proxy")?.get_ref().as_array()?;
        let proxy = proxies.iter().find(|proxy| proxy.span().start == start)?;
        let mut found = proxy.get_ref().as_table()?.get("config")?;
        let mut at = found.span().start;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match found.get_ref() {
                DeValue::Table(table) => {
                    let (key, value) = table.get_key_value(&*token)?;
                    Some((key.span().start, value))
                }
                DeValue::Array(array) => {
                    let value = array.get(token.parse::<usize>().ok()?)?;
                    Some((value.span().start, value))
                }
                _ => None,
            };
            (at, found) = next?;
        }
        Some(at)
    }
}

/// The end of an error about a component that is missing, if it would be that of the project in whose `build` it is.
fn unbuilt(location: &Location) -> Option<String> {
    let path = location.path().filter(|path| !path.exists())?;
    let folder = path.parent()?.parent()?;
    let project = Project::read(folder).ok()?;
    let is_its = path.file_stem()?.to_str()? == project.package.name;
    let shown = Untrusted::new(folder.display());
    is_its.then(|| format!("; `acp-chain build` in {shown} makes it"))
}

/// Parses a manifest, or a `config.toml`. Serde would read a table from a list, too, by the positions of its values; a
/// list is therefore reported before what serde makes of it.
fn parse<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, ManifestError> {
    let syntax = |error| ManifestError::syntax(path, text, &error);
    let file: Result<T, toml::de::Error> = toml::from_str(text);
    let unknown = file.as_ref().err().map(toml::de::Error::message);
    let is_unknown = |name: &str| {
        unknown.is_some_and(|message| message.starts_with(&format!("unknown field `{name}`")))
    };
    let keys = DeTable::parse(text).map_err(syntax)?.into_inner();
    for (key, value) in &keys {
        let name = &**key.get_ref();
        if name != "proxy" && value.get_ref().as_array().is_some() && !is_unknown(name) {
            let what = format!("`{name}` is not a list: write its keys under `[{name}]`");
            return Err(ManifestError::at(path, text, key.span().start, what));
        }
    }
    file.map_err(syntax)
}

/// The absolute path of a manifest, and its text.
fn named(path: &Path) -> Result<(PathBuf, String), ManifestError> {
    // Also in errors: whoever reads that of an editor may not know in which folder it was.
    let absolute = std::path::absolute(written(path));
    let absolute = absolute.unwrap_or_else(|_| path.to_owned());
    match text(&absolute) {
        Ok(text) => Ok((absolute, text)),
        Err(error) => Err(unreadable(&absolute, error)),
    }
}

/// The error for a manifest that cannot be read.
fn unreadable(path: &Path, error: io::Error) -> ManifestError {
    let why = in_folder(path).map_or(error, io::Error::other);
    ManifestError::unreadable(path, why)
}

/// What to name in place of a folder, if a path is that of one.
fn in_folder(path: &Path) -> Option<String> {
    if !path.is_dir() {
        return None;
    }
    let names = ["acp-chain.toml", "chain.toml"];
    let found = names.into_iter().find(|name| path.join(name).is_file());
    let next = found.map_or_else(
        || "and there is no acp-chain.toml in it".to_owned(),
        |name| format!("and the manifest in it is {name}"),
    );
    Some(format!("it is a folder, {next}"))
}

/// Reads a manifest, or a `config.toml`.
fn text(path: &Path) -> io::Result<String> {
    let bytes = disk::read(path, MANIFEST)?;
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// A command line. A program with a path separator is a path, which may be relative to `folder`; before it is the byte at
/// which its table begins.
fn command(
    (start, program): (usize, &str),
    args: Vec<String>,
    env: Environment,
    folder: &Path,
) -> Result<CommandLine, Wrong> {
    if program.is_empty() {
        return Err((start, "`command` is empty: name a program".to_owned()));
    }
    let is_wrong =
        |name: &&Spanned<String>| name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']);
    if let Some(name) = env.keys().find(is_wrong) {
        let what = format!("{:?} is not the name of a variable", name.get_ref());
        return Err((name.span().start, what));
    }
    let env = env.into_iter();
    Ok(CommandLine {
        program: if program.contains(std::path::is_separator) {
            placed(folder, Path::new(program)).into_os_string()
        } else {
            program.into()
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
    use acp_chain_channel::FailurePolicy;
    use acp_chain_channel::limits::Limits;
    use acp_chain_router::native::Dialect;

    fn parse(text: &str) -> Result<Manifest, String> {
        let path = Path::new("/project/acp-chain.toml");
        let read = Manifest::parse(text, path, &User::default(), &Installed::default());
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
        let (ProxyKind::Component(one), ProxyKind::Component(two)) = (&first.kind, &second.kind)
        else {
            panic!("two components")
        };
        assert_eq!((&*first.id, &*one.config), ("one", "{}"));
        assert_eq!(one.location, Location::File("/project/one.wasm".into()));
        assert_eq!(*one.limits, Limits::default());
        assert!(one.grant.powers().is_empty() && one.grant.methods().is_empty());
        assert_eq!(first.on_failure, None);
        assert_eq!(two.location, Location::File("/opt/two.wasm".into()));
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
    fn a_component_that_is_not_built_yet_is_told_with_its_project() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = "name = \"shout\"\nversion = \"1.0.0\"\n";
        std::fs::write(folder.path().join("extension.toml"), metadata).unwrap();
        let about = |name: &str| {
            let text = format!("[[proxy]]\nid = \"it\"\npath = \"build/{name}.wasm\"\n");
            let path = folder.path().join("chain.toml");
            let read = Manifest::parse(&text, &path, &User::default(), &Installed::default());
            let manifest = read.unwrap();
            manifest.about(&manifest.proxies[0], &"it is missing")
        };
        let shown = Untrusted::new(folder.path().display());
        let told = about("shout");
        let expected =
            format!("build/shout.wasm): it is missing; `acp-chain build` in {shown} makes it");
        assert!(told.ends_with(&expected), "{told}\nlacks\n{expected}");
        assert!(about("other").ends_with(": it is missing"));
    }

    #[test]
    fn a_folder_is_told_with_the_manifest_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let told = || {
            let read = Manifest::read(folder.path(), &User::default(), &Installed::default());
            read.unwrap_err().to_string()
        };
        let none = told();
        assert!(
            none.ends_with("it is a folder, and there is no acp-chain.toml in it"),
            "{none}"
        );
        std::fs::write(folder.path().join("chain.toml"), "").unwrap();
        let one = told();
        assert!(
            one.ends_with("it is a folder, and the manifest in it is chain.toml"),
            "{one}"
        );
        // Commands that change it say so, too.
        let changed = Edit::read(folder.path()).unwrap_err();
        assert_eq!(changed.to_string(), one);
    }

    #[test]
    fn a_path_of_the_user_may_be_in_the_home() {
        let home = std::env::home_dir().unwrap();
        let manifest = parse(
            r#"
            [agent]
            command = "~/bin/agent"

            [[proxy]]
            id = "one"
            path = "~/one.wasm"
            directories = [{ path = "~/notes", name = "/notes" }]

            [[proxy]]
            id = "two"
            path = "./~/two.wasm"

            [[proxy]]
            id = "three"
            path = "~other/three.wasm"
            "#,
        );
        let manifest = manifest.unwrap();
        assert_eq!(manifest.agent.unwrap().program, home.join("bin/agent"));
        let components = manifest.proxies.iter().map(|entry| match &entry.kind {
            ProxyKind::Component(component) => component,
            ProxyKind::Native(_) => panic!("{entry:?} is a component"),
        });
        let components: Vec<_> = components.collect();
        let expected = [
            home.join("one.wasm"),
            "/project/./~/two.wasm".into(),
            "/project/~other/three.wasm".into(),
        ];
        for (component, path) in components.iter().zip(expected) {
            assert_eq!(component.location, Location::File(path));
        }
        assert_eq!(components[0].directories[0].path, home.join("notes"));
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
        let ProxyKind::Native(native) = &entry.kind else {
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
             `id`, `use`, `path`, `command`, `args`, `env`, `dialect`, `config`, `on-failure`, `limits`, \
             `powers`, `methods`, `directories`, `sleeps`"
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
    fn a_name_that_resembles_nothing_gets_no_suggestion() {
        let error = parse("use = \"a\"\n").unwrap_err();
        assert!(
            error.contains(":1:1: unknown key `use`; known here are `agent`"),
            "{error}"
        );
        let error = parse("[[proxy]]\nuse = \"a\"\nrules = []\n").unwrap_err();
        assert!(
            error.contains(":3:1: unknown key `rules`; known here are `id`")
                && error.ends_with("The settings of a proxy are in `[proxy.config]`"),
            "{error}"
        );
    }

    #[test]
    fn one_pair_of_brackets_is_told_from_two() {
        for text in [
            "[proxy]\nuse = \"a\"\n",
            "[proxy.config]\nx = 1\n",
            "\n[ proxy ]\n",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                error.contains("`proxy` is a list: each entry begins with a line `[[proxy]]`"),
                "{error}"
            );
        }
        let error = parse("proxy = {}\n").unwrap_err();
        assert!(
            error.contains("invalid type: map, expected a sequence"),
            "{error}"
        );
    }

    #[test]
    fn other_errors_have_their_place() {
        for (text, expected) in [
            (
                "[[proxy]]\nid = 7\npath = \"p\"\n",
                ":2:6: invalid type: integer `7`, expected a string",
            ),
            (
                "[[proxy]]\nid = \"a\"\n",
                ":1:1: `a` needs a `use`, if it is an extension, a `path`, if it is your own component",
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
                "unknown value `prxy`; did you mean `proxy`? Known here are `proxy`, `proxy-meta`, `_proxy`",
            ),
            (
                "[[proxy]]\nid=\"a\"\ncommand=\"x\"\nenv={\"A=B\"=\"\"}\n",
                ":4:6: \"A=B\" is not the name of a variable",
            ),
            ("[[proxy]]\npath=\"p\"\n", ":1:1: an `id` is missing"),
            (
                "[[proxy]]\n",
                ":1:1: a proxy needs a `use`, if it is an extension, or an `id`, and a `path`",
            ),
            (
                "[receipts]\nfolder = 7\n",
                ":2:10: invalid type: integer `7`, expected a path in quotes",
            ),
            (
                "[receipts]\nfolder=\"r\"\nkeep-days=\"x\"\n",
                ":3:11: invalid type: string \"x\", expected a whole number",
            ),
            (
                "[agent]\ncommand=\"x\"\nenv=7\n",
                ":3:5: invalid type: integer `7`, expected a table, as in `{ key = … }`",
            ),
            (
                "native = true\n",
                ":1:1: unknown key `native`: it belongs in your own config.toml; known here are `agent`",
            ),
            (
                "[[proxy]]\nuse=\"a\"\npath=\"p\"\n",
                ":2:5: `a` has both `use` and `path`",
            ),
            (
                "[[proxy]]\nuse=\"a\"\n",
                ":2:5: `a` is not installed, nor does any extension come with this program",
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
                "the config of `a` has an infinite number",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
        }
    }

    #[test]
    fn a_list_that_is_written_as_a_table_is_told_with_how_to_write_it() {
        let entry = "[[proxy]]\nid=\"a\"\npath=\"p\"\n";
        for (text, expected) in [
            (
                "# mine\n[proxy]\nuse=\"a\"\n",
                ":2:1: `proxy` is a list: each entry begins with a line `[[proxy]]`, with two brackets",
            ),
            (
                "[proxy.redact]\nuse=\"redact\"\n",
                ":1:2: `proxy` is a list: each entry begins with a line `[[proxy]]`",
            ),
            (
                &format!("{entry}  [proxy.directories]\n  path=\"d\"\n"),
                ":4:3: `proxy.directories` is a list: each entry begins with a line `[[proxy.directories]]`",
            ),
            (
                "proxy={use=\"a\"}\n",
                ":1:7: invalid type: map, expected a sequence: write a list in brackets, `[…]`",
            ),
            (
                &format!("{entry}powers=\"prompts.read\"\n"),
                "expected a sequence: write a list in brackets, `[…]`",
            ),
            (
                "[[mcp]]\nbridge=\"http\"\n",
                ":1:3: `mcp` is not a list: write its keys under `[mcp]`",
            ),
            (
                "[[agent]]\ncommand=\"x\"\n",
                ":1:3: `agent` is not a list: write its keys under `[agent]`",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
        }
    }

    #[test]
    fn errors_in_limits_and_powers_have_their_place() {
        for (line, expected) in [
            (
                "limits.memory = 64",
                ":4:17: `memory`: 64 has no unit; write a number with B",
            ),
            ("limits.memory = \"64 MBs\"", "\"64 MBs\" is not a size"),
            ("limits.time = \"-2 s\"", "`time`: \"-2 s\" is not a time"),
            (
                "limits.held = -1",
                "`held`: \"-1\" is not a number; write a whole number",
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
                ":4:13: `methods`: a `*` is allowed only at the end",
            ),
            (
                "methods = { \"_x\" = [\"raed\"] }",
                ":4:21: `methods`: unknown key `raed`; did you mean `read`?",
            ),
            (
                "methods = { \"session/prompt\" = [\"read\"] }",
                "`session/prompt` belongs to the protocol, and is granted by powers: `prompts.read`",
            ),
            (
                "methods = { \"$/x\" = [\"read\"] }",
                "`methods`: $/x is the host's own",
            ),
            ("methods = { \"*\" = [\"read\"] }", "`*` is the host's own"),
            (
                "on-failure = \"shrug\"",
                "unknown value `shrug`; known here are `restart`",
            ),
            (
                "directories = [{ path = \"a\", name = \"\" }]",
                "needs its own name",
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
