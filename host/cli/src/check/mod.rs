//! `acp-chain check`: prints what would run in a folder, or with a manifest, without running it. Guards are started, in
//! their sandboxes and without neighbours, because only a started guard reports rules that do not guard; `--start`
//! starts all components.

mod here;

use std::path::PathBuf;

use tokio::runtime::Runtime;

use super::progress::TERMINAL;
use crate::Result;
use crate::path::path;
use acp_chain::host::{LoadedProxy, ProxyPlan};
use acp_chain_app::agent::{command_line, find};
use acp_chain_app::hooks::HooksPlan;
use acp_chain_app::plan::{self, give_up_rights};
use acp_chain_app::protected::{self, NamedFiles};
use acp_chain_app::{home, proxies};
use acp_chain_channel::limits::about;
use acp_chain_channel::{Failure, Source, Started};
use acp_chain_extension::Location;
use acp_chain_kit::conformance::{asks, lists};
use acp_chain_kit::transcript::log::Log;
use acp_chain_manifest::{
    ComponentEntry, Manifest, NativeEntry, Order, ProxyEntry, ProxyKind, User,
};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_sandbox::{ComponentError, Directories, Guest};
use acp_chain_terms::words::{self, Abilities};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain check
  acp-chain check --with redact --start
  acp-chain check --manifest acp-chain.toml --start")]
pub struct Check {
    /// The manifest; by default, what would run in the current folder: your own chain, and that of the project
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// Also append this extension to the chain, as `run` does; guards go next to the agent
    #[arg(long, value_name = "EXTENSION")]
    with: Vec<String>,
    /// Also start each component, and compare its subscriptions with its powers
    #[arg(long)]
    start: bool,
}

impl Check {
    /// Prints the chain, and returns whether all of it could run. Fails if there is no chain to print.
    pub fn main(self, log: Option<PathBuf>) -> Result<bool> {
        home::check_owners()?;
        let (user, installed) = home::settings()?;
        let mut manifest = Manifest::of(self.manifest.as_deref(), &user, &installed)?;
        for name in manifest.add(&self.with, &user, &installed)? {
            say!("`--with {name}` adds nothing: the chain has `{name}` already.");
        }
        let proxies = proxies::open(&manifest)?;
        let named = NamedFiles::new(manifest.agent.clone(), log.as_slice());
        protected::check(&manifest, &proxies, &named)?;
        let project = match self.manifest {
            Some(_) => None,
            None => {
                let here = acp_chain_app::here()?;
                let project =
                    here::print(&here, &manifest, &user, &installed, &named.and(&manifest))?;
                say!("");
                project
            }
        };
        let runtime = acp_chain_app::runtime()?;
        let (theirs, about_them) = match project {
            Some(project) => (project.proxies, Some(project.manifest)),
            None => (Vec::new(), None),
        };
        let mut wanted = HooksPlan::new(None, &user, &manifest, &proxies);
        if let Some(about_them) = &about_them {
            wanted = wanted.and_of_project(&user, about_them, &theirs);
        }
        // The agent's package cannot be read later.
        let agent = manifest.agent.as_ref();
        let hooks = agent.and_then(|agent| wanted.expected(agent));
        let given = proxies.iter().chain(&theirs);
        let given: Vec<_> = given.map(|proxy| proxy.directories.clone()).collect();
        let mut own = load(&runtime, proxies)?;
        let mut theirs = load(&runtime, theirs)?;
        let rights = give_up_rights(&given, None);
        let are_moved = about_them.is_some() || manifest.order == Order::GuardsLast;
        let guards = self.take_guards(&mut own, are_moved, &runtime);
        say!("client");
        let mut valid = self.print(&runtime, &user, &manifest, own);
        if let Some(about_them) = &about_them {
            let are_moved = about_them.order == Order::GuardsLast;
            let behind = self.take_guards(&mut theirs, are_moved, &runtime);
            theirs.extend(behind);
            say!("  │");
            say!("  │  the project's proxies:");
            valid &= self.print(&runtime, &user, about_them, theirs);
        }
        if !guards.is_empty() {
            say!("  │");
            say!("  │  your guards, next to the agent:");
        }
        valid &= self.print(&runtime, &user, &manifest, guards);
        say!("  │");
        match &manifest.agent {
            Some(agent) => {
                say!("agent  {}", command_line(agent));
                if let Some(hooks) = hooks {
                    show!("hooks  {}", hooks.text);
                    if !hooks.starts {
                        tell!("acp-chain: hooks: {}", hooks.text);
                        valid = false;
                    }
                }
            }
            None => say!("agent  named on the command line"),
        }
        say!("");
        show!("While it runs, acp-chain itself {rights}.");
        Ok(valid)
    }

    /// Takes the guards out of the proxies, if the chain moves them behind all others.
    fn take_guards(
        &self,
        proxies: &mut Vec<Proxy>,
        are_moved: bool,
        runtime: &Runtime,
    ) -> Vec<Proxy> {
        let is_guard = |proxy: &mut Proxy| are_moved && proxy.is_guard(self.start, runtime);
        proxies.extract_if(.., is_guard).collect()
    }

