//! `acp-chain agent update`: checks a registry for newer versions.

use std::process::ExitCode;

use acp_chain_agents::{Changing, Install, Kind, Record, Registry, changes, is_older};

use super::place::{self, Fetcher, NO_AGENTS, RegistryArgs, shown, shown_of_installed};
use crate::extension::consent::agrees;
use crate::{Result, code_if, report_one};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

#[derive(Debug, clap::Args)]
pub struct Update {
    /// The agents; by default, all of them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    from: RegistryArgs,
    /// Do not ask; versions that are older than yours need `--downgrade`, too
    #[arg(long)]
    yes: bool,
    /// Also take an older version
    #[arg(long)]
    downgrade: bool,
}

impl Update {
    pub fn main(self) -> Result<ExitCode> {
        let store = place::store_to_change()?;
        let changing = store.change().map_err(shown)?;
        let names = if self.names.is_empty() {
            store.names().map_err(shown)?
        } else {
            self.names.clone()
        };
        if names.is_empty() {
            show!("{NO_AGENTS}");
        }
        let mut succeeded = true;
        let mut records = Vec::new();
        for name in &names {
            match store.find(name).map_err(shown_of_installed) {
                Ok(record) if record.kind == Kind::Command => {
                    say!("`{name}` stays: it is a command of your own.");
                }
                Ok(record) => records.push(record),
                Err(error) => {
                    tell!("acp-chain: {error}");
                    succeeded = false;
                }
            }
        }
        if records.is_empty() {
            return Ok(code_if(succeeded));
        }
        let fetcher = Fetcher::new()?;
        let mut registries: Vec<(Option<&String>, Registry)> = Vec::new();
        for record in &records {
            let known = |(from, _): &(Option<&String>, _)| *from == record.registry.as_ref();
            let updated = match registries.iter().position(known) {
                Some(at) => Ok(at),
                None => self.from.read(&fetcher, Some(record)).map(|registry| {
                    registries.push((record.registry.as_ref(), registry));
                    registries.len() - 1
                }),
            };
            let updated =
                updated.and_then(|at| self.update(&changing, &registries[at].1, &fetcher, record));
            succeeded &= report_one(&record.name, updated);
        }
        Ok(code_if(succeeded))
    }

    fn update(
        &self,
        changing: &Changing,
        registry: &Registry,
        fetcher: &Fetcher,
        before: &Record,
    ) -> Result<()> {
        let name = &before.name;
        let entry = registry.named(name).map_err(shown)?;
        // Keeps the kind of the installed version, if the registry still offers it.
        let same = registry.offer(&entry, Some(before.kind));
        let offer = same.or_else(|_| registry.offer(&entry, None));
        let install = Install {
            changing,
            registry,
            entry: &entry,
            offer: offer.map_err(shown)?,
            before: Some(before),
            web: fetcher,
        };
        let Some(staged) = install.stage().map_err(shown)? else {
            say!("`{name}` is up to date.");
            return Ok(());
        };
        let versions = [before, &staged.record].map(|record| record.version.as_deref());
        let [current, offered] = versions.map(Option::unwrap_or_default);
        let goes_back = is_older(offered, current);
        let [old, new] = [current, offered].map(|version| quote(version, MAX_QUOTE));
        say!("`{name}`: {old} → {new}");
        if goes_back {
            say!("! it goes back: {new} is older than yours");
        }
        if before.registry != staged.record.registry {
            let registry = quote(before.registry.as_deref().unwrap_or_default(), MAX_QUOTE);
            say!("! it came from another registry: {registry}");
        }
        for change in changes(before, &staged.record) {
            say!("! it {}", Untrusted::new(change));
        }
        place::show(&entry, &staged);
        // Faults that a version has mended come back with an older one.
        if goes_back && self.yes && !self.downgrade {
            return Err(wrong!(
                "version {new} is older than yours, {old}; nothing was changed. `--downgrade` takes it"
            ));
        }
        if agrees(self.yes, "Install it?")? {
            staged.put(changing).map_err(shown)?;
            say!("`{name}` is updated; restart it where it is running.");
        }
        Ok(())
    }
}
