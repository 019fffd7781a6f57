//! `acp-chain remove`: removes an extension from a manifest.

use super::place::{Changes, ManifestArg};
use crate::Result;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain remove shout
  acp-chain remove shout --manifest acp-chain.toml")]
pub struct Remove {
    /// Its name in the manifest
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    named: ManifestArg,
}

impl Remove {
    /// Writes the manifest, then the lock. The store keeps the component until `acp-chain gc`.
    pub fn main(self) -> Result<()> {
        let place = self.named.place(Changes::Manifest)?;
        let changing = place.store.change()?;
        let (mut lock, mut edit) = (place.lock()?, place.edit()?);
        let manifest = place.shown();
        let configured = edit.configured(&self.name);
        let was_used = edit.remove(&self.name);
        let was_locked = lock.remove(&self.name).is_some();
        let name = quote(&self.name, MAX_QUOTE);
        if !was_used && !was_locked {
            return Err(wrong!(
                "{manifest} uses no extension `{name}`; `acp-chain list{}` shows those that it uses",
                place.option()
            ));
        }
        if was_used {
            changing.write_manifest(&place.manifest, &edit.text())?;
        }
        if was_locked {
            changing.write(&lock)?;
        }
        let rest = if was_locked {
            " `acp-chain gc` removes unused components."
        } else {
            ""
        };
        say!("{manifest} no longer uses `{name}`.{rest}");
        if let Some(entry) = configured {
            say!("Its entry was");
            for line in entry.lines() {
                let line = format!("  {}", Untrusted::new(line));
                say!("{}", line.trim_end());
            }
        }
        Ok(())
    }
}
