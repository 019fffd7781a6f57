//! The outcome of all checks, for people and for programs.

use serde::Serialize;

use super::checks::Check;
use super::finding::Finding;

/// The outcome of one check.
#[derive(Debug)]
pub struct Outcome {
    /// Which.
    pub check: &'static Check,
    /// Whether it was run at all.
    pub was_run: bool,
    /// How many messages were said and got.
    pub messages: usize,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The component keeps the promise.
    Ok,
    /// It does, and yet there is something to know.
    Warning,
    /// It does not.
    Failed,
    /// Nobody knows: after what was found before, there is nothing to check.
    NotRun,
}

impl Verdict {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::NotRun => "not run",
        }
    }
}

impl Outcome {
    pub(super) fn not_run(check: &'static Check) -> Self {
        Self {
            check,
            was_run: false,
            messages: 0,
            findings: Vec::new(),
        }
    }

    /// How it ended.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let mut findings = self.findings.iter();
        match (self.was_run, self.findings.is_empty()) {
            (false, _) => Verdict::NotRun,
            (true, true) => Verdict::Ok,
            (true, false) => match findings.any(|finding| finding.is_failure) {
                true => Verdict::Failed,
                false => Verdict::Warning,
            },
        }
    }

    /// What was found, for people: each with its case, and what to do.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let remedy = |finding: &Finding| finding.remedy.unwrap_or(self.check.remedy);
        let mut lines = Vec::new();
        let mut findings = self.findings.iter().peekable();
        while let Some(finding) = findings.next() {
            lines.push(finding.what.clone());
            lines.extend(finding.case.iter().map(|line| format!("  {line}")));
            // Said once for all that are mended so.
            let next = findings.peek().map(|next| remedy(next));
            if next != Some(remedy(finding)) {
                lines.push(format!("→ {}", remedy(finding)));
            }
        }
        lines
    }
}

/// The outcome of all.
#[derive(Debug)]
pub struct Report {
    /// The id of the component.
    pub component: String,
    /// By which it can be played again.
    pub seed: u64,
    /// How many messages of each method were played.
    pub cases: usize,
    /// Each check, in order.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// How many ended so.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let outcomes = self.outcomes.iter();
        outcomes
            .filter(|outcome| outcome.verdict() == verdict)
            .count()
    }

    /// The report for programs.
    ///
    /// # Errors
    /// If it cannot be said in JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            component: &'a str,
            seed: u64,
            cases: usize,
            ok: bool,
            checks: Vec<Row<'a>>,
        }
        #[derive(Serialize)]
        struct Row<'a> {
            check: &'a str,
            verdict: Verdict,
            messages: usize,
            findings: Vec<Found<'a>>,
        }
        #[derive(Serialize)]
        struct Found<'a> {
            verdict: Verdict,
            what: &'a str,
            case: &'a [String],
            next: &'a str,
        }
        let found = |check: &'static Check, finding: &'_ Finding| -> (Verdict, &'static str) {
            let verdict = match finding.is_failure {
                true => Verdict::Failed,
                false => Verdict::Warning,
            };
            (verdict, finding.remedy.unwrap_or(check.remedy))
        };
        let rows = self.outcomes.iter().map(|outcome| Row {
            check: outcome.check.name,
            verdict: outcome.verdict(),
            messages: outcome.messages,
            findings: outcome
                .findings
                .iter()
                .map(|finding| {
                    let (verdict, next) = found(outcome.check, finding);
                    Found {
                        verdict,
                        what: &finding.what,
                        case: &finding.case,
                        next,
                    }
                })
                .collect(),
        });
        serde_json::to_string_pretty(&Whole {
            component: &self.component,
            seed: self.seed,
            cases: self.cases,
            ok: self.count(Verdict::Failed) == 0,
            checks: rows.collect(),
        })
    }
}
