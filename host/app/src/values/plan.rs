//! Whose values the proxies of a chain store, and the process that loads and stores them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use acp_chain::host::ProxyPlan;
use acp_chain_conductor::StoredValues;
use acp_chain_extension::Source;
use acp_chain_manifest::{Origin, ProxyKind};
use acp_chain_state::{Keeper, Namespace};
use acp_chain_store::PostgresPlace;
use acp_chain_system::files::real;
use acp_chain_system::worker::Worker;

use super::{POWER, SUBCOMMAND, Start};
use crate::{Error, beside, home};

/// Whose values the proxies of a chain store, by their ids, for the user of this system.
#[derive(Clone, Debug, Default)]
pub struct ValuesPlan {
    namespaces: HashMap<String, Namespace>,
    /// Our log, where the process logs, too.
    log: Option<PathBuf>,
    /// Whether what they store is lost at the end.
    is_dry_run: bool,
}

/// A process that has the database, before the first request.
#[derive(Debug)]
pub struct ValuesProcess(Worker);

impl ValuesPlan {
    /// The values of those proxies that have the power to store some.
    pub fn new(proxies: &[ProxyPlan], log: Option<&Path>) -> Self {
        let namespaces = proxies.iter().filter_map(|proxy| match &proxy.entry.kind {
            ProxyKind::Component(component) if component.grant.has(POWER) => {
                Some((proxy.entry.id.clone(), namespace(&component.origin)))
            }
            ProxyKind::Component(_) | ProxyKind::Native(_) => None,
        });
        Self {
            namespaces: namespaces.collect(),
            log: log.map(Path::to_owned),
            is_dry_run: false,
        }
    }

    /// For a dry run, in which proxies store into a copy.
    #[must_use]
    pub fn in_dry_run(self) -> Self {
        Self {
            is_dry_run: true,
            ..self
        }
    }

    /// For proxies that the project with this root names. They do not have the values of the same extensions
    /// elsewhere: the project's author says which extensions they are, and how they are configured.
    #[must_use]
    pub fn in_project(mut self, root: &Path) -> Self {
        for namespace in self.namespaces.values_mut() {
            namespace.source = format!("{}, in the project {}", namespace.source, text(root));
        }
        self
    }

    /// Starts the process for these proxies, within the runtime that serves their chain. If it cannot be started, the
    /// chain goes on, requests of its proxies fail, and there is a notice for the user.
    pub fn begin(&self) -> (Option<StoredValues>, Option<String>) {
        let process = ValuesProcess::start([self], None);
        let begun = process.and_then(|process| process.map(ValuesProcess::keeper).transpose());
        match begun {
            Ok(keeper) => (keeper.map(|keeper| self.stored(keeper, None)), None),
            Err(error) => {
                let notice = format!("Proxies cannot load and store their values: {error}.");
                tracing::error!("{notice}");
                (None, Some(notice))
            }
        }
    }

    /// The values of these proxies in a chain of this user, whom a server has authenticated.
    pub fn stored(&self, keeper: Keeper, user: Option<&str>) -> StoredValues {
        let namespaces = self.namespaces.iter().map(|(id, namespace)| {
            let of_user = Namespace {
                user: user.map(str::to_owned),
                ..namespace.clone()
            };
            (id.clone(), of_user)
        });
        StoredValues {
            keeper,
            namespaces: namespaces.collect(),
        }
    }
}

impl ValuesProcess {
    /// Starts a process for these plans; `None` if there is nothing to store. The values are in the store, if one is
    /// given. Must be called before rights are given up.
    pub fn start<'p>(
        plans: impl IntoIterator<Item = &'p ValuesPlan>,
        store: Option<PostgresPlace>,
    ) -> Result<Option<Self>, Error> {
        let (mut log, mut is_dry_run) = (None, false);
        let mut extensions = BTreeSet::new();
        for plan in plans {
            log = log.or(plan.log.as_deref());
            is_dry_run |= plan.is_dry_run;
            let owner = |one: &Namespace| (one.extension.clone(), one.source.clone());
            extensions.extend(plan.namespaces.values().map(owner));
        }
        if extensions.is_empty() {
            return Ok(None);
        }
        if store.is_none() {
            // Without a place for the database, the process would end at once.
            home::database()?;
        }
        let start = Start {
            extensions: extensions.into_iter().collect(),
            is_dry_run,
            store,
        };
        let started = beside::start(SUBCOMMAND, &start, log).map_err(Error::NoValues)?;
        Ok(Some(Self(started)))
    }

    /// The client of the process. Must be called within the runtime that serves the chains, also after rights were
    /// given up.
    pub fn keeper(self) -> Result<Keeper, Error> {
        let (replies, requests) = self.0.streams().map_err(Error::NoValues)?;
        Ok(Keeper::start(replies, requests))
    }
}

