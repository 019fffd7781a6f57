//! `acp-chain limits`: every limit of a proxy, as a table.

use crate::Result;
use acp_chain_app::home;
use acp_chain_channel::limits;

pub fn main() -> Result<()> {
    let user = home::user()?;
    say!("{}", limits::markdown(&user.ceilings).trim_end());
    Ok(())
}
