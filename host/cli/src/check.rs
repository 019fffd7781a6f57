//! `acp-chain check`: prints what would run in a folder, or with a manifest, without running it. Guards are started, in
//! their sandboxes and without neighbours, because only a started guard reports rules that do not guard; `--start`
//! starts all components.

use std::path::PathBuf;
use std::process::ExitCode;

use tokio::runtime::Runtime;

use super::plan::load;
use super::project::here;
use super::protected::{self, Named};
use super::words::{self, Abilities};
use super::{folders, give_up_rights, open};
use acp_chain::host::Loaded;
use acp_chain_channel::{Action, Event, Failure, Offer, Outcome, Source, Started};
use acp_chain_conductor::native::CommandLine;
use acp_chain_kit::conformance::asks;
use acp_chain_kit::transcript::log::Log;
use acp_chain_manifest::{
    ComponentEntry, Manifest, NativeEntry, Order, ProxyEntry, ProxyKind, User,
};
use acp_chain_mcp::component::Catalog;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_sandbox::{ComponentError, Directories, Guest};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain check
  acp-chain check --with redact --start
  acp-chain check --manifest acp-chain.toml --start")]
pub struct Check {
    /// The manifest; by default, what would run in the current folder: your own chain, and that of the project
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Also append this extension to the chain, as `run` does; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    /// Also start each component, and compare its subscriptions with its powers
    #[arg(long)]
    start: bool,
}

impl Check {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        match self.check(log) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                tell!("acp-chain: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Prints the chain, and returns whether all of it could run. Fails if there is no chain to print.
    fn check(self, log: Option<PathBuf>) -> Result<bool, String> {
        folders::check_owners()?;
        let user = super::user().map_err(|error| error.to_string())?;
        let installed = super::installed(&user)?;
        let manifest = match &self.manifest {
            Some(path) => Manifest::read(path, &user, &installed),
            None => Manifest::of_user(&user, &installed),
        };
        let mut manifest = manifest.map_err(|error| error.to_string())?;
        for name in manifest.add(&self.with, &user, &installed)? {
            say!("`--with {name}` adds nothing: the chain has `{name}` already.");
        }
        let directories = open(&manifest)?;
        let named = Named::new(manifest.agent.clone(), log.as_deref());
        protected::check(&manifest, &directories, &named)?;
        let project = match self.manifest {
            Some(_) => None,
            None => {
                let here = std::env::current_dir();
                let here =
                    here.map_err(|error| format!("the current folder cannot be used: {error}"))?;
                let project =
                    here::print(&here, &manifest, &user, &installed, &named.and(&manifest))?;
                say!("");
                project
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("the runtime does not start: {error}"))?;
        let mut own = parts(&runtime, &manifest, &directories)?;
        let mut theirs = match &project {
            Some(opened) => parts(&runtime, &opened.manifest, &opened.directories)?,
            None => Vec::new(),
        };
        let mut given = directories.clone();
        given.extend(project.iter().flat_map(|opened| opened.directories.clone()));
        let rights = give_up_rights(&given, None);
        let are_moved = project.is_some() || manifest.order == Order::GuardsLast;
        let guards = take_guards(&mut own, are_moved, |part| self.is_guard(part, &runtime));
        say!("client");
        let mut valid = self.print(&runtime, &user, own);
        if let Some(opened) = &project {
            let are_moved = opened.manifest.order == Order::GuardsLast;
            let behind = take_guards(&mut theirs, are_moved, |part| self.is_guard(part, &runtime));
            theirs.extend(behind);
            say!("  │");
            say!("  │  the project's proxies:");
            valid &= self.print(&runtime, &user, theirs);
        }
        if !guards.is_empty() {
            say!("  │");
            say!("  │  your guards, next to the agent:");
        }
        valid &= self.print(&runtime, &user, guards);
        say!("  │");
        match &manifest.agent {
            Some(agent) => {
                say!("agent  {}", command_line(agent));
            }
            None => say!("agent  named on the command line"),
        }
        say!("");
        say!("While it runs, acp-chain itself {rights}.");
        Ok(valid)
    }

    /// Whether a proxy is a guard: by its package, or with `--start`, by its registration.
    fn is_guard(&self, part: &Part, runtime: &Runtime) -> bool {
        if self.start {
            part.is_guard(runtime)
        } else {
            part.is_packaged_as_guard()
        }
    }

    /// Prints proxies; returns whether all of them could run.
    fn print(&self, runtime: &Runtime, user: &User, parts: Vec<Part>) -> bool {
        let mut valid = true;
        for part in parts {
            let starts = self.start || part.is_packaged_as_guard();
            let (manifest, entry, directories) = (part.manifest, part.entry, part.directories);
            say!("  │");
            valid &= match &entry.kind {
                ProxyKind::Component(terms) => {
                    let terms = &resolved(terms, directories);
                    let guest = part
                        .compiled
                        .and_then(|guest| print_proxy(guest, manifest, entry, terms));
                    print_mounts(directories);
                    let can_guard = print_guarding(manifest, entry);
                    can_guard
                        & match guest {
                            Some(guest) if starts => {
                                start(runtime, guest, manifest, entry, self.start)
                            }
                            guest => guest.is_some(),
                        }
                }
                ProxyKind::Native(native) => {
                    print_program(entry, native, user);
                    true
                }
            };
        }
        valid
    }
}

/// A proxy of a chain, ready to be printed.
struct Part<'a> {
    manifest: &'a Manifest,
    entry: &'a ProxyEntry,
    directories: &'a Directories,
    compiled: Loaded,
}

impl Part<'_> {
    /// Whether the registration of the component declares a guard; `false` if the component does not start.
    fn is_guard(&self, runtime: &Runtime) -> bool {
        let Some(Ok(guest)) = &self.compiled else {
            return false;
        };
        let started = runtime.block_on(guest.start(1, None));
        started.is_ok_and(|started| started.registration.guard)
    }

