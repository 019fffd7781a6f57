//! The subjects: the agent alone, a relay, one that calls components, chains of acp-chain, and the reference conductor.

mod chain;
mod collector;
mod process;
mod projects;
mod running;

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};

pub(crate) use chain::ours as with_ours;
pub use chain::powers;
pub(crate) use chain::scanning;
pub use collector::{Behaviour, Collector};
pub use process::{CAN_LOOK, Processors, Tree, printed_to};
pub(crate) use process::{acp_chain, command, log};
pub use running::RunningSubject;

/// The numbers of proxies of chains that show the cost of each.
pub const COUNTS: [usize; 4] = [1, 3, 5, 20];

/// The numbers of native proxies for the reference conductor.
pub const REFERENCE_COUNTS: [usize; 4] = [0, 1, 3, 5];

/// The many proxies of one chain, and how many of them subscribe in [`Family::Few`].
pub const MANY: usize = 100;
const FEW: usize = 3;

/// The prompts of [`Subject::warm`].
const WARM_UP: usize = 200;

/// The sessions on one connection in [`Family::Sessions`].
pub const SESSIONS: usize = 1000;

/// The projects of [`Family::Projects`], which share those sessions.
pub const PROJECTS: usize = 100;

/// A proxy that may do everything, with room for messages of 8 MiB.
const TERMS: &str = "limits = { memory = '512 MiB', body = '64 MiB' }
on-failure = 'refuse'
";

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// The agent alone.
    Agent,
    /// Bytes copied both ways.
    Relay,
    /// A relay that calls forwarding components for each line, with nothing around the calls.
    Bare,
    /// acp-chain without proxies.
    Empty,
    /// Proxies that see everything, with its body, and forward it.
    Forwarding,
    /// Proxies that see everything but bodies, and forward it.
    WithoutBody,
    /// Proxies that forward, or none, with a trace in a file, in which secrets are masked.
    Traced,
    /// Proxies that forward, whose turns are exported.
    Exported,
    /// Proxies that did not subscribe to the messages.
    Elsewhere,
    /// Many proxies, of which three forward, and the others did not subscribe.
    Few,
    /// Three forwarding proxies, and a thousand sessions.
    Sessions,
    /// Three forwarding proxies of the project of the one session.
    Project,
    /// Three forwarding proxies of each of a hundred projects, with ten sessions in each.
    Projects,
    /// `rules`, `permissions` and `redact`.
    Ours,
    /// Five different proxies: those three, `todo` and `project-map`.
    Five,
    /// `permissions`, which decides about the calls that the agent's hooks report.
    Calls,
    /// `redact`, which decides about the results that they report.
    Results,
    /// `redact`, with an agent without hooks.
    Redact,
    /// `two-of-three` in front of `redact`.
    TwoOfThree,
    /// `brake`, with its own limits.
    Brake,
    /// Proxies that forward, with receipts.
    Receipts,
    /// One component in Python, of 18 MB.
    Python,
    /// The reference conductor, with native proxies that forward everything.
    Reference,
}

/// The paths of everything needed.
#[derive(Clone, Debug)]
pub struct Places {
    /// The program `acp-chain`.
    pub program: PathBuf,
    /// The [`powers`] that it knows.
    pub powers: Vec<&'static str>,
    /// The components of `cargo xtask guests`.
    pub components: PathBuf,
    /// The tiny agent.
    pub agent: PathBuf,
    /// The relay.
    pub relay: PathBuf,
    /// The relay that calls components.
    pub bare: PathBuf,
    /// The reference conductor.
    pub conductor: PathBuf,
    /// A native proxy over the reference's crate.
    pub native: PathBuf,
    /// The collector that turns are exported to.
    pub collector: Collector,
    /// The recordings of real agents.
    pub recordings: PathBuf,
    /// The folder for files of the run: manifests, caches, logs.
    pub scratch: PathBuf,
}

/// A subject to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its kind.
    pub family: Family,
    /// How many proxies it has.
    pub proxies: usize,
}

impl Subject {
    /// With this many proxies.
    #[must_use]
    pub fn new(family: Family, proxies: usize) -> Self {
        Self { family, proxies }
    }

    /// How many sessions are opened on its connection.
    #[must_use]
    pub fn sessions(&self) -> usize {
        match self.family {
            Family::Sessions | Family::Projects => SESSIONS,
            _ => 1,
        }
    }

    /// How many projects its sessions are in.
    #[must_use]
    pub fn projects(&self) -> usize {
        match self.family {
            Family::Project => 1,
            Family::Projects => PROJECTS,
            _ => 0,
        }
    }

