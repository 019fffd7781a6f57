//! `acp-chain gc`: removes components that no lock names any longer.

use super::place::{Changes, ManifestArg};
use crate::Result;
use acp_chain_app::project;
use acp_chain_channel::limits::about;

pub fn main() -> Result<()> {
    let place = ManifestArg::default().place(Changes::Store)?;
    let changing = place.store.change()?;
    let collected = changing.collect(&project::locks()?)?;
    let components = collected.components;
    let s = if components == 1 { "" } else { "s" };
    say!(
        "{components} component{s} removed, {} freed",
        about(collected.bytes)
    );
    Ok(())
}
