//! The outcome of all checks, as text and as JSON.

use serde::Serialize;
use serde_json::json;

use super::check::Check;
use super::finding::Finding;
use super::under_test::UnderTest;

/// The outcome of one check.
#[derive(Debug)]
pub struct Outcome {
    /// The entry of the table.
    pub check: &'static Check,
    /// Whether it was run.
    pub was_run: bool,
    /// The number of messages sent and received.
    pub messages: usize,
    /// The findings of the check.
    pub findings: Vec<Finding>,
}

/// How a check ended, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The component keeps the promise.
    Ok,
    /// The component keeps the promise, with warnings.
    Warning,
    /// The component does not keep the promise.
    Failed,
    /// The check was not run: an earlier finding makes it pointless.
    NotRun,
}

impl Verdict {
    /// The name of the verdict in reports.
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
    /// Runs a check, unless an earlier finding makes it pointless: then there is no component.
    pub(super) fn of(check: &'static Check, under_test: Option<&UnderTest>) -> Self {
        let run = under_test.map(|under_test| under_test.check(check.run));
        let was_run = run.is_some();
        let (findings, messages) = run.unwrap_or_default();
        Self {
            check,
            was_run,
            messages,
            findings,
        }
    }

    /// The verdict on the component.
    pub fn verdict(&self) -> Verdict {
        if !self.was_run {
            return Verdict::NotRun;
        }
        let verdicts = self.findings.iter().map(|finding| finding.verdict);
        verdicts.max().unwrap_or(Verdict::Ok)
    }

    /// The findings as lines of text, each with its case and remedy.
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
    /// The outcomes of the checks, in the order of the table.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// The number of checks with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let outcomes = self.outcomes.iter();
        outcomes
            .filter(|outcome| outcome.verdict() == verdict)
            .count()
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let checks = self.outcomes.iter().map(|outcome| {
            let findings = outcome.findings.iter().map(|finding| {
                json!({
                    "verdict": finding.verdict,
                    "what": finding.what,
                    "case": finding.case,
                    "next": finding.remedy.unwrap_or(outcome.check.remedy),
                })
            });
            json!({
                "check": outcome.check.name,
                "verdict": outcome.verdict(),
                "messages": outcome.messages,
                "findings": findings.collect::<Vec<_>>(),
            })
        });
        let report = json!({
            "component": self.component,
            "seed": self.seed,
            "cases": self.cases,
            "ok": self.count(Verdict::Failed) == 0,
            "checks": checks.collect::<Vec<_>>(),
        });
        format!("{report:#}")
    }
}
