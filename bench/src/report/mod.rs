//! The results of a run, as JSON, as tables, and compared with the targets.

mod beside;
mod machine;
mod page;
mod table;
mod targets;

use serde::Serialize;

pub use beside::beside;
pub use machine::Machine;
pub use page::publish;
pub use table::markdown;
pub(crate) use table::{section, show};
pub use targets::{Target, Verdict};

use crate::measures::{Figures, Outcome};
use crate::subjects::Family;

/// If the relay's figure is less certain than this, the machine is too noisy, and ratios are not reported.
pub const QUIET: f64 = 0.25;

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The commit that was measured, and its day, if they are known.
    pub commit: Option<String>,
    /// Whether it was a short run.
    pub quick: bool,
    /// Where it ran.
    pub machine: Machine,
    /// What was measured.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The targets.
    pub targets: Vec<Target>,
}

impl Report {
    /// The report of a run.
    #[must_use]
    pub fn new(outcome: Outcome, quick: bool, commit: Option<String>) -> Self {
        let mut report = Self {
            commit,
            quick,
            machine: Machine::this(),
            outcome,
            targets: Vec::new(),
        };
        report.targets = targets::all(&report);
        report
    }

    /// The measurements of one subject.
    #[must_use]
    pub fn of(&self, family: Family, proxies: usize) -> Option<&Figures> {
        let is = |figures: &&Figures| {
            figures.subject.family == family && figures.subject.proxies == proxies
        };
        self.outcome.figures.iter().find(is)
    }

    /// Whether the machine was quiet enough during this measurement for comparisons.
    #[must_use]
    pub fn was_quiet(&self, what: &str) -> bool {
        let mut noise = self.outcome.noise.iter();
        noise.all(|noise| noise.what != what || noise.uncertainty <= QUIET)
    }
}