    /// Starts it, and opens its sessions, in turn in each of its projects. Returns the milliseconds until `initialize`
    /// was answered, too.
    ///
    /// # Errors
    /// If it cannot be started, or a session cannot be opened.
    pub fn open(&self, places: &Places) -> Result<(RunningSubject, f64)> {
        let mut running = self.start(places)?;
        running.client.initialize()?;
        let start = running.since.elapsed().as_secs_f64() * 1e3;
        let mut folders: Vec<_> = projects::folders(self, &places.scratch).collect();
        if folders.is_empty() {
            folders.push(PathBuf::from("/"));
        }
        for folder in folders.iter().cycle().take(self.sessions()) {
            running.client.open_session(folder)?;
        }
        Ok((running, start))
    }

    /// Starts it, opens its sessions, and takes turns until code and buffers are warm. Returns as [`Self::open`] does.
    ///
    /// # Errors
    /// If it cannot be started, or a turn fails.
    pub fn warm(&self, places: &Places) -> Result<(RunningSubject, f64)> {
        let (mut running, start) = self.open(places)?;
        for _ in 0..WARM_UP.max(self.sessions()) {
            running.client.ping(0)?;
        }
        Ok((running, start))
    }

    /// Starts it, with the cached compiled code.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&self, places: &Places) -> Result<RunningSubject> {
        self.start_with(places, "cache")
    }

    /// Starts it with compiled code from this folder of the run.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start_with(&self, places: &Places, cache: &str) -> Result<RunningSubject> {
        let command = match self.family {
            Family::Agent => process::command(&places.agent),
            Family::Relay => {
                let mut command = process::command(&places.relay);
                command.arg(&places.agent);
                command
            }
            Family::Bare => {
                let mut command = process::command(&places.bare);
                command.arg(places.components.join("pass.wasm"));
                command.arg(self.proxies.to_string()).arg(&places.agent);
                command
            }
            Family::Reference => {
                let mut command = process::command(&places.conductor);
                command.arg("agent");
                command.args(std::iter::repeat_n(&places.native, self.proxies));
                command.arg(&places.agent);
                command
            }
            _ => chain::command(self, places, cache)?,
        };
        RunningSubject::start(self, command, &places.scratch)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let proxies = self.proxies;
        let ies = if proxies == 1 { "y" } else { "ies" };
        match self.family {
            Family::Agent => f.write_str("the agent alone"),
            Family::Relay => f.write_str("relay"),
            Family::Bare => write!(f, "relay, {proxies} bare calls"),
            Family::Empty => f.write_str("acp-chain, no proxies"),
            Family::Forwarding => write!(f, "acp-chain, {proxies} forwarding"),
            Family::Traced if proxies == 0 => f.write_str("acp-chain, no proxies, traced"),
            Family::Traced => write!(f, "acp-chain, {proxies} forwarding, traced"),
            Family::Exported => write!(f, "acp-chain, {proxies} forwarding, exported"),
            Family::WithoutBody => write!(f, "acp-chain, {proxies} without body"),
            Family::Elsewhere => write!(f, "acp-chain, {proxies} not subscribed"),
            Family::Few => write!(f, "acp-chain, {proxies}, of which {FEW} forward"),
            Family::Sessions => write!(f, "acp-chain, {proxies} forwarding, {SESSIONS} sessions"),
            Family::Project => write!(f, "acp-chain, {proxies} forwarding of a project"),
            Family::Projects => write!(
                f,
                "acp-chain, {proxies} forwarding of each of {PROJECTS} projects, {SESSIONS} sessions"
            ),
            Family::Ours => f.write_str("acp-chain, rules, permissions, redact"),
            Family::Five => f.write_str("acp-chain, our five"),
            Family::Calls => f.write_str("acp-chain, permissions, with the agent's hooks"),
            Family::Results => f.write_str("acp-chain, redact, with the agent's hooks"),
            Family::Redact => f.write_str("acp-chain, redact"),
            Family::TwoOfThree => f.write_str("acp-chain, two-of-three, redact"),
            Family::Brake => f.write_str("acp-chain, brake"),
            Family::Receipts => write!(f, "acp-chain, {proxies} forwarding, with receipts"),
            Family::Python => f.write_str("acp-chain, one in Python"),
            Family::Reference => write!(f, "reference, {proxies} native prox{ies}"),
        }
    }
}

/// The subjects of one family, with these counts.
pub fn family(family: Family, counts: &[usize]) -> impl Iterator<Item = Subject> {
    counts.iter().map(move |count| Subject::new(family, *count))
}
