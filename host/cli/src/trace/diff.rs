//! `acp-chain trace diff`: the differences of two runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::{Result, code_if};
use acp_chain_trace::{Run, Side, Turn, diff};
use console::style;

use super::{each, empty};
use acp_chain_rpc::untrusted::Untrusted;

/// How many bytes of a step are shown.
const STEP: usize = 600;

/// How many equal steps are shown around a different one.
const AROUND: usize = 2;

#[derive(Debug, clap::Args)]
pub struct Diff {
    /// The trace of a run
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The trace of another
    #[arg(value_name = "B")]
    second: PathBuf,
}

impl Diff {
    pub fn main(self) -> Result<ExitCode> {
        let (first, second) = (run(&self.first)?, run(&self.second)?);
        let differences = diff(&first, &second);
        for difference in &differences {
            say!("{}", style(place(difference.turn)).bold());
            let steps = &difference.steps;
            let differs = |at: usize| steps[at].0 != Side::Both;
            for (at, (side, step)) in steps.iter().enumerate() {
                let around = at.saturating_sub(AROUND)..steps.len().min(at + AROUND + 1);
                if !around.clone().any(differs) {
                    continue;
                }
                let step = Untrusted::within(step, STEP);
                match side {
                    Side::First => say!("{}", style(format!("- {step}")).red()),
                    Side::Second => say!("{}", style(format!("+ {step}")).green()),
                    Side::Both => say!("  {step}"),
                }
            }
        }
        Ok(code_if(differences.is_empty()))
    }
}

fn run(path: &Path) -> Result<Run> {
    let (mut run, mut is_empty) = (Run::default(), true);
    each(path, |_, line| {
        run.take(&line);
        is_empty = false;
        true
    })?;
    if is_empty {
        Err(empty(path).into())
    } else {
        Ok(run)
    }
}

fn place(Turn { session, turn }: Turn) -> String {
    match (session, turn) {
        (0, _) => "outside of sessions".to_owned(),
        (session, 0) => format!("session {session}, before its first turn"),
        (session, turn) => format!("session {session}, turn {turn}"),
    }
}