    /// Whether the package of the component declares a guard.
    fn is_packaged_as_guard(&self) -> bool {
        matches!(&self.entry.kind, ProxyKind::Component(component) if component.is_guard)
    }
}

/// The proxies of a manifest, compiled.
fn parts<'a>(
    runtime: &Runtime,
    manifest: &'a Manifest,
    directories: &'a [Directories],
) -> Result<Vec<Part<'a>>, String> {
    let compiled = runtime.block_on(load(manifest, directories))?;
    let proxies = manifest.proxies.iter().zip(directories).zip(compiled);
    let parts = proxies.map(|((entry, directories), compiled)| Part {
        manifest,
        entry,
        directories,
        compiled,
    });
    Ok(parts.collect())
}

/// Takes the guards out of the proxies, if the chain moves them behind all others.
fn take_guards<'a>(
    parts: &mut Vec<Part<'a>>,
    are_moved: bool,
    is_guard: impl Fn(&Part) -> bool,
) -> Vec<Part<'a>> {
    parts
        .extract_if(.., |part| are_moved && is_guard(part))
        .collect()
}

/// Whether a proxy that is a guard can guard; reports it if not.
fn print_guarding(manifest: &Manifest, entry: &ProxyEntry) -> bool {
    if let Err(why) = entry.check_guard() {
        tell!("acp-chain: {}", manifest.about(entry, &why));
        return false;
    }
    if let Some(why) = entry.cannot_guard() {
        say!("  │  ! {why}");
    }
    true
}

/// A component whose directories have paths without symbolic links.
fn resolved(component: &ComponentEntry, directories: &Directories) -> ComponentEntry {
    let opened = directories.iter();
    let directories = opened.map(|opened| opened.directory.clone()).collect();
    ComponentEntry {
        directories,
        ..component.clone()
    }
}

/// Prints which other file systems are mounted in a proxy's directories.
fn print_mounts(directories: &Directories) {
    for (path, kind) in directories.iter().flat_map(|opened| &opened.mounts) {
        let path = quote(&path.display().to_string(), MAX_QUOTE);
        say!(
            "  │  ! in there {path} is another file system ({})",
            quote(kind, MAX_QUOTE)
        );
    }
}

