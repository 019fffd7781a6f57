//! Checks the installation and the chain here, and finds problems with their fixes.
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
//! | `values` | stored values of proxies |
//! | `agent` | the agents: whether they start and answer |
//! | `answer` | starts one agent, and sends it `initialize` |
//! | `runtime` | interpreters of agents that are scripts |
//! | `editors` | the agents that editors launch |
//! | `log` | the log, and the last failure of each proxy in it |

#![forbid(unsafe_code)]

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
mod values;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use acp_chain_app::agent::AgentChoice;
use acp_chain_app::run::ChainOptions;
use acp_chain_app::shell;
use acp_chain_setup::Agent;

pub use self::editors::{extensions, launched, missing_program, setup_command};
pub use self::finding::{Finding, Remedy, State};

/// How long an area may take beyond the time of agents. For an agent, the version of its interpreter is requested, too.
const LONGEST: Duration = Duration::from_secs(5);

/// The areas, in order.
const AREAS: [(&str, Look); 9] = [
    ("program", |doctor| Ok(program::look(doctor))),
    ("configuration", configuration::look),
    ("project", project::look),
    ("chain", chain::look),
    ("store", |doctor| Ok(store::look(doctor))),
    ("values", values::look),
    ("agent", agent::look),
    ("editors", |doctor| Ok(editors::look(doctor))),
    ("log", log::look),
];

type Look = fn(&Doctor) -> Findings;

/// The findings of an area, or the problem that leaves nothing else to find.
type Findings = Result<Vec<Finding>, Finding>;

/// What is checked, and how.
#[derive(Clone, Debug)]
pub struct Doctor {
    /// Checks the chain of this manifest; by default, the user's own, and the project of the current folder.
    pub manifest: Option<PathBuf>,
    /// The agent to start; by default, the installed ones, and those that editors launch through acp-chain.
    pub agent: AgentChoice,
    /// How long an agent may take.
    pub patience: Duration,
    /// The log that the command line names.
    pub log_file: Option<PathBuf>,
    /// Reads what an editor launches, if that is acp-chain.
    pub options: fn(&Agent) -> Option<ChainOptions>,
}

impl Doctor {
    /// Examines all areas concurrently.
    pub fn examine(self) -> Vec<(&'static str, Vec<Finding>)> {
        let doctor = Arc::new(self);
        let longest = LONGEST + 2 * doctor.patience;
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
        let _ = thread::Builder::new().spawn(move || tell.send(all(look(&self))));
        found
    }

    /// The end of an extension command that selects the same chain.
    fn about_chain(&self) -> String {
        match &self.manifest {
            Some(path) => format!(" --manifest {}", shell::word(path)),
            None => String::new(),
        }
    }
}

fn all(findings: Findings) -> Vec<Finding> {
    findings.unwrap_or_else(|problem| vec![problem])
}
