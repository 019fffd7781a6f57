//! `acp-chain top`: running chains, and what their proxies do.

use std::io::{self, IsTerminal};

use crate::{Result, out};
use acp_chain_top::{Snapshot, show};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain top
  acp-chain top --once
  acp-chain top --json")]
pub struct Top {
    /// Listen for a second, print a table and end
    #[arg(long)]
    once: bool,
    /// Listen for a second, print JSON and end
    #[arg(long)]
    json: bool,
}

impl Top {
    pub fn main(self) -> Result<()> {
        if self.once || self.json {
            return Ok(self.once()?);
        }
        if !io::stdin().is_terminal() || !out::is_terminal() {
            return Err(wrong!(
                "there is no terminal to draw on; `--once` prints a table"
            ));
        }
        Ok(show()?)
    }

    fn once(&self) -> Result<(), acp_chain_top::TopError> {
        let snapshot = Snapshot::take()?;
        for (process, why) in snapshot.failures() {
            tell!("acp-chain: process {process}: {why}");
        }
        if self.json {
            say!("{:#}", snapshot.json());
        } else if snapshot.is_empty() {
            say!("No chain runs.");
        } else {
            put!("{}", snapshot.table());
        }
        Ok(())
    }
}
