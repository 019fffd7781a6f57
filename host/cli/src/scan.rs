//! `acp-chain scan`: plays what agents have recorded through a chain, and says what would have happened.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;

use crate::Result;
use crate::path::path;
use acp_chain::host::{Host, LoadedProxy};
use acp_chain_app::{home, proxies};
use acp_chain_channel::FailurePolicy;
use acp_chain_disk as disk;
use acp_chain_extension::Installed;
use acp_chain_kit::transcript::Tested;
use acp_chain_manifest::{Manifest, Order, ProxyEntry, ProxyKind, User};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::Guest;
use acp_chain_scan::{Plan, Prices};

use super::progress::Progress;
use super::recordings::Recordings;

/// What the chain has by default, beside the user's own proxies.
const DEFAULT: [&str; 2] = ["permissions", "redact"];

/// How many workers there are at most: each has a chain of its own.
const MOST_WORKERS: usize = 8;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain scan
  acp-chain scan --agent claude --manifest acp-chain.toml --html report.html
  acp-chain scan --prices 'input = 3, output = 15, cached-read = 0.3'
  acp-chain scan trace.jsonl --json

Recordings are looked for in
  ~/.claude/projects        (CLAUDE_CONFIG_DIR)
  ~/.codex/sessions         (CODEX_HOME)
  ~/.gemini/tmp/*/chats     (GEMINI_CLI_HOME)
  ~/.local/share/opencode   (XDG_DATA_HOME)")]
pub struct Scan {
    #[command(flatten)]
    recordings: Recordings,
    /// The manifest of the chain; by default, your own chain, and `permissions` and `redact` if it lacks them
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// What a million tokens cost you, as in `prices` of `brake`
    #[arg(long, value_name = "PRICES", value_parser = prices)]
    prices: Option<Prices>,
    /// The currency of your prices
    #[arg(long, value_name = "NAME", default_value = "USD")]
    currency: String,
    /// Print the report for programs
    #[arg(long)]
    json: bool,
    /// Also write the report to this file, as a page for a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn prices(text: &str) -> Result<Prices, String> {
    #[derive(serde::Deserialize)]
    struct Table {
        prices: Prices,
    }
    let read = toml::from_str(&format!("prices = {{ {text} }}"));
    let Table { prices } = read.map_err(|error: toml::de::Error| error.message().to_owned())?;
    if prices.are_amounts() {
        Ok(prices)
    } else {
        Err("a price is 0 or more".to_owned())
    }
}

/// The proxies of a chain, and why others are left out.
struct Loaded {
    proxies: Vec<(Guest, Option<FailurePolicy>)>,
    left_out: Vec<String>,
    is_as_written: bool,
    /// Whether `permissions` decides nothing.
    lacks_rules: bool,
}

impl Scan {
    pub fn main(self) -> Result<()> {
        home::check_owners()?;
        let (user, installed) = home::settings()?;
        let recordings = self.recordings.find(&user)?;
        let loaded = self.load(&user, &installed)?;
        if loaded.lacks_rules && !recordings.is_empty() {
            tell!(
                "acp-chain: `permissions` has no rules, so it denies nothing, and asks about nothing; `acp-chain \
                 permissions suggest` makes rules of recordings"
            );
        }
        let cores = available_parallelism().map_or(1, NonZero::get);
        let workers = cores.min(MOST_WORKERS).min(recordings.len());
        let sizes = recordings.iter().map(|recording| recording.size);
        let bytes = sizes.fold(0, u64::saturating_add);
        let chains = (0..workers).map(|_| loaded.chain());
        let scanned = Plan {
            chains: chains.collect(),
            recordings,
            is_as_written: loaded.is_as_written,
        };
        let progress = Progress::default().reading(bytes);
        let result = acp_chain_scan::scan(scanned, &|more| progress.add(more));
        drop(progress);
        let mut report = result?;
        report.left_out = loaded.left_out;
        if let Some(prices) = &self.prices {
            report = report.with_prices(prices, &self.currency);
        }
        let page = self.html.as_ref().map_or(Ok(()), |path| {
            let shown = Untrusted::new(path.display());
            let written = std::path::absolute(path)
                .and_then(|path| disk::write(&path, report.to_html().as_bytes()));
            written.map_err(|error| wrong!("{shown}: the page cannot be written: {error}"))
        });
        // A page that cannot be written does not cost the report.
        if self.json {
            say!("{}", report.to_json()?);
        } else {
            put!("{report}");
        }
        page
    }

    fn manifest(&self, user: &User, installed: &Installed) -> Result<Manifest> {
        if let Some(path) = &self.manifest {
            return Ok(Manifest::read(path, user, installed)?);
        }
        let mut own = Manifest::of_user(user, installed)?;
        let is_missing = |name: &&str| own.proxies.iter().all(|entry| entry.id != **name);
        let missing = DEFAULT.iter().copied().filter(is_missing);
        let missing: Vec<_> = missing.map(str::to_owned).collect();
        own.add(&missing, user, installed)
            .map_err(|error| wrong!("{error}; `--manifest` names another chain"))?;
        Ok(own)
    }

    fn load(&self, user: &User, installed: &Installed) -> Result<Loaded> {
        let mut manifest = self.manifest(user, installed)?;
        let mut left_out = Vec::new();
        manifest.proxies.retain(|entry| match why_not(entry) {
            Some(why) => {
                left_out.push(format!("{}: {why}", Untrusted::new(&entry.id)));
                false
            }
            None => true,
        });
        let host = Host::new(home::engine()?);
        let mut proxies = Vec::new();
        for LoadedProxy { plan, component } in
            host.load(proxies::open(&manifest)?, |_, load| load())
        {
            let entry = plan.entry;
            // Programs are left out.
            let Some(guest) = component else { continue };
            let guest = guest.map_err(|error| manifest.about(&entry, &error))?;
            proxies.push((guest, entry.on_failure));
        }
        Ok(Loaded {
            proxies,
            left_out,
            is_as_written: manifest.order == Order::AsWritten,
            lacks_rules: manifest.proxies.iter().any(ProxyEntry::lacks_rules),
        })
    }
}

impl Loaded {
    /// The chain of one worker.
    fn chain(&self) -> Vec<Tested> {
        let proxies = self.proxies.iter();
        let tested = proxies.map(|(guest, on_failure)| Tested {
            guest: guest.clone(),
            on_failure: *on_failure,
        });
        tested.collect()
    }
}

/// Why a proxy is left out, if it is: nothing is started or written.
fn why_not(entry: &ProxyEntry) -> Option<&'static str> {
    match &entry.kind {
        ProxyKind::Native(_) => Some("it is a program, and a scan starts none"),
        ProxyKind::Component(component) => {
            let mut directories = component.directories.iter();
            let writes = directories.any(|directory| directory.write);
            writes.then_some("it may write to a directory, and a scan writes to none")
        }
    }
}
