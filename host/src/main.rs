//! The `acp-chain` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    acp_chain::cli::main()
}