/// Prints a native proxy of the chain.
fn print_program(entry: &ProxyEntry, native: &NativeEntry, user: &User) {
    say!("{}  {}", entry.id, command_line(&native.command));
    let config = folders::config_file();
    for line in words::of_program(native, entry.on_failure, user, config.as_deref()) {
        say!("  │  {line}");
    }
}

/// A command, for people.
pub fn command_line(command: &CommandLine) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let words = words.map(|word| quote(&word.to_string_lossy(), MAX_QUOTE));
    words.collect::<Vec<_>>().join(" ")
}

/// Prints one proxy of the chain, and returns it if it could be run.
fn print_proxy(
    compiled: Result<Guest, ComponentError>,
    manifest: &Manifest,
    entry: &ProxyEntry,
    terms: &ComponentEntry,
) -> Option<Guest> {
    let place = quote(&terms.location.to_string(), MAX_QUOTE);
    say!("{}  {place}", entry.id);
    let guest = match compiled {
        Ok(guest) => guest,
        Err(error) => {
            say!("  │  cannot be used");
            tell!("acp-chain: {}", manifest.about(entry, &error));
            return None;
        }
    };
    let component = &guest.component;
    let imports = component.imports(&guest.engine);
    let abilities = Abilities {
        wasi: imports.iter().any(|name| name.starts_with("wasi:")),
        offers: component.offers(),
    };
    say!("  │  {} kB", component.size() / 1000);
    for line in words::terms(terms, entry.on_failure, &abilities) {
        say!("  │  {line}");
    }
    Some(guest)
}

/// Starts a proxy, and prints its warnings; `in_full`, also its subscriptions, compared with its powers. Returns
/// whether the proxy starts.
fn start(
    runtime: &Runtime,
    guest: Guest,
    manifest: &Manifest,
    entry: &ProxyEntry,
    in_full: bool,
) -> bool {
    let (log, listening) = Log::start();
    let started = runtime.block_on(guest.start(1, None)).and_then(|started| {
        let declared = entry.check_declared(&started.registration);
        declared.map_err(Failure::new).map(|()| started)
    });
    drop(listening);
    let lines = log.since(0).into_iter();
    for line in lines.filter(|line| line.is_warning && line.proxy.is_some()) {
        say!("  │  ! {}", Untrusted::new(line.text));
    }
    match started {
        Ok(_) if !in_full => true,
        Ok(started) => {
            for line in asks::compare(&started.registration, &guest.grant) {
                say!("  │  {line}");
            }
            if guest.grant.has("tools") {
                for line in runtime.block_on(left_out(started)) {
                    say!("  │  ! {}", Untrusted::new(line));
                }
            }
            true
        }
        Err(failure) => {
            say!("  │  does not start");
            let wrong = format!("it does not start: {failure}{}", failure.details());
            tell!("acp-chain: {}", manifest.about(entry, &wrong));
            false
        }
    }
}

/// Warnings about the lists of a component: entries that no agent receives, and why.
async fn left_out(started: Started) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut part, offers) = (started.part, started.registration.offers);
    let is_listed = |offer: &Offer| offers.has(*offer) && !offer.list().is_empty();
    for offer in Offer::ALL.into_iter().filter(is_listed) {
        let (again, reply) = part.call(Event::List(offer, None)).await;
        part = again;
        let what = offer.as_str();
        let why = match reply.outcome {
            Outcome::Decided(Action::Answer(list)) => Catalog::read(list.body()),
            Outcome::Refused(why) => Err(why),
            Outcome::Broke(failure) => {
                lines.push(format!("breaks when it lists its {what}: {failure}"));
                break;
            }
            Outcome::Decided(_) | Outcome::Told => continue,
        };
        lines.extend(match why {
            Ok(catalog) => {
                let why = catalog.left_out();
                why.map(|why| format!("{what} that it lists are left out: {why}"))
            }
            Err(why) => Some(format!("none of its {what} are available: {why}")),
        });
    }
    lines
}
