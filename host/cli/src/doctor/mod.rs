//! `acp-chain doctor`: checks the installation and the chain here, and reports problems with their fixes.
//!
//! It is read-only: it writes, fetches and compiles nothing, and starts no proxy. The areas are independent, so a
//! problem in one hides no other, and each has a time limit.
//!
//! | file | what it is |
//! |---|---|
//! | `finding` | findings |
//! | `program` | this program, and its folders |
//! | `configuration` | the user's config.toml |
//! | `project` | the project of the current folder, and whether it is trusted |
//! | `chain` | the proxies |
//! | `store` | installed extensions, and compiled code |
//! | `agent` | the agents: whether they start and answer |
//! | `answer` | starts one agent, and sends it `initialize` |
//! | `runtime` | interpreters of agents that are scripts |
//! | `editors` | the agents that editors launch |
//! | `log` | the log, and the last failure of each proxy in it |

mod agent;
mod answer;
mod chain;
mod configuration;
mod editors;
mod finding;
mod log;
mod program;
mod project;
mod runtime;
mod store;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use console::style;
use serde::Serialize;

use self::finding::{Finding, Remedy, State};
use super::agent::{AgentArgs, by_default};
use super::project::shell;
use acp_chain_rpc::untrusted::Untrusted;

/// The version of the format of `--json`.
const VERSION: u32 = 1;

/// How long an area may take beyond the time of agents. For an agent, the version of its interpreter is requested, too.
const LONGEST: Duration = Duration::from_secs(5);

/// The areas, in order.
const AREAS: [(&str, Look); 8] = [
    ("program", program::look),
    ("configuration", configuration::look),
    ("project", project::look),
    ("chain", chain::look),
    ("store", store::look),
    ("agent", agent::look),
    ("editors", editors::look),
    ("log", log::look),
];

type Look = fn(&Doctor) -> Vec<Finding>;

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
    #[arg(long, value_name = "FILE")]
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
    /// The log that the command line names.
    #[arg(skip)]
    pub log_file: Option<PathBuf>,
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
    pub fn main(self) -> ExitCode {
        let is_json = self.json;
        let areas = self.examine();
        let findings = || areas.iter().flat_map(|(_, findings)| findings);
        let count = |state| findings().filter(|finding| finding.state == state).count();
        let (problems, notes) = (count(State::Problem), count(State::Note));
        if is_json {
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
        match problems {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    }

    /// Examines all areas concurrently.
    fn examine(self) -> Vec<(&'static str, Vec<Finding>)> {
        let doctor = Arc::new(self);
        let longest = LONGEST + 2 * doctor.patience();
        let end = Instant::now() + longest;
        let looking: Vec<_> = AREAS
            .iter()
            .map(|(area, look)| (*area, doctor.clone().begin(*look)))
            .collect();
        let areas = looking.into_iter().map(|(area, found)| {
            let left = end.saturating_duration_since(Instant::now());
            let findings = match found.recv_timeout(left) {
                Ok(findings) => findings,
                Err(RecvTimeoutError::Timeout) => vec![
                    Finding::problem(format!(
                        "this took longer than {} s: a file or a file system does not answer",
                        longest.as_secs()
                    ))
                    .step("check whether your home folder, or the current folder, is on a hanging disk"),
                ],
                Err(RecvTimeoutError::Disconnected) => vec![
                    Finding::problem("acp-chain failed while checking this; its output is above")
                        .step("report it, with the output"),
                ],
            };
            (area, findings)
        });
        areas.collect()
    }

    /// Examines an area on a separate thread, which may hang or panic.
    fn begin(self: Arc<Self>, look: Look) -> Receiver<Vec<Finding>> {
        let (tell, found) = channel();
        // If the thread cannot be started, that is reported.
        let _ = thread::Builder::new().spawn(move || tell.send(look(&self)));
        found
    }

    /// How long an agent may take.
    fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// The end of an extension command that selects the same chain.
    fn about_chain(&self) -> String {
        match &self.manifest {
            Some(path) => format!(" --manifest {}", shell::word(path)),
            None => String::new(),
        }
    }
}

/// An error if a file or folder, which need not exist yet, is not writable. Nothing is written.
fn check_place(path: &Path) -> Result<(), String> {
    use acp_chain_system::files::check_writable;

    let there = path
        .ancestors()
        .find(|above| above.symlink_metadata().is_ok());
    let there = there.unwrap_or(Path::new("/"));
    let shown = Untrusted::new(there.display());
    if there != path && !there.is_dir() {
        return Err(format!("{shown} is not a folder"));
    }
    check_writable(there).map_err(|error| format!("{shown}: {error}"))
}

/// Prints an area.
fn print(area: &str, findings: &[Finding]) {
    say!("{}", style(area).bold());
    for finding in findings {
        let state = match finding.state {
            State::Fine => style("fine   ").green(),
            State::Note => style("note   ").yellow(),
            State::Problem => style("problem").red().bold(),
        };
        say!("  {state}  {}", finding.says);
        for line in &finding.lines {
            say!("           | {line}");
        }
        match &finding.remedy {
            Some(Remedy::Command(command)) => say!("           → {}", style(command).cyan()),
            Some(Remedy::Step(step)) => say!("           → {step}"),
            None => {}
        }
    }
    say!("");
}

fn summary(problems: usize, notes: usize) -> String {
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    match (problems, notes) {
        (0, 0) => "Everything is fine.".to_owned(),
        (0, _) => format!("Everything works; {}.", count(notes, "note")),
        _ => format!(
            "{}, {}. The fix is after each arrow.",
            count(problems, "problem"),
            count(notes, "note")
        ),
    }
}
