//! The `acp-chain` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    acp_chain_cli::main()
}
