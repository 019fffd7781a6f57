//! The steps that work without acp-chain and behind it, as a table for the terminal and the book.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};

use super::steps::{Outcome, State, Step};
use xtask::workspace::Workspace;

/// The page, and the marks before and after the table in it.
const PAGE: &str = "docs/real-agents.md";
const BEGIN: &str = "<!-- by cargo xtask agents -->\n";
const END: &str = "<!-- end -->";

/// What acp-chain and our extension add.
const ADDED: [&str; 3] = [
    "plan",
    "has /agentCapabilities/mcpCapabilities",
    "has /agentCapabilities/mcpCapabilities/acp",
];

/// One agent, with and without acp-chain.
pub struct Row {
    name: &'static str,
    version: String,
    pairs: Vec<Pair>,
}

/// One step, on both sides.
struct Pair {
    direct: Outcome,
    behind: Outcome,
}

impl Row {
    pub fn new(
        name: &'static str,
        version: String,
        direct: Vec<Outcome>,
        behind: Vec<Outcome>,
    ) -> Self {
        let pairs = direct.into_iter().zip(behind);
        let pairs = pairs.map(|(direct, behind)| Pair { direct, behind });
        Self {
            name,
            version,
            pairs: pairs.collect(),
        }
    }

    fn pair(&self, step: Step) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.direct.step == step)
    }
}

impl Pair {
    fn is_broken(&self) -> bool {
        self.direct.state == State::Works && self.behind.state != State::Works
    }

    /// What the client receives on one side only; `None` if one side does not work.
    fn differences(&self) -> Option<String> {
        if [self.direct.state, self.behind.state] != [State::Works; 2] {
            return None;
        }
        let only = |of: &BTreeSet<String>, other: &BTreeSet<String>| {
            let only = of
                .difference(other)
                .filter(|kind| !ADDED.contains(&kind.as_str()));
            only.cloned().collect::<Vec<_>>().join(", ")
        };
        let (direct, behind) = (&self.direct.seen, &self.behind.seen);
        let differences = [
            ("only by itself", only(direct, behind)),
            ("only behind", only(behind, direct)),
        ];
        let told = differences.iter().filter(|(_, kinds)| !kinds.is_empty());
        let told: Vec<_> = told
            .map(|(side, kinds)| format!("{side}: {kinds}"))
            .collect();
        Some(told.join("; ")).filter(|told| !told.is_empty())
    }

    fn cell(&self) -> String {
        let works = |outcome: &Outcome| outcome.state == State::Works;
        let signs = match (works(&self.direct), works(&self.behind)) {
            (true, true) => "✓ ✓",
            (true, false) => "✓ ✗",
            (false, true) => "– ✓",
            (false, false) => "– –",
        };
        let star = self.differences().map_or("", |_| "*");
        format!("{signs}{star}")
    }

    /// The note below the table.
    fn note(&self) -> Option<String> {
        match self.direct.state {
            State::Works => self.differences(),
            State::Fails => Some(format!("by itself, {}", short(&self.direct.said))),
            State::NotOffered => None,
        }
    }
}

/// A table, with notes on what does not work or differs.
pub fn table(of: &str, steps: &[Step], rows: &[Row]) -> String {
    let mut table = format!("| {of} | Version |");
    for step in steps {
        let _ = write!(table, " {} |", step.title());
    }
    table.push_str("\n|---|---|");
    table.push_str(&"---|".repeat(steps.len()));
    table.push('\n');
    for row in rows {
        let _ = write!(table, "| {} | {} |", row.name, row.version);
        for step in steps {
            let cell = row.pair(*step).map_or_else(|| "?".into(), Pair::cell);
            let _ = write!(table, " {cell} |");
        }
        table.push('\n');
    }
    let notes = notes(rows);
    if !notes.is_empty() {
        let _ = write!(table, "\n{notes}");
    }
    table
}

/// A line for each note on an agent, with all its steps.
fn notes(rows: &[Row]) -> String {
    let mut notes = String::new();
    for row in rows {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for pair in &row.pairs {
            let Some(note) = pair.note() else {
                continue;
            };
            let step = pair.direct.step.title();
            match told.iter_mut().find(|(told, _)| *told == note) {
                Some((_, steps)) => steps.push(step),
                None => told.push((note, vec![step])),
            }
        }
        for (note, steps) in told {
            let _ = writeln!(notes, "- {}, {}: {note}", row.name, steps.join(", "));
        }
    }
    notes
}

/// The start of a text in one line, as Markdown without elements.
fn short(said: &str) -> String {
    const MOST: usize = 160;
    let line: Vec<_> = said.split_whitespace().collect();
    let line = line.join(" ").replace('<', "\\<");
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{} …", &line[..at]),
        None => line,
    }
}

/// The steps that work only without acp-chain, with both outcomes.
pub fn broken(rows: &[Row]) -> String {
    let mut broken = String::new();
    for row in rows {
        for pair in row.pairs.iter().filter(|pair| pair.is_broken()) {
            let step = pair.direct.step.title();
            let _ = writeln!(broken, "{}, {step}: works only without acp-chain", row.name);
            let _ = writeln!(broken, "  direct: {}", pair.direct.said);
            let _ = writeln!(broken, "  behind: {}", pair.behind.said);
        }
    }
    broken
}

/// Writes the tables into the book.
pub fn publish(workspace: &Workspace, tables: &str) -> Result<()> {
    let path = workspace.path(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("{PAGE} is missing"))?;
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.with_context(|| format!("{PAGE} has no place for the table"))?;
    fs::write(&path, format!("{before}{BEGIN}\n{tables}\n{END}{after}"))?;
    println!("{}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(direct: State, behind: State, kinds: [&[&str]; 2]) -> Row {
        let [direct, behind] = [(direct, kinds[0]), (behind, kinds[1])].map(|(state, kinds)| {
            vec![Outcome {
                step: Step::Shell,
                state,
                said: "end_turn".into(),
                seen: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            }]
        });
        Row::new("an-agent", "1.0.0".into(), direct, behind)
    }

    #[test]
    fn only_what_works_without_acp_chain_can_be_broken_by_it() {
        use State::{Fails, NotOffered, Works};
        for (direct, behind, cell, is_broken) in [
            (Works, Works, "✓ ✓", false),
            (Works, Fails, "✓ ✗", true),
            (Works, NotOffered, "✓ ✗", true),
            (Fails, Fails, "– –", false),
            (Fails, Works, "– ✓", false),
            (NotOffered, NotOffered, "– –", false),
        ] {
            let rows = [row(direct, behind, [&[], &[]])];
            let table = table("Agent", &[Step::Shell], &rows);
            assert!(
                table.contains(&format!("| an-agent | 1.0.0 | {cell} |")),
                "{table}"
            );
            assert_eq!(!broken(&rows).is_empty(), is_broken, "{table}");
        }
    }

    #[test]
    fn what_the_client_is_told_on_one_side_only_is_noted() {
        let kinds: [&[&str]; 2] = [
            &["tool_call execute", "asks x"],
            &["tool_call execute", ADDED[0]],
        ];
        let table = table(
            "Agent",
            &[Step::Shell],
            &[row(State::Works, State::Works, kinds)],
        );
        assert!(table.contains("| ✓ ✓* |"), "{table}");
        assert!(
            table.ends_with("- an-agent, shell: only by itself: asks x\n"),
            "{table}"
        );
    }
}
