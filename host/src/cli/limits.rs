//! `acp-chain limits`: every limit of a proxy, as a table.

use std::process::ExitCode;

use crate::limits;

pub fn main() -> ExitCode {
    match super::user() {
        Ok(user) => {
            print!("{}", limits::markdown(&user.ceilings));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("acp-chain: {error}");
            ExitCode::FAILURE
        }
    }
}
