//! The measurements, as a page in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::hostile::TABLE;
use crate::hostile::row::{Answer, Attacker, Fate, Policy, Row};

/// The peak memory of each test that passed, in MiB.
static PEAKS: Mutex<BTreeMap<(&str, Policy), u64>> = Mutex::new(BTreeMap::new());

const POLICIES: [Policy; 3] = [Policy::Restart, Policy::Bypass, Policy::Refuse];

/// Records that a test has passed. The last test writes the page.
pub fn add(name: &'static str, policy: Policy, peak: u64) {
    let mut peaks = PEAKS.lock().unwrap_or_else(PoisonError::into_inner);
    peaks.insert((name, policy), peak);
    let tests: usize = TABLE
        .iter()
        .map(|(_, rows)| rows.len() * POLICIES.len())
        .sum();
    if peaks.len() == tests {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("hostile.md");
        fs::write(&target, page(&peaks)).expect("a file in the target folder");
    }
}

fn page(peaks: &BTreeMap<(&str, Policy), u64>) -> String {
    let mut page = String::new();
    for (family, rows) in TABLE {
        let _ = write!(
            page,
            "\n## {family}\n\n\
             | Attack | By | Limits | `restart` | `bypass` | `refuse` | Peak | Bound |\n\
             |---|---|---|---|---|---|---|---|\n"
        );
        for (name, row) in *rows {
            let what = name.replace('_', " ");
            let by = match row.by {
                Attacker::Guest(mode) => format!("{mode:?}"),
                Attacker::Module(_) => "a module".to_owned(),
            };
            let limits = match row.limits {
                "" => "the defaults".to_owned(),
                limits => format!("`{}`", limits.replace('\n', "`, `")),
            };
            let [restart, bypass, refuse] = POLICIES.map(|policy| outcome(row, policy));
            let peak = POLICIES.map(|policy| peaks[&(*name, policy)]);
            let peak = peak.iter().max().unwrap_or(&0);
            let _ = writeln!(
                page,
                "| {what} | {by} | {limits} | {restart} | {bypass} | {refuse} | {peak} MiB | {} MiB |",
                row.peak
            );
        }
    }
    page
}

/// The outcome, in a few words.
fn outcome(row: &Row, policy: Policy) -> &'static str {
    let (its, later) = (
        row.answer_to_attack(policy),
        row.answer_to_neighbour(policy),
    );
    match (row.fate, its, later) {
        _ if !row.has_chain(policy) => "the chain does not start",
        (Fate::NeverStarts, ..) => "the chain starts without it",
        (Fate::Lives, ..) => "nothing",
        (Fate::Fails, Answer::Fails, _) => "its message is refused",
        (_, Answer::Fails, Answer::Fails) => "all its messages are refused",
        (_, Answer::Fails, _) => "its message is refused, and it starts again",
        (Fate::Fails, ..) => "its message goes on",
        (_, _, Answer::Fails) => "later messages are refused",
        _ => "its messages go on",
    }
}
