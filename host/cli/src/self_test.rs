//! `acp-chain self-test`: one line for each promise of the program, and whether it holds on this machine.

use std::process::ExitCode;

use acp_chain_self_test::{LONGEST_NAME, Reason, Verdict, run};
use console::style;

use crate::{Result, code_if};

pub const HELP: &str = "\
Examples:
  acp-chain self-test

Exit codes:
  0  each promise holds that this system can keep
  1  one does not hold, or could not be looked at";

pub fn main() -> Result<ExitCode> {
    let mut broken = 0;
    run(|name, verdict| {
        print(name, verdict);
        broken += usize::from(matches!(verdict, Err(Reason::Broken(_))));
    })?;
    match broken {
        0 => say!("\nEverything holds that this system can keep."),
        1 => say!("\n1 promise does not hold here."),
        _ => say!("\n{broken} promises do not hold here."),
    }
    Ok(code_if(broken == 0))
}

fn print(name: &str, verdict: &Verdict) {
    let (mark, text) = match verdict {
        Ok(seen) => (style("✓").green(), seen),
        Err(Reason::Broken(why)) => (style("✗").red(), why),
        Err(Reason::NotHere(why)) => (style("–").yellow(), why),
    };
    show!("{mark} {name:LONGEST_NAME$}  {text}");
}
