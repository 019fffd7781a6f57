//! `config.toml`: settings for all chains of a user.
//!
//! A manifest may be part of an untrusted project. `config.toml` has the settings that a manifest must not make.

use std::env;
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};

use acp_chain_powers::Power;
use serde::Deserialize;
use toml::Spanned;

use super::agent::HooksMode;
use super::proxy::ProxyTable;
use super::serve::ServeTable;
use super::terms::{LimitsTable, Wrong, read_limits};
use super::{ManifestError, Order, ReceiptsEntry};
use acp_chain_channel::limits::Limits;
use acp_chain_extension::Signer;
use acp_chain_mcp::reach::Reach;

/// The user's settings.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate setting")]
#[derive(Clone, Debug)]
pub struct User {
    /// The ceilings of the limits that manifests may set.
    pub ceilings: Limits,
    /// Whether manifests may have native proxies, which have all of the user's privileges.
    pub native: bool,
    /// How agents reach MCP servers in a chain. Overrides manifests.
    pub reach: Reach,
    /// Whether only extensions with a signature may be installed.
    pub require_signature: bool,
    /// The trusted list of extensions that must not run.
    pub revocations: Option<Revocations>,
    /// The signers whose signature makes a project trusted.
    pub signers: Vec<TrustedSigner>,
    /// The policy for sessions in projects whose current content the user has not agreed to.
    pub untrusted: UntrustedPolicy,
    /// Whether the hooks of agents are attached. Manifests may be stricter.
    pub hooks: Option<HooksMode>,
    /// The registry of agents, if it is not the public one: a URL, or a path relative to the file's folder.
    pub agents: Option<String>,
    /// Where newer releases of the program are.
    pub updates: Updates,
    /// The default trace file of runs.
    pub trace: Option<PathBuf>,
    /// Whether traces contain messages unmasked, secrets included.
    pub trace_bodies: bool,
    /// The default log of what is decided in runs.
    pub receipts: Option<ReceiptsEntry>,
    /// Whether other programs of the user may watch running chains.
    pub live: bool,
    /// The settings for serving chains, as written.
    pub serve: Option<ServeTable>,
    /// The user's own chain, as written.
    pub(super) own: OwnChain,
}

/// An entry of `[trust]` `signers`: a signer whose signature makes a project trusted, and up to which powers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedSigner {
    /// The public key.
    pub key: Signer,
    /// The powers that proxies may have in such a project, by their keys.
    pub powers: Vec<String>,
}

/// `[trust]` `untrusted`: the policy for sessions in untrusted projects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UntrustedPolicy {
    /// The session starts, with the proxies that the user agreed to before, if any, and the user is notified.
    #[default]
    Pass,
    /// The session is rejected.
    Refuse,
}

/// `[agent]`: of all agents.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentTable {
    hooks: Option<HooksMode>,
}

/// `[agents]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentsTable {
    registry: Option<String>,
}

/// `[updates]`: where newer releases of the program are, if not where the program says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Updates {
    /// The URL of the folder with the releases.
    pub channel: Option<String>,
    /// The key that must have signed them.
    pub key: Option<Signer>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TrustTable {
    signers: Vec<SignerTable>,
    untrusted: UntrustedPolicy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignerTable {
    key: Signer,
    #[serde(default)]
    powers: Vec<Spanned<String>>,
}

/// `[revocations]`: the source of the list of extensions that must not run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revocations {
    /// The path of a file, or an `https:` URL.
    pub source: String,
    /// The key that must have signed it.
    pub key: Signer,
}

/// The user's own chain, as parsed. Its extensions are resolved later.
#[derive(Clone, Debug)]
pub(super) struct OwnChain {
    /// The path of the file; relative if there is no folder for the user's settings.
    pub path: PathBuf,
    pub text: String,
    pub proxies: Vec<Spanned<ProxyTable>>,
    pub order: Option<Order>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    ceilings: LimitsTable,
    native: bool,
    mcp: Reach,
    require_signature: bool,
    revocations: Option<Revocations>,
    trust: TrustTable,
    agent: AgentTable,
    agents: AgentsTable,
    updates: Updates,
    trace: Option<PathBuf>,
    trace_bodies: bool,
    receipts: Option<ReceiptsEntry>,
    live: Option<bool>,
    serve: Option<ServeTable>,
    order: Option<Order>,
    proxy: Vec<Spanned<ProxyTable>>,
}

impl Default for User {
    fn default() -> Self {
        let (path, ceilings) = (Path::new("config.toml"), Limits::ceilings());
        Self::of(File::default(), ceilings, Vec::new(), path, "")
    }
}

impl User {
    /// Whether the user's own chain has proxies.
    pub fn has_chain(&self) -> bool {
        !self.own.proxies.is_empty()
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.own.path
    }

    /// The error for a mistake at a byte of the file.
    pub fn error(&self, at: usize, what: String) -> ManifestError {
        ManifestError::at(&self.own.path, &self.own.text, at, what)
    }

