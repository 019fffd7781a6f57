//! What would have happened: as a value that is JSON, as text, and as a page.
//!
//! All texts from recordings are shown without the secrets that the default rules find, without control characters and
//! cut. Names of files are whole, so that the files can be found.

mod html;
mod text;

use std::collections::BTreeMap;

use acp_chain_rpc::untrusted::Untrusted;
use serde::Serialize;

use crate::find::Recording;
use crate::findings::{Findings, Group, Met, Place, Problem};
use crate::format::Format;
use crate::masks::Masks;
use crate::tokens::{Prices, Tokens};

pub use crate::findings::{Decision, Totals, Within};

/// The version of the JSON. It increases if a member changes its meaning, not if members are added.
pub const VERSION: u32 = 1;

/// The report about a scan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of the form.
    pub version: u32,
    /// The proxies that the recordings were played through, the client's neighbour first.
    pub chain: Vec<String>,
    /// Proxies of the chain that were left out, with the reason.
    pub left_out: Vec<String>,
    /// How much there was, by format.
    pub recordings: Vec<Read>,
    /// What the chain would have decided, other than to let pass.
    pub decisions: Vec<Decided>,
    /// The secrets that the chain would have withheld.
    pub secrets: Vec<Secrets>,
    /// The tokens that were used, by format and model.
    pub used: Vec<Used>,
    /// The cost that agents reported, by currency.
    pub reported: Vec<Cost>,
    /// The cost by the user's prices.
    pub priced: Option<Cost>,
    /// What was not played.
    pub problems: Vec<Missed>,
}

/// How much there was of a format.
#[derive(Debug, Serialize)]
pub struct Read {
    /// The format.
    pub format: Format,
    /// The numbers.
    #[serde(flatten)]
    pub totals: Totals,
}

/// Decisions of one kind.
#[derive(Debug, Serialize)]
pub struct Decided {
    /// What would have happened.
    pub decision: Decision,
    /// The proxy that decides.
    pub proxy: String,
    /// The rule (`rule 2`), or else the reason; empty if there is none.
    pub why: String,
    /// How often.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// Secrets of one kind.
#[derive(Debug, Serialize)]
pub struct Secrets {
    /// The kind, as the chain names it.
    pub kind: String,
    /// Where they were.
    pub within: Within,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// An example.
#[derive(Debug, Serialize)]
pub struct Example {
    /// The command, the call, or `a prompt`.
    pub what: String,
    /// The file of the recording.
    pub file: String,
    /// The line, counted from 1; of a database, the number of the part.
    pub line: u64,
}

/// Tokens of a model.
#[derive(Debug, Serialize)]
pub struct Used {
    /// The format.
    pub format: Format,
    /// The model, as the agent names it; empty if it does not.
    pub model: String,
    /// The tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
}

/// An amount of money.
#[derive(Debug, Serialize)]
pub struct Cost {
    /// The currency.
    pub currency: String,
    /// The amount, in millionths.
    pub millionths: u64,
}

/// What was not played of a file.
#[derive(Debug, Serialize)]
pub struct Missed {
    /// The file.
    pub file: String,
    /// The first line with it, counted from 1; of a database, the number of the part; 0 if it is the whole file.
    pub line: u64,
    /// What is wrong.
    pub what: &'static str,
    /// How often.
    pub count: u64,
}

impl Report {
    /// The report about these findings.
    pub(crate) fn of(chain: Vec<String>, recordings: &[Recording], found: Findings) -> Self {
        let masks = Masks::default();
        let file = |number: usize| {
            let recording = recordings.get(number);
            recording.map_or_else(String::new, |recording| {
                Untrusted::new(recording.path.display()).to_string()
            })
        };
        let examples = |group: Group| -> Vec<Example> {
            let each = group.examples.into_iter();
            let each = each.map(|(Place { recording, line }, what)| Example {
                what,
                file: file(recording),
                line,
            });
            each.collect()
        };
        let mut decisions: Vec<_> = found
            .decisions
            .into_iter()
            .map(|(kind, group)| Decided {
                decision: kind.decision,
                proxy: shown(&kind.proxy),
                why: kind.why,
                count: group.count,
                examples: examples(group),
            })
            .collect();
        decisions.sort_by_key(|decided| (decided.decision, u64::MAX - decided.count));
        let mut secrets: Vec<_> = found
            .secrets
            .into_iter()
            .map(|(kind, group)| Secrets {
                kind: shown(&kind.name),
                within: kind.within,
                count: group.count,
                examples: examples(group),
            })
            .collect();
        secrets.sort_by_key(|secrets| u64::MAX - secrets.count);
        let totals = found.totals.into_iter();
        let used = found.used.into_iter();
        let costs = found.costs.into_iter();
        let problems = found.problems.into_iter();
        Self {
            version: VERSION,
            chain: chain.iter().map(|name| shown(name)).collect(),
            left_out: Vec::new(),
            recordings: totals
                .map(|(format, totals)| Read { format, totals })
                .collect(),
            decisions,
            secrets,
            used: used
                .map(|((format, model), tokens)| Used {
                    format,
                    model: masks.shown(&model),
                    tokens,
                })
                .collect(),
            reported: costs
                .map(|(currency, millionths)| Cost {
                    currency: masks.shown(&currency),
                    millionths,
                })
                .collect(),
            priced: None,
            problems: problems
                .map(|((problem, recording), Met { count, line })| Missed {
                    file: file(recording),
                    line,
                    what: problem.words(),
                    count,
                })
                .collect(),
        }
    }

