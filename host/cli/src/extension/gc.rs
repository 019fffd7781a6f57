//! `acp-chain gc`: removes components that no lock names any longer.

use std::process::ExitCode;

use super::place::Named;
use crate::Result;
use acp_chain_app::project;

pub fn main() -> Result<ExitCode> {
    let place = Named::default().place()?;
    let changing = place.store.change()?;
    let collected = changing.collect(&project::locks()?);
    let collected = collected?;
    let (components, kilobytes) = (collected.components, collected.bytes.div_ceil(1000));
    let s = if components == 1 { "" } else { "s" };
    say!("{components} component{s} removed, {kilobytes} kB freed");
    Ok(ExitCode::SUCCESS)
}
