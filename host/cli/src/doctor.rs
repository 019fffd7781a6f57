//! `acp-chain doctor`: checks the installation and the chain here, and prints problems with their fixes.
//!
//! It is read-only: it writes, fetches and compiles nothing, and starts no proxy.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use acp_chain_doctor::{Finding, Remedy, State};
use acp_chain_interactive::fitted;
use console::style;
use serde::Serialize;

use super::agent::{AgentArgs, by_default};
use super::out::counted;
use super::{code_if, launched};
use crate::path::path;

/// The version of the format of `--json`.
const VERSION: u32 = 1;

#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("words", by_default("all that are installed or launched by editors")))]
#[command(after_help = "\
Examples:
  acp-chain doctor
  acp-chain doctor --json
  acp-chain doctor gemini
  acp-chain doctor -- claude-agent-acp

Exit codes:
  0  there is no problem
  1  there is a problem
  2  the command line is wrong")]
pub struct Doctor {
    /// Check the chain of this manifest; by default, your own, and the project of the current folder
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How long an agent may take to answer; a disk may take twice as long, plus 5 seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// An agent to start and send `initialize`. By default, the installed agents, and those that editors launch
    /// through acp-chain
    #[command(flatten)]
    agent: AgentArgs,
}

/// A finding, for `--json`.
#[derive(Serialize)]
struct Entry<'f> {
    area: &'static str,
    #[serde(flatten)]
    finding: &'f Finding,
}

#[derive(Serialize)]
struct Report<'f> {
    version: u32,
    problems: usize,
    notes: usize,
    findings: Vec<Entry<'f>>,
}

impl Doctor {
    pub fn main(self, log_file: Option<PathBuf>) -> ExitCode {
        let doctor = acp_chain_doctor::Doctor {
            manifest: self.manifest,
            agent: self.agent.choice(),
            patience: Duration::from_secs(self.timeout),
            log_file,
            options: launched::options,
        };
        let areas = doctor.examine();
        let findings = || areas.iter().flat_map(|(_, findings)| findings);
        let count = |state| findings().filter(|finding| finding.state == state).count();
        let (problems, notes) = (count(State::Problem), count(State::Note));
        if self.json {
            let entries = areas.iter().flat_map(|(area, findings)| {
                findings.iter().map(|finding| Entry { area, finding })
            });
            let report = Report {
                version: VERSION,
                problems,
                notes,
                findings: entries.collect(),
            };
            let text = serde_json::to_string_pretty(&report);
            say!("{}", text.unwrap_or_default());
        } else {
            for (area, findings) in &areas {
                print(area, findings);
            }
            say!("{}", summary(problems, notes));
        }
        code_if(problems == 0)
    }
}

/// How far the text of a finding is indented.
const INDENT: usize = 11;

/// Prints an area. Commands are not broken, so that they can be copied.
fn print(area: &str, findings: &[Finding]) {
    say!("{}", style(area).bold());
    for finding in findings {
        let state = match finding.state {
            State::Fine => style("fine   ").green(),
            State::Note => style("note   ").yellow(),
            State::Problem => style("problem").red().bold(),
        };
        say!("  {state}  {}", fitted(&finding.says, INDENT));
        for line in &finding.lines {
            say!("           | {line}");
        }
        match &finding.remedy {
            Some(Remedy::Command(command)) => say!("           → {}", style(command).cyan()),
            Some(Remedy::Step(step)) => say!("           → {}", fitted(step, INDENT + 2)),
            None => {}
        }
    }
    say!("");
}

fn summary(problems: usize, notes: usize) -> String {
    match (problems, notes) {
        (0, 0) => "Everything is fine.".to_owned(),
        (0, _) => format!("Everything works; {}.", counted(notes, "note")),
        _ => {
            let (problems, notes) = (counted(problems, "problem"), counted(notes, "note"));
            format!("{problems}, {notes}. The fix is after each arrow.")
        }
    }
}
