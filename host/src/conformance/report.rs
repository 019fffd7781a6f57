//! The outcome of all checks, for people and for programs.

use serde::Serialize;

use super::check::Check;
use super::finding::Finding;
use super::under_test::UnderTest;

/// The outcome of one check.
#[derive(Debug)]
pub struct Outcome {
    /// The check.
    pub check: &'static Check,
    /// Whether it was run.
    pub was_run: bool,
    /// The number of messages sent and received.
    pub messages: usize,
    /// Its findings.
    pub findings: Vec<Finding>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The component keeps the promise.
    Ok,
    /// It does, with warnings.
    Warning,
    /// It does not.
    Failed,
    /// Unknown: after earlier findings, there is nothing to check.
    NotRun,
}

impl Verdict {
    /// Its name in reports.
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
    /// Runs a check.
    pub(super) fn of(check: &'static Check, under_test: &UnderTest) -> Self {
        let (findings, messages) = under_test.check(check.run);
        Self {
            check,
            was_run: true,
            messages,
            findings,
        }
    }

    pub(super) fn not_run(check: &'static Check) -> Self {
        Self {
            check,
            was_run: false,
            messages: 0,
            findings: Vec::new(),
        }
    }

    /// The verdict.
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

    /// The findings, for people: each with its case and remedy.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let remedy = |finding: &Finding| finding.remedy.unwrap_or(self.check.remedy);
        let mut lines = Vec::new();
        let mut findings = self.findings.iter().peekable();
        while let Some(finding) = findings.next() {
            lines.push(finding.what.clone());
            lines.extend(finding.case.iter().map(|line| format!("  {line}")));
            // Findings with the same remedy share it.
            let next = findings.peek().map(|next| remedy(next));
            if next != Some(remedy(finding)) {
                lines.push(format!("→ {}", remedy(finding)));
            }
        }
        lines
    }
}

/// The outcome of all checks.
#[derive(Debug)]
pub struct Report {
    /// The id of the component.
    pub component: String,
    /// The seed that repeats the run.
    pub seed: u64,
    /// The number of messages per method.
    pub cases: usize,
    /// Each check, in order.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// How many checks ended with this verdict.
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
    /// If it cannot be represented in JSON.
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
