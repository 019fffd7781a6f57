//! A text or a regular expression, searched for line by line.
//!
//! A regular expression takes linear time and bounded memory, or gives up. Its classes and its case folding cover ASCII
//! only; the tables for other characters are large.

use std::cell::RefCell;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

/// The maximum length of a pattern, in bytes.
const LONGEST_PATTERN: usize = 1000;
/// The maximum memory of a regular expression before it is run, in bytes.
const LARGEST_REGEX: usize = 256 * 1024;
/// The maximum number of cache clears during a run.
const MOST_CLEARS: usize = 20;

pub(crate) enum Search {
    Text(String),
    Regex(Box<DFA>, RefCell<Cache>),
}

impl Search {
    pub(crate) fn new(pattern: &str, regex: bool, ignore_case: bool) -> Result<Self, String> {
        if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
            return Err(format!(
                "`pattern` has {} bytes, expected 1 to {LONGEST_PATTERN}",
                pattern.len()
            ));
        }
        if !regex && !ignore_case {
            return Ok(Self::Text(pattern.to_owned()));
        }
        let pattern = if regex {
            pattern.to_owned()
        } else {
            escaped(pattern)
        };
        let syntax = syntax::Config::new()
            .unicode(false)
            .utf8(false)
            .case_insensitive(ignore_case)
            .nest_limit(50);
        let nfa = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(LARGEST_REGEX));
        let limits = Config::new()
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(MOST_CLEARS));
        let dfa = DFA::builder()
            .syntax(syntax)
            .thompson(nfa)
            .configure(limits)
            .build(&pattern)
            .map_err(|error| wrong(&error))?;
        let cache = RefCell::new(dfa.create_cache());
        Ok(Self::Regex(Box::new(dfa), cache))
    }

    /// Whether it matches a line; an error if the expression exceeds its limits.
    pub(crate) fn is_in(&self, line: &str) -> Result<bool, &'static str> {
        match self {
            Self::Text(text) => Ok(line.contains(text)),
            Self::Regex(dfa, cache) => {
                let line = Input::new(line).earliest(true);
                let found = dfa.try_search_fwd(&mut cache.borrow_mut(), &line);
                found
                    .map(|found| found.is_some())
                    .map_err(|_| "`pattern` is too complex; simplify it")
            }
        }
    }
}

/// Escapes a text for a regular expression, in which `\<` and `\>` are word boundaries.
fn escaped(text: &str) -> String {
    let escape = |c: char| {
        (c.is_ascii_punctuation() && !matches!(c, '<' | '>'))
            .then_some('\\')
            .into_iter()
            .chain([c])
    };
    text.chars().flat_map(escape).collect()
}

/// The error message of an invalid regular expression: that of the innermost source.
fn wrong(error: &dyn std::error::Error) -> String {
    let reason = std::iter::successors(Some(error), |error| error.source()).last();
    let reason = reason.map(ToString::to_string).unwrap_or_default();
    format!(
        "`pattern` is not a valid regular expression: {}",
        reason.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_found_in_itself_whatever_its_case() {
        let punctuation = ('!'..='~').filter(char::is_ascii_punctuation);
        for c in punctuation {
            let text = format!("a{c}{c}B{c}");
            let search = Search::new(&text.to_lowercase(), false, true).expect("right");
            assert_eq!(search.is_in(&format!("x {text}")), Ok(true), "{text}");
            assert_eq!(search.is_in("x a B"), Ok(false), "{text}");
        }
    }
}