    /// Reads the `config.toml` that the command line names. It must exist.
    pub fn read_named(path: &Path) -> Result<Self, ManifestError> {
        let text = super::text(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                ManifestError::Missing(path.to_owned())
            }
            _ => ManifestError::unreadable(path, error),
        })?;
        Self::parse(&text, path)
    }

    /// Reads the `config.toml` at `path`. If it is missing, all settings have their defaults; behind a link that leads
    /// nowhere it is not, since the user relies on the guards in it.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        match super::text(path) {
            Ok(text) => Self::parse(&text, path),
            // A home that is not a folder counts as missing.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                match broken_link(path).map(Path::to_owned) {
                    Some(link) => Err(ManifestError::BrokenLink(path.to_owned(), link)),
                    None => Self::parse("", path),
                }
            }
            Err(error) => Err(ManifestError::unreadable(path, error)),
        }
    }

    /// Parses the text of the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ManifestError> {
        let mut file: File = super::parse(text, path)?;
        let ceilings = read_limits(mem::take(&mut file.ceilings), Limits::ceilings(), None)
            .map_err(|(at, what)| ManifestError::at(path, text, at, what))?;
        let signers = read_signers(mem::take(&mut file.trust.signers))
            .map_err(|(at, what)| ManifestError::at(path, text, at, what))?;
        Ok(Self::of(file, ceilings, signers, path, text))
    }

    /// The settings of the file with this text at `path`, of which ceilings and signers were read.
    fn of(
        file: File,
        ceilings: Limits,
        signers: Vec<TrustedSigner>,
        path: &Path,
        text: &str,
    ) -> Self {
        Self {
            ceilings,
            native: file.native,
            reach: file.mcp,
            require_signature: file.require_signature,
            revocations: file.revocations.map(|list| Revocations {
                source: located(list.source),
                ..list
            }),
            signers,
            untrusted: file.trust.untrusted,
            hooks: file.agent.hooks,
            agents: file.agents.registry.map(located),
            updates: file.updates,
            trace: file.trace.map(|trace| beside(path, &trace)),
            trace_bodies: file.trace_bodies,
            receipts: file.receipts.map(|entry| entry.beside(path)),
            live: file.live.unwrap_or(true),
            serve: file.serve,
            own: OwnChain {
                path: path.to_owned(),
                text: text.to_owned(),
                proxies: file.proxy,
                order: file.order,
            },
        }
    }
}

/// The symbolic link on the way to a missing file that leads nowhere: then the file is not missing, but what has it.
fn broken_link(path: &Path) -> Option<&Path> {
    let mut ways = path.ancestors();
    let nearest = ways.find(|way| way.symlink_metadata().is_ok())?;
    let is_link = nearest
        .symlink_metadata()
        .is_ok_and(|about| about.is_symlink());
    (is_link && nearest.metadata().is_err()).then_some(nearest)
}

/// Resolves a path that the file at `path` names, which the user has written.
pub fn beside(path: &Path, named: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    placed(folder, named)
}

/// Resolves a path on a command line, relative to the current folder: `~/…` is in the user's home, also where no shell has
/// said so.
#[must_use]
pub fn written(named: &Path) -> PathBuf {
    placed(Path::new(""), named)
}

/// Resolves what the user has written, a URL or else a path, as [`written`] does.
#[must_use]
pub fn located(text: String) -> String {
    let path = written(Path::new(&text)).into_os_string();
    path.into_string().unwrap_or(text)
}

/// Resolves a path that the user has written: `~/…` is in the user's home, as in a shell, and any other relative path in
/// this folder. Paths of a project are checked before; none begins with `~/`.
pub(super) fn placed(folder: &Path, named: &Path) -> PathBuf {
    let below = named.strip_prefix("~").ok();
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let in_home = below.and_then(|below| Some(env::home_dir()?.join(below)));
    in_home
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| folder.join(named))
}

