//! `acp-chain mcp-shim`: agents start it as an MCP server that stands for one in the chain.

use crate::Result;
use crate::run::block_on;
use acp_chain_app::mcp_shim;

pub fn main() -> Result<()> {
    let why = block_on(async { Ok(mcp_shim::serve().await?) })?;
    tell!("acp-chain: the MCP connection ends: {why}");
    Ok(())
}
