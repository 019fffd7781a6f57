//! `acp-chain limits`: every limit of a proxy.

use crate::Result;
use acp_chain_app::home;
use acp_chain_channel::limits::{self, FIXED, Limits, TABLE};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain limits
  acp-chain limits --markdown")]
pub struct LimitsCommand {
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

impl LimitsCommand {
    pub fn main(self) -> Result<()> {
        let user = home::user()?;
        if self.markdown {
            say!("{}", limits::markdown(&user.ceilings).trim_end());
            return Ok(());
        }
        let defaults = Limits::default();
        for limit in TABLE {
            let (value, ceiling) = (limit.show(&defaults), limit.show(&user.ceilings));
            show!("{}  {value}, up to {ceiling}", limit.key);
            show!("    {}; past it: {}", limit.what, limit.passing);
        }
        for fixed in FIXED {
            show!("({})  {}", fixed.name, fixed.quantity.show(fixed.value));
            show!("    {}; past it: {}", fixed.what, fixed.passing);
        }
        Ok(())
    }
}
