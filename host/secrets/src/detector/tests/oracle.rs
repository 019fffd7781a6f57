//! The reference for tests: another engine, which tries every rule at every position of the whole text, without
//! needles, pieces or budgets.

use std::ops::Range;

use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use regex_automata::{Anchored, Input};

use crate::detector::Marker;
use crate::judge;
use crate::machine::{self, CombinedRegex, Machine};
use crate::rules::{self, Rule};
use crate::text::{self, Codes, End, NextChar};

pub(super) struct Oracle {
    rules: Vec<(Rule<'static>, PikeVM, Machine)>,
    never: CombinedRegex,
}

impl Oracle {
    pub(super) fn new(rules: impl IntoIterator<Item = Rule<'static>>) -> Self {
        let engine = |rule: &Rule| {
            PikeVM::builder()
                .syntax(machine::bytes())
                .thompson(thompson::Config::new().utf8(false))
                .build(&rule.regex())
                .expect("right")
        };
        let rules = rules.into_iter().map(|rule| {
            let machine = Machine::new(&rule).expect("right");
            (rule, engine(&rule), machine)
        });
        Self {
            rules: rules.collect(),
            never: CombinedRegex::new(&rules::never()).expect("right"),
        }
    }

    pub(super) fn redact(&self, text: &str) -> String {
        // The text as the rules read it, with the position of each character.
        let (mut read, mut places, mut at) = (Vec::new(), vec![], 0);
        while let NextChar::Byte(byte, next) =
            text::next(text.as_bytes(), at, End::Here, Codes::Read)
        {
            read.push(byte);
            places.push(at);
            at = next;
        }
        places.push(at);
        let mut out: Vec<(Range<usize>, &str)> = Vec::new();
        for place in 0..read.len() {
            let is_out = |(range, _): &(Range<usize>, &str)| range.contains(&places[place]);
            if out.iter().any(is_out) {
                continue;
            }
            let mut here = Vec::new();
            for (rule, engine, machine) in &self.rules {
                let input = Input::new(&read).range(place..).anchored(Anchored::Yes);
                let Some(whole) = engine.find(&mut engine.create_cache(), input) else {
                    continue;
                };
                let around = &read[whole.range()];
                let secret = machine.secret(around, read.get(whole.end()).copied());
                let secret = secret.expect("in memory");
                let apart = place == 0 || !read[place - 1].is_ascii_alphanumeric();
                let found = &around[secret.clone()];
                let judged = judge::is_secret(rule, machine, &self.never, found, around);
                if (apart || !rule.apart) && judged.expect("in memory") {
                    here.push((
                        places[place + secret.start]..places[place + secret.end],
                        rule.name,
                    ));
                }
            }
            here.sort_by_key(|(range, _)| std::cmp::Reverse(range.len()));
            for (mut range, mut name) in here {
                let overlaps = |(old, _): &(Range<usize>, &str)| {
                    old.start < range.end && range.start < old.end
                };
                if let Some(old) = out.iter().position(overlaps) {
                    let (old, first) = out.remove(old);
                    range = old.start.min(range.start)..old.end.max(range.end);
                    name = first;
                }
                out.push((range, name));
            }
        }
        out.sort_by_key(|(range, _)| range.start);
        let (mut result, mut copied) = (String::new(), 0);
        for (range, name) in out {
            result += &text[copied..range.start];
            result += &[Marker::Redacted.begin(), name, "]"].concat();
            copied = range.end;
        }
        result + &text[copied..]
    }
}