/// Whose values an extension stores, in all of its versions.
fn namespace(origin: &Origin) -> Namespace {
    let source = match &origin.source {
        Source::BuiltIn(_) => "built-in".to_owned(),
        Source::File(path) => text(&place(path)),
        Source::Https { url, .. } => url.clone(),
        Source::Registry(reference) => format!("{}/{}", reference.registry, reference.repository),
    };
    Namespace {
        extension: origin.name.clone(),
        source,
        user: None,
        project: None,
    }
}

/// The path of a file without symbolic links, except for the file itself: that may be a link to its newest version.
fn place(file: &Path) -> PathBuf {
    let folder = file.parent().map(real);
    match (folder, file.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => file.to_owned(),
    }
}

/// A path as text. One that is not UTF-8 is escaped between quotes, with which no absolute path begins.
fn text(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let text = path.to_str().map(str::to_owned);
    text.unwrap_or_else(|| format!("\"{}\"", bytes.escape_ascii()))
}

#[cfg(test)]
mod tests {
    use acp_chain::host;
    use acp_chain_extension::Installed;
    use acp_chain_manifest::{Manifest, User};

    use super::*;

    /// The plan of a chain with these tables of proxies, whose manifest is in this folder.
    fn plan(folder: &Path, proxies: &str) -> ValuesPlan {
        let path = folder.join("acp-chain.toml");
        let manifest = Manifest::parse(proxies, &path, &User::default(), &Installed::default());
        ValuesPlan::new(&host::plan(&manifest.unwrap()).unwrap(), None)
    }

    #[test]
    fn proxies_with_the_power_store_values_by_the_path_of_their_component() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let proxies = "[[proxy]]\nid = \"one\"\npath = \"./one.wasm\"\npowers = [\"values.keep\"]\n\
                       [[proxy]]\nid = \"two\"\npath = \"two.wasm\"\n\
                       [[proxy]]\nid = \"three\"\ncommand = \"three\"\n";
        let planned = plan(folder.path(), proxies);
        let one = Namespace {
            extension: "one".to_owned(),
            source: real.join("one.wasm").to_str().unwrap().to_owned(),
            user: None,
            project: None,
        };
        assert_eq!(planned.namespaces, HashMap::from([("one".to_owned(), one)]));
    }

    #[test]
    fn proxies_of_a_project_have_values_of_their_own() {
        let own = plan(
            Path::new("/work"),
            "[[proxy]]\nid = \"one\"\npath = \"/no/such/one.wasm\"\npowers = [\"values.keep\"]\n",
        );
        let of_project = own.clone().in_project(Path::new("/work"));
        assert_eq!(own.namespaces["one"].source, "/no/such/one.wasm");
        assert_eq!(
            of_project.namespaces["one"].source,
            "/no/such/one.wasm, in the project /work"
        );
    }

    #[test]
    fn a_version_is_no_part_of_a_source() {
        let digest = "0".repeat(64);
        let origin = |source: &str| Origin {
            name: "it".to_owned(),
            source: source.parse().unwrap(),
        };
        for (named, source) in [
            ("it", "built-in"),
            ("ghcr.io/org/it:1.2", "ghcr.io/org/it"),
            (
                &*format!("ghcr.io/org/it@sha256:{digest}"),
                "ghcr.io/org/it",
            ),
            (
                &*format!("https://example.com/it.wasm#sha256={digest}"),
                "https://example.com/it.wasm",
            ),
            ("/no/such/folder/it.wasm", "/no/such/folder/it.wasm"),
        ] {
            assert_eq!(namespace(&origin(named)).source, source, "{named}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_a_link_to_its_newest_version_is_the_same_source() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("real")).unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, real.join(at)).unwrap();
        link("real", "linked");
        link("it-1.2.wasm", "real/it.wasm");
        assert_eq!(
            place(&real.join("linked/it.wasm")),
            real.join("real/it.wasm")
        );
    }
}
