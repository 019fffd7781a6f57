//! `acp-chain demo`: two scripted turns through a real chain, with what each proxy did.

pub mod agent;

use std::process::ExitCode;

use acp_chain_interactive::demo::{PROXIES, Stage};
use acp_chain_interactive::typed::picture::columns;
use acp_chain_interactive::wrapped;
use acp_chain_picture::{chain, legs, turn};

use crate::Result;

/// What is said first.
const BEGINNING: [&str; 2] = [
    "An editor and an agent that play a script, with a real chain between them.",
    "Nothing of yours is used, and the keys are made up.",
];

/// What is said last.
const NEXT: &str = "Next: `acp-chain try --with redact -- AGENT` takes a turn with an agent of yours; `acp-chain setup` \
                    puts the chain in front of it in your editor.";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain demo
  acp-chain demo --hops

Exit codes:
  0  each proxy did what it should
  1  one did not, or the chain did not run")]
pub struct Demo {
    /// Also print each message, hop by hop
    #[arg(long)]
    hops: bool,
}

impl Demo {
    pub fn main(self) -> Result<ExitCode> {
        let stage = Stage::set()?;
        for line in BEGINNING {
            say_wrapped(line);
        }
        say!("\n{}\n", chain(PROXIES));
        let played = stage.play()?;
        let scenes = played.scenes();
        for scene in &scenes {
            say!("{}\n", scene.lines(columns()).join("\n"));
        }
        if self.hops {
            let hops =
                legs(&played.trace).map_err(|error| wrong!("the trace cannot be read: {error}"))?;
            say!("{}\n", turn(&hops, columns()));
        }
        if scenes.iter().any(|scene| !scene.is_kept) {
            tell!(
                "acp-chain: the chain did not do what this should show; `acp-chain doctor` says more"
            );
            return Ok(ExitCode::FAILURE);
        }
        say_wrapped(NEXT);
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints a line in as many as the terminal needs.
fn say_wrapped(line: &str) {
    say!("{}", wrapped(line, columns()).join("\n"));
}
