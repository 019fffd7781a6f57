//! Rules made of the commands that agents have run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::harmless::{harmless, outside};
use crate::recorded::RecordedCall;
use crate::rule::{Decision, Rule, Source};

/// The longest command that is counted by its words, in bytes.
const LONGEST: usize = 4096;
/// How many different commands are counted. Further ones are counted together.
const MOST: usize = 100_000;
/// How many bytes of a command without a rule are kept.
const LONGEST_KEPT: usize = 120;

/// A command of which no rule is made, and how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The first words of the command, as they were recorded: they may have secrets, and any characters.
    pub command: String,
    /// How often it was seen.
    pub count: usize,
    /// Why no rule is made of it.
    pub why: &'static str,
}

/// What recorded calls suggest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The rules: those that ask, then those that allow.
    pub rules: Vec<Rule>,
    /// The commands without a rule, the most frequent first.
    pub others: Vec<Seen>,
    /// The number of calls.
    pub calls: usize,
    /// The number of calls beyond the different commands that are counted.
    pub uncounted: usize,
}

/// What was counted for a rule, or for a command without one.
#[derive(Debug)]
struct Count {
    count: usize,
    first: Source,
}

const NOT_SIMPLE: &str =
    "it is more than simple commands: a shell expands it, or joins its output with a file";
const NOT_PROVEN: &str = "it is not known to be harmless";
const RARE: &str = "it is harmless, but was seen too seldom";
const RARE_OUTSIDE: &str = "it acts outside, but was seen too seldom";

/// Makes rules of calls: of what was seen at least `least` times. What is known to act outside is asked about, and what
/// is known to be harmless allowed; nothing else is.
///
/// The calls may come from any recording: a trace ([`Recorded`](crate::Recorded)), or an agent's own transcripts
/// ([`RecordedCall::of_input`]).
pub fn suggest(calls: impl IntoIterator<Item = RecordedCall>, least: usize) -> Suggestion {
    let mut tally = Tally::default();
    for call in calls {
        tally.add(&call);
    }
    tally.suggestion(least)
}

/// Counts calls, for [`suggest`](fn@suggest) without keeping them: its size is bounded.
#[derive(Debug, Default)]
pub struct Tally {
    found: BTreeMap<(&'static str, Option<Decision>, String), Count>,
    calls: usize,
    uncounted: usize,
}

impl Tally {
    /// Counts a call.
    pub fn add(&mut self, call: &RecordedCall) {
        self.calls += 1;
        for key in parts(&call.command) {
            if self.found.len() >= MOST && !self.found.contains_key(&key) {
                self.uncounted += 1;
                continue;
            }
            let counted = self.found.entry(key).or_insert_with(|| Count {
                count: 0,
                first: Source {
                    file: call.file.clone(),
                    line: call.line,
                    rule: String::new(),
                },
            });
            counted.count += 1;
        }
    }

    /// The rules of what was seen at least `least` times, as of [`suggest`](fn@suggest).
    pub fn suggestion(self, least: usize) -> Suggestion {
        let mut suggestion = Suggestion {
            calls: self.calls,
            uncounted: self.uncounted,
            ..Suggestion::default()
        };
        for ((why, decision, command), Count { count, first }) in self.found {
            match decision {
                Some(decision) if count >= least => {
                    let mut rule = Rule::new(decision, &first).commands(vec![command]);
                    rule.from.rule = times(count);
                    suggestion.rules.push(rule);
                }
                _ => suggestion.others.push(Seen {
                    command,
                    count,
                    why: match decision {
                        Some(Decision::Allow) => RARE,
                        Some(_) => RARE_OUTSIDE,
                        None => why,
                    },
                }),
            }
        }
        suggestion
            .rules
            .sort_by_key(|rule| rule.decision == Decision::Allow);
        suggestion
            .others
            .sort_by_key(|seen| std::cmp::Reverse(seen.count));
        suggestion
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "seen once".to_owned(),
        count => format!("seen {count} times, here first"),
    }
}

/// The simple commands of a text, each with the reason that there is no rule, or with its rule.
fn parts(command: &str) -> Vec<(&'static str, Option<Decision>, String)> {
    let none = |why, text: &str| {
        let words = text.split_whitespace().take(3);
        let mut shown = words.collect::<Vec<_>>().join(" ");
        shown.truncate(shown.floor_char_boundary(LONGEST_KEPT));
        (why, None, shown)
    };
    let Some(commands) = simple(command) else {
        return vec![none(NOT_SIMPLE, command)];
    };
    let parts = commands.into_iter().map(|words| {
        if let Some(pattern) = outside(&words) {
            return ("", Some(Decision::Ask), pattern.to_owned());
        }
        match harmless(&words) {
            Some(pattern) => ("", Some(Decision::Allow), pattern.to_owned()),
            None => none(NOT_PROVEN, &words.join(" ")),
        }
    });
    parts.collect()
}

/// The words of the simple commands of a text, if all of it is plain words, joined by `;`, `&&`, `||` and `|`.
fn simple(command: &str) -> Option<Vec<Vec<&str>>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./:=,@+%^;&|\n".contains(c);
    if command.len() > LONGEST || !command.chars().all(is_plain) {
        return None;
    }
    // A single `&` lets a command run on; with the others, what is left between them is empty or a command.
    let commands = command
        .split([';', '\n', '|'])
        .flat_map(|text| text.split("&&"));
    let commands = commands.map(str::trim).filter(|text| !text.is_empty());
    let words = commands.map(|text| {
        let words: Vec<_> = text.split_whitespace().collect();
        let is_command = !text.contains('&') && !words[0].contains('=');
        is_command.then_some(words)
    });
    words.collect()
}
