//! `acp-chain permissions suggest`: rules made of the commands that agents ran.

use std::num::NonZeroUsize;

use acp_chain_app::home;
use acp_chain_permissions::{Recorded, RecordedCall, Suggestion, Tally};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_scan::{Format, Masks, Recording, commands};

use super::output::Output;
use crate::Result;
use crate::recordings::Recordings;
use crate::trace::each;

/// How many commands without a rule are printed.
const MOST_PRINTED: usize = 30;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain permissions suggest
  acp-chain permissions suggest --agent claude --least 10 --write
  acp-chain permissions suggest trace.jsonl --json

Recordings are looked for where `acp-chain scan` does.")]
pub struct Suggest {
    #[command(flatten)]
    recordings: Recordings,
    /// How often a command must have been run
    #[arg(long, value_name = "COUNT", default_value = "3")]
    least: NonZeroUsize,
    #[command(flatten)]
    output: Output,
}

impl Suggest {
    pub fn main(self) -> Result<()> {
        home::check_owners()?;
        let user = home::user()?;
        let mut tally = Tally::default();
        for recording in self.recordings.find(&user)? {
            match count(&recording, &mut tally) {
                // One that the user has not named does not hide the others.
                Err(error) if !self.recordings.names_traces() => tell!("acp-chain: {error}"),
                counted => counted?,
            }
        }
        let mut suggestion = tally.suggestion(self.least.get());
        let masks = Masks::default();
        for seen in &mut suggestion.others {
            seen.command = masks.shown(&seen.command);
        }
        let batches = [&suggestion.rules[..]];
        if self.output.json {
            say!("{:#}", serde_json::to_value(&suggestion)?);
        } else {
            if !self.output.write {
                Output::print(&batches)?;
            }
            print_others(&suggestion);
        }
        self.output.write(&batches, None)
    }
}

/// Counts the calls of a recording. What cannot be read of an agent's is told: the others count.
fn count(recording: &Recording, tally: &mut Tally) -> Result<()> {
    let path = &recording.path;
    if recording.format == Format::Trace {
        let mut recorded = Recorded::default();
        return each(path, |number, line| {
            if let Some(call) = recorded.call(path, number, &line) {
                tally.add(&call);
            }
            true
        });
    }
    let read = commands(recording, &mut |line, input| {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        if let Some(call) = RecordedCall::of_input(path, line, input) {
            tally.add(&call);
        }
    });
    if let Err(error) = read {
        let path = Untrusted::new(path.display());
        tell!("acp-chain: {path}: it cannot be read: {error}");
    }
    Ok(())
}

/// Prints the commands without a rule, as comments of TOML.
fn print_others(suggestion: &Suggestion) {
    let Suggestion { others, calls, .. } = suggestion;
    match calls {
        0 => say!("# No commands were found that an agent ran."),
        1 => say!("# 1 command was run"),
        _ => say!("# {calls} commands were run"),
    }
    for seen in others.iter().take(MOST_PRINTED) {
        let often = match seen.count {
            1 => "seen once".to_owned(),
            count => format!("seen {count} times"),
        };
        say!("# no rule: {} ({often}): {}", seen.command, seen.why);
    }
    let more = others.len().saturating_sub(MOST_PRINTED) + suggestion.uncounted;
    if more > 0 {
        say!("# no rule: {more} others");
    }
}
