//! `acp-chain agent list`: the installed agents, or those of the registry.

use super::place::{Fetcher, NO_AGENTS, RegistryArgs, command, shown};
use crate::Result;
use acp_chain_app::agent::store;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

#[derive(Debug, clap::Args)]
#[command(mut_arg("registry", |arg| arg.requires("available")))]
pub struct List {
    /// List those in the registry
    #[arg(long)]
    available: bool,
    #[command(flatten)]
    from: RegistryArgs,
}

impl List {
    pub fn main(self) -> Result<()> {
        if self.available {
            self.available()
        } else {
            installed()
        }
    }

    fn available(&self) -> Result<()> {
        let registry = self.from.read(&Fetcher::new()?, None)?;
        for entry in registry.entries() {
            match entry {
                Ok(entry) => {
                    let offer = registry.offer(&entry, None);
                    let kind = offer.map_or("not for this machine", |offer| offer.kind().as_str());
                    let version = quote(&entry.version, MAX_QUOTE);
                    let description = quote(&entry.description, MAX_QUOTE);
                    say!("{} {version} ({kind})\n  {description}", entry.id);
                }
                Err(error) => say!("! {}", shown(error)),
            }
        }
        Ok(())
    }
}

fn installed() -> Result<()> {
    let store = store()?;
    let names = store.names().map_err(shown)?;
    for name in &names {
        let record = match store.find(name) {
            Ok(record) => record,
            Err(error) => {
                say!("{name}\n  ! {}", shown(error));
                continue;
            }
        };
        let version = quote(record.version.as_deref().unwrap_or_default(), MAX_QUOTE);
        let space = if version.is_empty() { "" } else { " " };
        say!("{name}{space}{version} ({})", record.kind.as_str());
        say!("  {}", command(&record));
        if let Err(error) = record.check() {
            say!("  ! {}", shown(error));
        }
    }
    if names.is_empty() {
        show!("{NO_AGENTS}");
    }
    Ok(())
}
