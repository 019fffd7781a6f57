//! `acp-chain demo-agent`: the agent of the demo, which the chain of the demo starts.

use std::path::PathBuf;

use acp_chain_interactive::demo::play_agent;

use crate::Result;

#[derive(Debug, clap::Args)]
pub struct DemoAgent {
    /// The file for the received messages
    received: PathBuf,
}

impl DemoAgent {
    pub fn main(self) -> Result<()> {
        Ok(play_agent(&self.received)?)
    }
}
