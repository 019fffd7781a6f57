//! `acp-chain limits`: every limit of a proxy, as a table.

use std::process::ExitCode;

use acp_chain_app::home;
use acp_chain_channel::limits;

pub fn main() -> ExitCode {
    match home::user() {
        Ok(user) => {
            say!("{}", limits::markdown(&user.ceilings).trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell!("acp-chain: {error}");
            ExitCode::FAILURE
        }
    }
}