    /// Adds what the tokens cost by these prices.
    #[must_use]
    pub fn with_prices(mut self, prices: &Prices, currency: &str) -> Self {
        let costs = self.used.iter().map(|used| prices.of(&used.tokens));
        self.priced = Some(Cost {
            currency: shown(currency),
            millionths: costs.fold(0, u64::saturating_add),
        });
        self
    }

    /// The report for programs.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// All of the numbers.
    fn totals(&self) -> Totals {
        let mut all = Totals::default();
        for read in &self.recordings {
            all += read.totals;
        }
        all
    }

    /// How often each decision would have been made.
    fn decided(&self) -> BTreeMap<Decision, u64> {
        let mut counts = BTreeMap::new();
        for decided in &self.decisions {
            *counts.entry(decided.decision).or_default() += decided.count;
        }
        counts
    }
}

/// A name from outside.
fn shown(name: &str) -> String {
    Untrusted::new(name).to_string()
}

impl Missed {
    /// The file, with the line if it is not the whole file.
    fn place(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }
}

impl Decision {
    /// The decision in words, as of calls.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Asked => "asked about",
            Self::Withheld => "withheld",
            Self::Changed => "changed",
        }
    }
}

impl Within {
    /// The place in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "in prompts",
            Self::Result => "in results",
        }
    }
}

impl Problem {
    fn words(self) -> &'static str {
        match self {
            Self::Cut => "a line that ends in its middle",
            Self::Damaged => "a line that cannot be read",
            Self::TooLong => "a line that is too long",
            Self::Unreadable => "it cannot be read, or not to its end",
            Self::Compressed => "it is compressed, and so not read",
            Self::NoDatabase => "no database of opencode, or one of another version",
            Self::Refused => "a session that the chain refused",
            Self::Stuck => "the rest, as the chain does not go on",
        }
    }
}

impl Cost {
    /// The amount and the currency: `1.25 USD`.
    fn shown(&self) -> String {
        let (whole, rest) = (self.millionths / 1_000_000, self.millionths % 1_000_000);
        let cents = rest / 10_000;
        if whole == 0 && cents == 0 && rest > 0 {
            format!("0.{rest:06} {}", self.currency)
        } else {
            format!("{whole}.{cents:02} {}", self.currency)
        }
    }
}
