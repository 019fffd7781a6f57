//! The store of agents, and their registries.

use std::io::Write;
use std::path::Path;

use crate::Result;
use acp_chain_agents::{Entry, Error, Location, PUBLIC, Record, Registry, Staged, Store, Web};
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use reqwest::Url;
use tokio::runtime::Runtime;

use crate::progress::Progress;
use acp_chain_address::is_local;
use acp_chain_app::agent::store;
use acp_chain_app::variables::steers;
use acp_chain_app::{self as app, home};
use acp_chain_channel::limits::about;
use acp_chain_fetch::{self as fetch, Patience};
use acp_chain_manifest::located;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_system::files;

/// What is said without any agent.
pub const NO_AGENTS: &str = "No agents are installed; `acp-chain agent list --available` shows what `acp-chain agent add NAME` installs.";

/// Which registry is meant.
#[derive(Clone, Debug, clap::Args)]
pub struct RegistryArgs {
    /// The registry: a URL, or a file. By default, the one that an agent came from, else that in your config.toml, else
    /// the public one
    #[arg(long, value_name = "FILE|URL", value_parser = NonEmptyStringValueParser::new().map(located))]
    registry: Option<String>,
}

/// Fetches from web servers, and shows progress.
pub struct Fetcher {
    web: fetch::Web,
    runtime: Runtime,
    progress: Progress,
}

impl RegistryArgs {
    /// Reads the registry. `before` is the record of an installed agent, which names the registry that it came from.
    pub fn read(&self, fetcher: &Fetcher, before: Option<&Record>) -> Result<Registry> {
        let user = home::user()?;
        let config = home::config_file();
        let beside = config.as_deref().and_then(Path::parent);
        let recorded = before.and_then(|record| record.registry.as_ref());
        let (text, folder) = match (self.registry.as_ref().or(recorded), &user.agents) {
            (Some(text), _) => (&**text, None),
            (None, Some(text)) => (&**text, beside),
            (None, None) => (PUBLIC, None),
        };
        let here = app::here()?;
        let location = Location::parse(text, folder.unwrap_or(&here)).map_err(shown)?;
        Ok(Registry::read(location, fetcher).map_err(shown)?)
    }
}

impl Fetcher {
    pub fn new() -> Result<Self> {
        Ok(Self {
            web: fetch::Web::new(Patience::default())?,
            runtime: app::runtime()?,
            progress: Progress::default(),
        })
    }
}

impl Web for Fetcher {
    fn is_local(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| is_local(&url))
    }

    fn get(&self, url: &str, most: u64, into: &mut dyn Write) -> Result<(), String> {
        let download = self.progress.download(&quote(url, MAX_QUOTE));
        let seen = |there, whole| download.set(there, whole);
        let got = self.web.download(url, most, into, &seen);
        self.runtime
            .block_on(got)
            .map_err(|error| error.to_string())
    }
}

/// The store, for commands that change it: checks that it can be written, and by whom, and makes it private.
pub fn store_to_change() -> Result<Store> {
    home::check_owners()?;
    if let Some(folder) = home::agents() {
        home::check_writable(&folder)?;
        files::make_private(&folder)
            .map_err(|error| wrong!("{}: {error}", Untrusted::new(folder.display())))?;
    }
    Ok(store()?)
}

/// An error, with a program's output line by line.
pub fn shown(error: Error) -> app::Error {
    error.into()
}

/// An error about an agent that is to be changed: where one is missing, none is to be installed or launched instead.
pub fn shown_of_installed(error: Error) -> crate::Error {
    let Error::NotInstalled { name, near, .. } = error else {
        return shown(error).into();
    };
    let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    wrong!(
        "no agent `{}` is installed{near}; `acp-chain agent list` shows those that are",
        quote(&name, MAX_QUOTE)
    )
}

/// Prints an agent's description, its source, and its command line.
pub fn show(entry: &Entry, staged: &Staged) {
    let record = &staged.record;
    let text = |text: &str| quote(text, MAX_QUOTE);
    let version = record.version.as_deref().unwrap_or_default();
    say!("{} {} ({})", text(&entry.name), text(version), entry.id);
    if !entry.description.is_empty() {
        say!("  {}", text(&entry.description));
    }
    let authors = entry.authors.join(", ");
    let facts = [
        ("publisher", Some(&authors).filter(|all| !all.is_empty())),
        ("repository", entry.repository.as_ref()),
        ("website", entry.website.as_ref()),
        ("licence", entry.license.as_ref()),
        ("registry", record.registry.as_ref()),
        ("from", record.source.as_ref()),
        ("digest", record.digest.as_ref()),
    ];
    for (what, value) in facts {
        let value = value.map_or_else(|| "not stated".to_owned(), |value| text(value));
        if what != "website" || entry.website.is_some() {
            say!("  {what:<11}{value}");
        }
    }
    let registry = record.registry.as_deref().map(Path::new);
    let file = registry.filter(|registry| registry.is_absolute());
    if let Some(Err(why)) = file.map(home::check_owner) {
        say!("! the registry is not yours alone: {why}");
    }
    say!("  {:<11}{}", "size", about(staged.size));
    say!("  {:<11}{}", "launches", command(record));
    for (key, value) in &record.env {
        let mark = if steers(key) {
            "  ! this variable decides which code runs, or which settings, servers or accounts the agent uses"
        } else {
            ""
        };
        // All of it: consent covers only what is shown. Registries may have only as much as can be read.
        say!(
            "  {:<11}{}={}{mark}",
            "with",
            Untrusted::new(key),
            Untrusted::new(value)
        );
    }
    for note in &staged.notes {
        say!("! {}", text(note));
    }
    say!("It runs as a program with all of your rights: no sandbox holds an agent.");
}

/// The whole command line, as it would be typed.
pub fn command(record: &Record) -> String {
    let words: Vec<_> = record.words().map(String::as_str).collect();
    Untrusted::new(words.join(" ")).to_string()
}
