//! How rules are printed, and written into a manifest.

use std::path::{Path, PathBuf};

use acp_chain_channel::limits::MANIFEST;
use acp_chain_manifest::Edit;
use acp_chain_permissions::{Rule, insert};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

use crate::Result;
use crate::extension::place::{Changes, ManifestArg};

/// The proxy whose rules these are.
const PROXY: &str = "permissions";

#[derive(Debug, clap::Args)]
pub struct Output {
    #[command(flatten)]
    manifest: ManifestArg,
    /// Add the rules to the manifest, which must have the proxy `permissions`: those that deny in front of its own,
    /// those that allow behind them
    #[arg(long)]
    pub write: bool,
    /// Print JSON instead of TOML
    #[arg(long)]
    pub json: bool,
}

impl Output {
    /// Prints the rules as a manifest would have them.
    pub fn print(batches: &[&[Rule]]) -> Result<()> {
        if batches.iter().all(|rules| rules.is_empty()) {
            return Ok(());
        }
        let mut edit = Edit::parse("", Path::new("acp-chain.toml"))?;
        edit.add(PROXY);
        put(&mut edit, batches)?;
        say!("{}", edit.text());
        Ok(())
    }

    /// Adds the rules to the manifest, if that is wanted: by default to this one of a project, or to the user's own.
    pub fn write(self, batches: &[&[Rule]], manifest: Option<PathBuf>) -> Result<()> {
        let count: usize = batches.iter().map(|rules| rules.len()).sum();
        if !self.write || count == 0 {
            return Ok(());
        }
        // Manifests are written behind links, and what a project allows itself must not reach the user's own.
        if let Some(link) = manifest.iter().find(|path| path.is_symlink())
            && !self.manifest.is_named()
        {
            let shown = quote(&link.display().to_string(), MAX_QUOTE);
            return Err(wrong!(
                "{shown} is a link, and may lead out of the project; nothing was changed. `--manifest` names a file"
            ));
        }
        let place = self.manifest.or(manifest).place(Changes::Manifest)?;
        let changing = place.store.change()?;
        let mut edit = place.edit()?;
        let shown = place.shown();
        if !edit.has(PROXY) {
            let option = place.option();
            return Err(wrong!(
                "{shown} has no proxy `{PROXY}`; nothing was changed. `acp-chain add {PROXY}{option}` adds it"
            ));
        }
        let added = put(&mut edit, batches)
            .map_err(|error| wrong!("{shown}: {error}; nothing was changed"))?;
        let text = edit.text();
        if text.len() > MANIFEST {
            return Err(wrong!(
                "{shown} would be too long with {added} more rules; nothing was changed"
            ));
        }
        changing.write_manifest(&place.manifest, &text)?;
        if self.json {
            return Ok(());
        }
        match added {
            0 => say!("# {shown} has all of these rules already."),
            1 => say!("# {shown} has 1 more rule."),
            _ => say!("# {shown} has {added} more rules."),
        }
        Ok(())
    }
}

/// Adds the rules, and says how many were not there yet.
fn put(edit: &mut Edit, batches: &[&[Rule]]) -> Result<usize> {
    let config = edit.config(PROXY).ok_or("there is no such proxy")?;
    let mut count = 0;
    for rules in batches {
        count += insert(config, rules)?;
    }
    Ok(count)
}