    /// Prints proxies; returns whether all of them could run.
    fn print(
        &self,
        runtime: &Runtime,
        user: &User,
        manifest: &Manifest,
        proxies: Vec<Proxy>,
    ) -> bool {
        let mut valid = true;
        for proxy in proxies {
            let starts = self.start || proxy.is_packaged_as_guard();
            let LoadedProxy { plan, component } = proxy.loaded;
            let ProxyPlan { entry, directories } = &plan;
            say!("  │");
            valid &= match &entry.kind {
                ProxyKind::Component(terms) => {
                    let terms = &resolved(terms, directories);
                    let guest =
                        component.and_then(|guest| print_proxy(guest, manifest, entry, terms));
                    print_mounts(directories);
                    let can_guard = print_guarding(manifest, entry);
                    can_guard
                        & match guest {
                            Some(guest) if starts => {
                                let start = proxy.start.unwrap_or_else(|| start(runtime, &guest));
                                let (in_full, asked) = (self.start, proxy.asked.as_deref());
                                print_start(runtime, &guest, start, manifest, entry, in_full, asked)
                            }
                            guest => guest.is_some(),
                        }
                }
                ProxyKind::Native(native) => {
                    print_program(entry, native, user);
                    if !proxy.is_found {
                        let wrong = "the program was not found; give a full path, or add its folder to PATH";
                        tell!("acp-chain: {}", manifest.about(entry, &wrong));
                    }
                    user.native && proxy.is_found
                }
            };
        }
        valid
    }
}

/// A proxy of a chain, ready to be printed.
struct Proxy {
    loaded: LoadedProxy,
    /// How it started, if it was started already.
    start: Option<Start>,
    /// The powers that it asks for, if it is an extension.
    asked: Option<Vec<String>>,
    /// Whether its program is there, if it is one.
    is_found: bool,
}

/// The start of a component, and the warnings in its log.
struct Start {
    outcome: Result<Started, Failure>,
    warnings: Vec<String>,
}

impl Proxy {
    /// Whether the component is a guard: by its package, or if it `starts`, by its registration. A component that does
    /// not start is none.
    fn is_guard(&mut self, starts: bool, runtime: &Runtime) -> bool {
        if !starts {
            return self.is_packaged_as_guard();
        }
        let Some(Ok(guest)) = &self.loaded.component else {
            return false;
        };
        let start = self.start.get_or_insert_with(|| start(runtime, guest));
        let started = start.outcome.as_ref();
        started.is_ok_and(|started| started.registration.guard)
    }

    /// Whether the package of the component declares a guard.
    fn is_packaged_as_guard(&self) -> bool {
        matches!(&self.loaded.plan.entry.kind, ProxyKind::Component(component) if component.is_guard)
    }
}

/// Loads proxies.
fn load(runtime: &Runtime, proxies: Vec<ProxyPlan>) -> Result<Vec<Proxy>> {
    let loaded = runtime.block_on(plan::load(None, proxies, &TERMINAL))?;
    let proxies = loaded.into_iter().map(|loaded| Proxy {
        asked: asked(&loaded.plan.entry),
        is_found: is_found(&loaded.plan.entry),
        loaded,
        start: None,
    });
    Ok(proxies.collect())
}

/// Whether the program of a native proxy is there, which cannot be seen later.
fn is_found(entry: &ProxyEntry) -> bool {
    match &entry.kind {
        ProxyKind::Native(NativeEntry { command, .. }) => find(command, &command.program).is_some(),
        ProxyKind::Component(_) => true,
    }
}

/// The powers that an extension asks for; `None` for another proxy, which may have any.
fn asked(entry: &ProxyEntry) -> Option<Vec<String>> {
    let ProxyKind::Component(ComponentEntry { location, .. }) = &entry.kind else {
        return None;
    };
    if !matches!(location, Location::Stored(_) | Location::Carried(_)) {
        return None;
    }
    let powers = location.package().ok()?.asks.powers.into_iter();
    Some(powers.map(|asked| asked.power).collect())
}

/// Whether a proxy that is a guard can guard; reports it if not.
fn print_guarding(manifest: &Manifest, entry: &ProxyEntry) -> bool {
    if let Err(why) = entry.check_guard() {
        tell!("acp-chain: {}", manifest.about(entry, &why));
        return false;
    }
    if let Some(why) = entry.cannot_guard() {
        show!("  │  ! {why}");
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
    for line in words::of_program(native, entry.on_failure, user) {
        say!("  │  {line}");
    }
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
    say!("  │  {}", about(component.size()));
    for line in words::terms(terms, entry.on_failure, &abilities) {
        say!("  │  {line}");
    }
    Some(guest)
}

/// Starts a component.
fn start(runtime: &Runtime, guest: &Guest) -> Start {
    let (log, listening) = Log::start();
    let outcome = runtime.block_on(guest.start(1, None));
    drop(listening);
    let lines = log.since(0).into_iter();
    let warnings = lines.filter(|line| line.is_warning && line.proxy.is_some());
    Start {
        outcome,
        warnings: warnings.map(|line| line.text).collect(),
    }
}

/// Prints the warnings of a proxy that was started; `in_full`, also its subscriptions, compared with its powers, and
/// with those that it has `asked` for, if it is an extension. Returns whether the proxy starts.
fn print_start(
    runtime: &Runtime,
    guest: &Guest,
    start: Start,
    manifest: &Manifest,
    entry: &ProxyEntry,
    in_full: bool,
    asked: Option<&[String]>,
) -> bool {
    let started = start.outcome.and_then(|started| {
        let declared = entry.check_declared(&started.registration);
        declared.map_err(Failure::new).map(|()| started)
    });
    for text in start.warnings {
        show!("  │  ! {}", Untrusted::new(text));
    }
    match started {
        Ok(_) if !in_full => true,
        Ok(started) => {
            for line in asks::compare(&started.registration, &guest.grant, asked) {
                say!("  │  {line}");
            }
            if guest.grant.has("tools") {
                for line in runtime.block_on(lists::left_out(started)) {
                    show!("  │  ! {}", Untrusted::new(line));
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
