//! What came of a recording, in bounded memory: numbers, and some examples of each kind.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;

use crate::format::Format;
use crate::tokens::Tokens;

/// How many examples are kept of a kind.
const MOST_EXAMPLES: usize = 20;

/// How many kinds are kept of one sort. Further ones are counted together.
const MOST_KINDS: usize = 1000;

/// Under what further kinds are counted.
const OTHERS: &str = "(others)";

/// Where something was found. They are in the order of the recordings, and within one in that of its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The number of the recording, from 0.
    pub recording: usize,
    /// The number of the line, or of the part of a database, from 1.
    pub line: u64,
}

/// What a chain would have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// A prompt or a call would have been refused.
    Denied,
    /// The user would have been asked.
    Asked,
    /// The result of a call would have been withheld as a whole.
    Withheld,
    /// A prompt, an input or a result would have been changed. Of secrets that were taken out, see the secrets.
    Changed,
}

/// A decision, who makes it, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DecisionKind {
    pub decision: Decision,
    pub proxy: String,
    /// The rule, or else the reason.
    pub why: String,
}

/// Where a secret was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// In a prompt.
    Prompt,
    /// In the result of a tool.
    Result,
}

/// The kind of a secret, and where it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SecretKind {
    pub name: String,
    pub within: Within,
}

/// Why a part of a recording was not played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Problem {
    /// A line ends in its middle.
    Cut,
    /// A line is not JSON, or is of another form.
    Damaged,
    /// A line is too long.
    TooLong,
    /// The file or folder cannot be read, or not to its end.
    Unreadable,
    /// The file is compressed.
    Compressed,
    /// It is not a database of opencode's, or of a newer version.
    NoDatabase,
    /// A session was refused by the chain.
    Refused,
    /// The chain does not go on. The rest of the recording is not played.
    Stuck,
}

/// How much there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Files.
    pub recordings: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sessions, also those of subagents.
    pub sessions: u64,
    /// Prompts of the user.
    pub prompts: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Files that have something, in which nothing was recognized.
    pub unrecognized: u64,
}

/// Findings of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub count: u64,
    /// The first of them.
    pub examples: Vec<(Place, String)>,
}

/// How often a problem was met in a recording, and in which line first: 0 is the recording as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Met {
    pub count: u64,
    pub line: u64,
}

/// All findings.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub totals: BTreeMap<Format, Totals>,
    pub decisions: BTreeMap<DecisionKind, Group>,
    pub secrets: BTreeMap<SecretKind, Group>,
    pub used: BTreeMap<(Format, String), Tokens>,
    /// By currency, in millionths.
    pub costs: BTreeMap<String, u64>,
    /// By recording.
    pub problems: BTreeMap<(Problem, usize), Met>,
}

impl Group {
    /// Examples come in any order of recordings.
    pub(crate) fn add(&mut self, count: u64, place: Place, example: impl FnOnce() -> String) {
        self.count += count;
        let at = self.examples.partition_point(|(known, _)| *known <= place);
        if at < MOST_EXAMPLES {
            self.examples.insert(at, (place, example()));
            self.examples.truncate(MOST_EXAMPLES);
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.examples.sort();
        self.examples.truncate(MOST_EXAMPLES);
    }
}

impl Findings {
    pub(crate) fn decided(&mut self, mut kind: DecisionKind) -> &mut Group {
        if self.decisions.len() >= MOST_KINDS && !self.decisions.contains_key(&kind) {
            OTHERS.clone_into(&mut kind.why);
        }
        self.decisions.entry(kind).or_default()
    }

    pub(crate) fn secret(&mut self, mut kind: SecretKind) -> &mut Group {
        if self.secrets.len() >= MOST_KINDS && !self.secrets.contains_key(&kind) {
            OTHERS.clone_into(&mut kind.name);
        }
        self.secrets.entry(kind).or_default()
    }

    pub(crate) fn used(&mut self, format: Format, model: &str, tokens: Tokens) {
        let has = |model: &str| self.used.contains_key(&(format, model.to_owned()));
        let model = self.known(model, has);
        *self.used.entry((format, model)).or_default() += tokens;
    }

    pub(crate) fn cost(&mut self, currency: &str, amount: u64) {
        let currency = self.known(currency, |currency| self.costs.contains_key(currency));
        let sum = self.costs.entry(currency).or_default();
        *sum = sum.saturating_add(amount);
    }

    pub(crate) fn problem(&mut self, problem: Problem, place: Place) {
        let Place { recording, line } = place;
        let met = self.problems.entry((problem, recording));
        met.or_insert(Met { count: 0, line }).count += 1;
    }

    /// A name from a recording, bounded, and that of others if there are too many.
    fn known(&self, name: &str, has: impl Fn(&str) -> bool) -> String {
        let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
        let is_full = self.used.len().max(self.costs.len()) >= MOST_KINDS;
        let is_other = is_full && !has(name);
        let shown = if is_other { OTHERS } else { name };
        shown.to_owned()
    }

    /// Adds the findings in other recordings.
    pub(crate) fn merge(&mut self, other: Self) {
        for (format, totals) in other.totals {
            *self.totals.entry(format).or_default() += totals;
        }
        for (kind, group) in other.decisions {
            self.decided(kind).merge(group);
        }
        for (kind, group) in other.secrets {
            self.secret(kind).merge(group);
        }
        for ((format, model), tokens) in other.used {
            self.used(format, &model, tokens);
        }
        for (currency, amount) in other.costs {
            self.cost(&currency, amount);
        }
        // A recording is played by one worker.
        self.problems.extend(other.problems);
    }
}

/// The longest name of a model or a currency, in bytes.
const LONGEST_NAME: usize = 100;

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.recordings += other.recordings;
        // A file may have holes, and so any size.
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sessions += other.sessions;
        self.prompts += other.prompts;
        self.calls += other.calls;
        self.unrecognized += other.unrecognized;
    }
}