fn read_signers(signers: Vec<SignerTable>) -> Result<Vec<TrustedSigner>, Wrong> {
    let signers = signers.into_iter().map(|one| {
        let powers = one.powers.into_iter().map(|power| {
            let (at, key) = (power.span().start, power.into_inner());
            match Power::named(&key) {
                Some(_) => Ok(key),
                None => {
                    let nearest = Power::nearest(&key);
                    let what =
                        format!("`powers`: there is no power `{key}`; did you mean `{nearest}`?");
                    Err((at, what))
                }
            }
        });
        Ok(TrustedSigner {
            key: one.key,
            powers: powers.collect::<Result<_, _>>()?,
        })
    });
    signers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_raises_and_lowers_ceilings() {
        let user = User::parse(
            "[ceilings]\nmemory = \"2 GiB\"\nheld = 7\n",
            Path::new("/c.toml"),
        );
        let ceilings = user.unwrap().ceilings;
        assert_eq!((ceilings.memory, ceilings.held), (2 << 30, 7));
        assert_eq!(ceilings.requests, Limits::ceilings().requests);
    }

    #[test]
    fn a_list_is_no_table() {
        for (text, place) in [
            ("serve = []", ":1:1:"),
            ("live = true\ntrust = []", ":2:1:"),
        ] {
            let told = User::parse(text, Path::new("/c.toml")).unwrap_err();
            let told = told.to_string();
            assert!(
                told.contains(place) && told.contains("is not a list"),
                "{told}"
            );
        }
    }

    #[test]
    fn receipts_are_beside_the_file_and_stop_turns_that_have_none() {
        let read = |text| User::parse(text, Path::new("/home/c.toml"));
        assert_eq!(read("").unwrap().receipts, None);
        let entry = read("[receipts]\nfolder = \"log\"\nkeep-days = 90\n").unwrap();
        let expected = ReceiptsEntry {
            folder: "/home/log".into(),
            keep_days: Some(90),
            on_failure: crate::OnReceiptsFailure::Stop,
        };
        assert_eq!(entry.receipts, Some(expected));
        let told = read("[receipts]\nfolder = \"log\"\non-failure = \"shrug\"\n");
        let told = told.unwrap_err().to_string();
        assert!(told.contains("`stop`, `continue`"), "{told}");
    }

    #[test]
    fn paths_may_be_in_the_home() {
        let read = |text: &str| User::parse(text, Path::new("/etc/c.toml")).unwrap();
        let home = env::home_dir().unwrap();
        let key = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl";
        let user = read(&format!(
            "trace = \"~/t.jsonl\"\n[agents]\nregistry = \"~/agents.json\"\n\
             [revocations]\nsource = \"~/revoked\"\nkey = \"{key}\"\n"
        ));
        let texts = [user.agents.unwrap(), user.revocations.unwrap().source];
        let files = ["agents.json", "revoked"].map(|name| home.join(name));
        assert_eq!(texts.map(PathBuf::from), files);
        assert_eq!(user.trace, Some(home.join("t.jsonl")));
        for text in ["https://host/~/x", "agents.json", "~other/x"] {
            let user = read(&format!("[agents]\nregistry = \"{text}\"\n"));
            assert_eq!(user.agents.as_deref(), Some(text));
        }
    }

    #[test]
    fn only_the_user_allows_native_proxies() {
        let native = |text| User::parse(text, Path::new("/c.toml")).unwrap().native;
        assert!(native("native = true\n") && !native("native = false\n") && !native(""));
    }

    #[test]
    fn chains_may_be_watched_by_default() {
        let live = |text| User::parse(text, Path::new("/c.toml")).unwrap().live;
        assert!(live("") && live("live = true\n") && !live("live = false\n"));
    }

    #[test]
    fn the_powers_of_signers_must_exist() {
        let key = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl";
        let read = |powers: &str| {
            let text = format!("[trust]\nsigners = [{{ key = \"{key}\", powers = [{powers}] }}]\n");
            User::parse(&text, Path::new("/c.toml"))
        };
        let signers = read("\"prompts.read\"").unwrap().signers;
        assert_eq!(signers[0].key.to_string(), key);
        assert_eq!(signers[0].powers, ["prompts.read"]);
        let told = read("\"prompt.read\"").unwrap_err().to_string();
        assert!(
            told.contains("/c.toml:2:") && told.contains("did you mean `prompts.read`?"),
            "{told}"
        );
    }

    #[test]
    fn the_file_in_the_book_can_be_pasted_as_it_is() {
        let page = include_str!("../../../docs/manifest.md");
        let (_, section) = page.split_once("\n## The user's own file\n").unwrap();
        let (_, block) = section.split_once("```toml\n").unwrap();
        let (text, _) = block.split_once("```").unwrap();
        User::parse(text, Path::new("/c.toml")).unwrap();
    }

    #[test]
    fn no_key_is_suggested_that_is_not_similar() {
        let told = User::parse("[trust]\nrequired = true\n", Path::new("/c.toml"));
        let told = told.unwrap_err().to_string();
        assert!(
            told.ends_with(
                "/c.toml:2:1: unknown key `required`; known here are `signers`, `untrusted`"
            ),
            "{told}"
        );
    }

    #[test]
    fn lists_and_tables_are_told_with_how_to_write_them() {
        for (text, expected) in [
            (
                "[serve.route]\nchain = \"x\"\n",
                "`serve.route` is a list: each entry begins with a line `[[serve.route]]`",
            ),
            (
                "[proxy]\nuse = \"redact\"\n",
                "`proxy` is a list: each entry begins with a line `[[proxy]]`",
            ),
            (
                "[[ceilings]]\nmemory = \"1 GiB\"\n",
                "`ceilings` is not a list: write its keys under `[ceilings]`",
            ),
        ] {
            let told = User::parse(text, Path::new("/c.toml")).unwrap_err();
            let told = told.to_string();
            assert!(told.contains(expected), "{told}\nlacks\n{expected}");
        }
    }

    #[test]
    fn an_error_in_a_ceiling_has_its_place() {
        let wrong = User::parse("[ceilings]\nmemroy = \"2 GiB\"\n", Path::new("/c.toml"));
        let told = wrong.unwrap_err().to_string();
        assert!(
            told.contains("/c.toml:2:1: unknown key `memroy`; did you mean `memory`?"),
            "{told}"
        );
    }
}
