//! Matches the messages received at an end with the expected ones.

use std::time::{Duration, Instant};

use similar::DiffOp;
use similar::algorithms::{Capture, myers};

use super::act::{Kind, Said};
use super::ends::Arrival;
use super::pattern::Captures;

/// The maximum duration of the search. For thousands of messages, the match found by then may not be the best.
const LONGEST: Duration = Duration::from_secs(5);

/// One pair of the match: the positions of the expected and of the received message in their lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The message is as expected.
    Same(usize, usize),
    /// The message has the expected kind and method, and another body.
    Changed(usize, usize),
    /// The message was expected, but not received.
    Missing(usize),
    /// The message was received, but not expected.
    Extra(usize),
}

/// Finds the most messages that match exactly, and among the rest the most whose kind and method match.
pub fn align(expected: &[&Said], came: &[Arrival], captures: &Captures) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for op in compare(expected, came, Some(captures)) {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            pairs.extend(old.zip(new).map(|(old, new)| Pair::Same(old, new)));
            continue;
        }
        for op in compare(&expected[old.clone()], &came[new.clone()], None) {
            let old = op.old_range().map(|at| old.start + at);
            let new = op.new_range().map(|at| new.start + at);
            if matches!(op, DiffOp::Equal { .. }) {
                pairs.extend(old.zip(new).map(|(old, new)| Pair::Changed(old, new)));
            } else {
                pairs.extend(old.map(Pair::Missing));
                pairs.extend(new.map(Pair::Extra));
            }
        }
    }
    pairs
}

/// The longest common subsequence: messages that match exactly, or, without captures, by kind and method.
fn compare(expected: &[&Said], came: &[Arrival], captures: Option<&Captures>) -> Vec<DiffOp> {
    let old: Vec<_> = expected.iter().map(|said| ExpectedMessage(said)).collect();
    let candidates = came.iter().map(|came| Candidate { came, captures });
    let new: Vec<_> = candidates.collect();
    let mut found = similar::algorithms::Replace::new(Capture::new());
    // This fails only if a hook fails.
    let (old_all, new_all) = (0..old.len(), 0..new.len());
    let deadline = Some(Instant::now() + LONGEST);
    let _ = myers::diff_deadline(&mut found, &old[..], old_all, &new[..], new_all, deadline);
    found.into_inner().into_ops()
}

struct ExpectedMessage<'a>(&'a Said);

struct Candidate<'a> {
    came: &'a Arrival,
    captures: Option<&'a Captures>,
}

impl PartialEq<ExpectedMessage<'_>> for Candidate<'_> {
    fn eq(&self, ExpectedMessage(said): &ExpectedMessage) -> bool {
        is_of_kind(said, self.came)
            && self.captures.is_none_or(|captures| {
                let mut body = said.body.iter();
                body.all(|body| body.matches(&self.came.body, captures).is_some())
            })
    }
}

/// Whether a message has the expected kind and method, and, unless it is a request, belongs to the expected request.
fn is_of_kind(said: &Said, came: &Arrival) -> bool {
    let is_named = matches!(said.kind, Kind::Request(_)) || said.name == came.said.name;
    said.kind == came.said.kind && is_named
}

#[cfg(test)]
mod tests {
    use super::super::act::Act;
    use super::super::format::Script;
    use super::super::json::Json;
    use super::*;

    fn expected(lines: &str) -> Vec<Said> {
        let steps = Script::read(lines).unwrap().steps.into_iter();
        let said = steps.filter_map(|step| match step.act {
            Act::Gets(_, said) => Some(said),
            _ => None,
        });
        said.collect()
    }

    fn came(lines: &str) -> Vec<Arrival> {
        let said = expected(lines).into_iter();
        let came = said.map(|mut said| Arrival {
            body: Json::read(&said.body.take().unwrap().to_string()).unwrap(),
            said,
            id: None,
        });
        came.collect()
    }

    fn aligned(lines: &str, others: &str) -> Vec<Pair> {
        let expected = expected(lines);
        align(
            &expected.iter().collect::<Vec<_>>(),
            &came(others),
            &Captures::new(),
        )
    }

    #[test]
    fn one_message_more_does_not_shift_the_others() {
        let pairs = aligned(
            "agent gets: a {\"x\": 1}\nagent gets: a {\"x\": 2}\n",
            "agent gets: a {\"x\": 1}\nagent gets: b {}\nagent gets: a {\"x\": 2}\n",
        );
        assert_eq!(pairs, [Pair::Same(0, 0), Pair::Extra(1), Pair::Same(1, 2)]);
    }

    #[test]
    fn a_message_of_the_same_method_with_another_body_is_changed() {
        let pairs = aligned(
            "agent gets: a {\"x\": 1}\nagent gets: b\n",
            "agent gets: c {}\nagent gets: a {\"x\": 2}\n",
        );
        assert_eq!(
            pairs,
            [Pair::Extra(0), Pair::Changed(0, 1), Pair::Missing(1)]
        );
    }
}
