//! The outcome of a transcript: its differences, and the updated text.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::act::Act;
use super::format::Script;
use super::log::LogLine;
use acp_chain_rpc::untrusted::quote;

/// The maximum length of a shown line.
const SHOWN: usize = 400;

/// The maximum duration of the search for the smallest diff. The diff found by then may be larger than necessary.
const LONGEST: Duration = Duration::from_secs(5);

/// The number of lines of context around a difference.
const CONTEXT: usize = 4;

/// The maximum number of lines of a difference.
const LINES: usize = 200;

/// The maximum number of shown lines of the log.
const LOGGED: usize = 20;

/// The outcome of a transcript.
#[derive(Debug)]
pub struct Played {
    pub(super) blocks: Vec<Block>,
}

/// The outcome of an action, and of the expectations that follow it.
#[derive(Debug)]
pub(super) struct Block {
    /// The position of the action's step; `None` before the first.
    pub done: Option<usize>,
    /// The outcomes, in the order of the steps.
    pub outcomes: Vec<Outcome>,
    /// The log during the action.
    pub log: Vec<LogLine>,
}

/// The outcome of a step.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The step is as written.
    AsWritten(usize),
    /// This message was received instead of the step's.
    Changed(usize, Act),
    /// The step's message was not received.
    Missing(usize),
    /// This message was received after the step, but not expected.
    Extra(Option<usize>, Act),
    /// The step could not be played, for this reason. Later steps were not played.
    Stopped(usize, String),
}

impl Outcome {
    fn differs(&self) -> bool {
        !matches!(self, Self::AsWritten(_))
    }

    /// The position of the step that the outcome belongs to or follows.
    pub fn step(&self) -> Option<usize> {
        match self {
            Self::AsWritten(step)
            | Self::Changed(step, _)
            | Self::Missing(step)
            | Self::Stopped(step, _) => Some(*step),
            Self::Extra(after, _) => *after,
        }
    }
}

/// A place at which a received message differs from the text.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line, counted from 1.
    pub line: usize,
    /// The expected and the received text, as a diff; nothing in it can deceive a terminal.
    pub lines: Vec<String>,
}

impl Played {
    /// Whether all messages were received as written.
    pub fn is_as_written(&self) -> bool {
        !self.blocks.iter().any(Block::differs)
    }

    /// The differences between the text and the received messages, in order.
    pub fn differences(&self, script: &Script) -> Vec<Difference> {
        let blocks = self.blocks.iter();
        blocks
            .filter_map(|block| block.difference(script))
            .collect()
    }

    /// The lines that proxies logged during the last action: the proxy's id and the text.
    pub fn said_last(&self) -> Vec<(&str, &str)> {
        let lines = self.blocks.last().into_iter().flat_map(|block| &block.log);
        let said = lines.filter_map(|line| Some((line.proxy.as_deref()?, &*line.text)));
        said.collect()
    }

    /// Why the play stopped before the end.
    pub fn stopped(&self) -> Option<&str> {
        let mut outcomes = self.blocks.iter().flat_map(|block| &block.outcomes);
        outcomes.find_map(|outcome| match outcome {
            Outcome::Stopped(_, why) => Some(&**why),
            _ => None,
        })
    }

    /// The log of the block with the first difference: its last lines from proxies, and warnings.
    pub fn log(&self) -> Vec<String> {
        let mut blocks = self.blocks.iter();
        let first = blocks.find(|block| block.differs());
        let log = first.map(|block| &block.log[..]);
        let lines = log.unwrap_or_default().iter();
        let warnings = lines.filter(|line| line.is_warning || line.proxy.is_some());
        let shown = warnings.flat_map(|line| {
            let proxy = line.proxy.as_ref();
            let mark = proxy.map_or_else(String::new, |proxy| format!("{proxy}: "));
            let lines = line.text.lines().map(|text| quote(text, SHOWN));
            let lines: Vec<_> = lines.map(|text| format!("{mark}{text}")).collect();
            lines
        });
        let shown: Vec<_> = shown.collect();
        shown[shown.len().saturating_sub(LOGGED)..].to_vec()
    }

    /// The text with the received messages in place of the differing ones. The rest of the text is unchanged.
    pub fn updated(&self, script: &Script) -> String {
        let text = script.text();
        let mut updated = String::with_capacity(text.len());
        let mut at = 0;
        for outcome in self.blocks.iter().flat_map(|block| &block.outcomes) {
            let step = outcome.step().and_then(|step| script.steps.get(step));
            let place = step.map_or(script.start..script.start, |step| step.place.clone());
            let (end, new) = match outcome {
                Outcome::AsWritten(_) | Outcome::Stopped(..) => (place.end, None),
                Outcome::Changed(_, act) => (place.start, Some(act)),
                Outcome::Missing(_) => (place.start, None),
                Outcome::Extra(_, act) => (place.end, Some(act)),
            };
            updated.push_str(text.get(at..end).unwrap_or_default());
            at = at.max(place.end);
            if let Some(act) = new {
                push(&mut updated, act);
            }
        }
        updated.push_str(&text[at..]);
        updated
    }
}

/// Appends a step on new lines.
fn push(text: &mut String, act: &Act) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&act.to_string());
    text.push('\n');
}

impl Block {
    fn differs(&self) -> bool {
        self.outcomes.iter().any(Outcome::differs)
    }

    fn difference(&self, script: &Script) -> Option<Difference> {
        let first = self.outcomes.iter().find(|outcome| outcome.differs())?;
        let line = first.step().and_then(|step| script.steps.get(step));
        let line = line.map_or(1, |step| step.line);
        let (written, came) = self.sides(script);
        let mut diff = TextDiff::configure();
        let diff = diff.timeout(LONGEST).diff_lines(&written, &came);
        let mut lines = Vec::new();
        for op in diff.grouped_ops(CONTEXT).iter().flatten() {
            for change in diff.iter_changes(op) {
                let mark = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                let line = change.value().trim_end_matches('\n');
                lines.push(format!("{mark} {}", quote(line, SHOWN)));
            }
        }
        if lines.is_empty() {
            let whole = written.lines();
            lines.extend(whole.map(|line| format!("  {}", quote(line, SHOWN))));
        }
        let cut = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        if cut > 0 {
            lines.push(format!("… ({cut} lines more)"));
        }
        lines.extend(self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Stopped(_, why) => Some(format!("! {}", quote(why, SHOWN))),
            _ => None,
        }));
        Some(Difference { line, lines })
    }

    /// The steps of the block as written, and as received.
    fn sides(&self, script: &Script) -> (String, String) {
        let (mut written, mut came) = (String::new(), String::new());
        let act = |step: &usize| script.steps.get(*step).map(|step| &step.act);
        let has_outcome = self
            .outcomes
            .iter()
            .any(|outcome| !matches!(outcome, Outcome::Extra(..)) && outcome.step() == self.done);
        let done = self.done.filter(|_| !has_outcome).map(Outcome::AsWritten);
        for outcome in done.iter().chain(&self.outcomes) {
            let (old, new) = match outcome {
                Outcome::AsWritten(step) | Outcome::Stopped(step, _) => (act(step), act(step)),
                Outcome::Changed(step, instead) => (act(step), Some(instead)),
                Outcome::Missing(step) => (act(step), None),
                Outcome::Extra(_, extra) => (None, Some(extra)),
            };
            if let Some(act) = old {
                push(&mut written, act);
            }
            if let Some(act) = new {
                push(&mut came, act);
            }
        }
        (written, came)
    }
}
