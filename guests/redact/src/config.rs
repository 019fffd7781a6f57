//! The proxy's table in the manifest.

use regex_automata::util::syntax;
use serde::Deserialize;

use crate::detector::Detector;
use crate::machine::{self, Machine};
use crate::needles;
use crate::rules::{self, ASSIGNMENT, Rule};

/// What the user may set. Every key has a default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Names of rules to do without.
    without: Vec<String>,
    /// Whether `password = …` and the like are secrets.
    assignments: bool,
    /// The user's own patterns; they come before the rules.
    patterns: Vec<Custom>,
    /// Whether files and terminal output that the agent reads through the client are covered.
    pub(crate) reads: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Custom {
    name: String,
    regex: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            without: Vec::new(),
            assignments: false,
            patterns: Vec::new(),
            reads: true,
        }
    }
}

impl Config {
    pub(crate) fn detector(self) -> Result<Detector, String> {
        for name in &self.without {
            check_name(name)?;
        }
        let custom = self.patterns.into_iter().map(Custom::rule);
        let mut all = custom.collect::<Result<Vec<_>, _>>()?;
        let is_out = |rule: &Rule| self.without.iter().any(|name| name == rule.name);
        all.extend(rules::defaults().copied().filter(|rule| !is_out(rule)));
        all.extend(self.assignments.then_some(ASSIGNMENT));
        Detector::new(all)
    }
}

/// A name that no rule has is an error, which tells the nearest one.
fn check_name(name: &str) -> Result<(), String> {
    if rules::defaults().any(|rule| rule.name == name) {
        return Ok(());
    }
    let distance = |rule: &&Rule| strsim::osa_distance(rule.name, name);
    let nearest = rules::defaults()
        .min_by_key(distance)
        .map_or("", |rule| rule.name);
    Err(format!(
        "`without` names `{name}`, which is no rule; is it `{nearest}`? All of them are in the \
         proxy's RULES.md"
    ))
}

impl Custom {
    /// A wrong pattern is named, with what is wrong about it.
    fn rule(self) -> Result<Rule<'static>, String> {
        let Self { name, regex } = self;
        let wrong = |why: &str| Err(format!("the regex of the pattern `{name}` {why}"));
        if name.is_empty() || name.contains(['[', ']', '\n']) {
            return Err(format!(
                "a pattern cannot have the name `{name}`: it is shown in brackets"
            ));
        }
        let hir = match syntax::parse_with(&regex, &machine::bytes()) {
            Ok(hir) => hir,
            Err(error) => return wrong(&format!("is not right: {error}")),
        };
        if hir.properties().minimum_len() == Some(0) {
            return wrong("matches the empty text; let it ask for at least one character");
        }
        // There is one configuration, for as long as the proxy runs.
        let needles = needles::of(&hir).unwrap_or_default().into_iter();
        let needles: Vec<&'static str> = needles.map(|needle| &*needle.leak()).collect();
        let rule = Rule::custom(name.clone().leak(), regex.clone().leak(), needles.leak());
        match Machine::new(&rule) {
            Ok(_) => Ok(rule),
            Err(error) => wrong(&error),
        }
    }
}
