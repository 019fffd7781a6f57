//! The steps that work without acp-chain and behind it, as a table for the terminal and the book.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::steps::{Outcome, State, Step};

/// The pages, and the marks before tables in them.
pub const PAGE: &str = "docs/real-agents.md";
pub const HOOKS_PAGE: &str = "docs/hooks.md";
pub const BEGIN: &str = "<!-- by cargo xtask agents -->\n";
pub const BEGIN_HOOKS: &str = "<!-- by cargo xtask agents --hooks -->\n";
pub const BEGIN_SPEED: &str = "<!-- by cargo xtask agents --hooks --speed -->\n";

/// The columns of the table of hooks, with the steps that must work.
const HOOKS: [(&str, &[Step]); 11] = [
    ("sees", &[Step::Sees]),
    ("refuses", &[Step::Refuses]),
    ("changes", &[Step::Changes]),
    ("hides results", &[Step::HidesFile, Step::HidesOutput]),
    ("hides failed commands", &[Step::HidesFailure]),
    ("subagents", &[Step::Subagent]),
    ("brake", &[Step::StopsLoop, Step::KeepsBudget]),
    ("tokens", &[Step::CountsTokens]),
    ("two-of-three", &[Step::AsksBeforeThird]),
    ("ways out", &[Step::AsksOnEachWay]),
    ("receipts", &[Step::KeepsReceipts]),
];

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

/// One agent with its hooks attached.
pub struct HooksRow {
    pub name: &'static str,
    pub version: String,
    pub outcomes: Vec<Outcome>,
    /// The steps that do not work, as far as is known.
    pub fails: &'static [Step],
}

/// One agent whose tool calls were timed.
pub struct SpeedRow {
    pub name: &'static str,
    pub version: String,
    /// The milliseconds of a call: without hooks, with the user's own, and with those of acp-chain.
    pub calls: [f64; 3],
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

impl HooksRow {
    /// Whether all of these steps work.
    fn sign(&self, steps: &[Step]) -> &'static str {
        let state = |step: &Step| {
            let mut outcomes = self.outcomes.iter();
            let outcome = outcomes.find(|outcome| outcome.step == *step);
            outcome.map(|outcome| outcome.state)
        };
        let states: Vec<_> = steps.iter().map(state).collect();
        if states.contains(&Some(State::Fails)) {
            "✗"
        } else if states.iter().all(|state| *state == Some(State::Works)) {
            "✓"
        } else {
            "–"
        }
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

/// A table: for each agent its name, its version, and a cell below each title.
fn lines<'a>(
    of: &str,
    titles: &[&str],
    rows: impl Iterator<Item = (&'a str, &'a str, Vec<String>)>,
) -> String {
    let (head, line) = (titles.join(" | "), "---|".repeat(titles.len()));
    let mut table = format!("| {of} | Version | {head} |\n|---|---|{line}\n");
    for (name, version, cells) in rows {
        let _ = writeln!(table, "| {name} | {version} | {} |", cells.join(" | "));
    }
    table
}

/// A table, with notes on what does not work or differs.
pub fn table(of: &str, steps: &[Step], rows: &[Row]) -> String {
    let titles: Vec<_> = steps.iter().map(|step| step.title()).collect();
    let shown = rows.iter().map(|row| {
        let cell = |step: &Step| row.pair(*step).map_or_else(|| "?".into(), Pair::cell);
        (row.name, &*row.version, steps.iter().map(cell).collect())
    });
    let mut table = lines(of, &titles, shown);
    let notes = notes(rows);
    if !notes.is_empty() {
        let _ = write!(table, "\n{notes}");
    }
    table
}

/// The table of hooks.
pub fn hooks_table(rows: &[HooksRow]) -> String {
    let shown = rows.iter().map(|row| {
        let signs = HOOKS.map(|(_, steps)| row.sign(steps).to_owned());
        (row.name, &*row.version, signs.to_vec())
    });
    lines("Agent", &HOOKS.map(|(title, _)| title), shown)
}

/// The table of the times of tool calls.
pub fn speed_table(rows: &[SpeedRow]) -> String {
    let titles = [
        "a call without hooks",
        "with two of yours that are `true`",
        "with acp-chain's",
    ];
    let shown = rows.iter().map(|row| {
        let [without, own, ours] = row.calls;
        let [own, ours] = [own, ours].map(|with| format!("{:+.1} ms", with - without));
        (
            row.name,
            &*row.version,
            vec![format!("{without:.1} ms"), own, ours],
        )
    });
    lines("Agent", &titles, shown)
}

/// The steps that do not work but should, with the outcomes, and those that work but should not.
pub fn unexpected(rows: &[HooksRow]) -> [String; 2] {
    let [mut broken, mut better] = [String::new(), String::new()];
    for row in rows {
        for Outcome {
            step, state, said, ..
        } in &row.outcomes
        {
            let what = format!("{} with hooks, {}", row.name, step.title());
            let is_known = row.fails.contains(step);
            if *state == State::Fails && !is_known {
                let _ = writeln!(broken, "{what}: does not work\n  {said}");
            } else if *state == State::Works && is_known {
                let _ = writeln!(better, "{what}: works, though `HOOKED` says otherwise");
            }
        }
    }
    [broken, better]
}

/// A line for each note on an agent, with all its steps.
fn notes(rows: &[Row]) -> String {
    let mut notes = String::new();
    for row in rows {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for pair in &row.pairs {
            let Some(note) = pair.note() else { continue };
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
    fn a_failure_is_reported_unless_it_is_known_and_a_known_one_that_is_none() {
        use State::{Fails, NotOffered, Works};
        let steps = [Step::HidesFile, Step::HidesOutput];
        for (states, sign, is_broken, is_better) in [
            ([Works, Works], "✓", false, true),
            ([Works, Fails], "✗", false, false),
            ([Fails, Fails], "✗", true, false),
            ([Works, NotOffered], "–", false, false),
        ] {
            let outcomes = steps.iter().zip(states);
            let outcomes = outcomes.map(|(step, state)| Outcome {
                state,
                ..Outcome::of(*step, true, "end_turn".into())
            });
            let rows = [HooksRow {
                name: "an-agent",
                version: "1.0.0".into(),
                outcomes: outcomes.collect(),
                fails: &[Step::HidesOutput],
            }];
            let table = hooks_table(&rows);
            let others = "| – ".repeat(HOOKS.len() - 4);
            assert!(
                table.ends_with(&format!("| – | – | – | {sign} {others}|\n")),
                "{table}"
            );
            let [broken, better] = unexpected(&rows);
            assert_eq!(
                [broken.is_empty(), better.is_empty()],
                [!is_broken, !is_better]
            );
        }
    }

    #[test]
    fn calls_with_hooks_are_shown_by_how_much_longer_they_take() {
        let row = SpeedRow {
            name: "an-agent",
            version: "1.0.0".into(),
            calls: [100.0, 112.34, 99.5],
        };
        let table = speed_table(&[row]);
        let expected = "| an-agent | 1.0.0 | 100.0 ms | +12.3 ms | -0.5 ms |\n";
        assert!(table.ends_with(expected), "{table}");
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
