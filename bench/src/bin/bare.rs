//! The second floor, see `acp_chain_bench::bare`: `bench-bare COMPONENT COUNT AGENT`.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let [component, count, agent, args @ ..] = &args[..] else {
        anyhow::bail!("usage: bench-bare COMPONENT COUNT AGENT");
    };
    let count = count.to_str().and_then(|count| count.parse().ok());
    let count = count.context("COUNT is not a number")?;
    acp_chain_bench::bare::run(Path::new(component), count, Command::new(agent).args(args))
}
