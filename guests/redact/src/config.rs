//! The proxy's table in the manifest.

use acp_chain_secrets::{ASSIGNMENT, Detector, Rule, defaults, pattern};
use serde::Deserialize;

/// What the user may set. Every key has a default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Names of rules to disable.
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
        let patterns = self.patterns.iter();
        let custom = patterns.map(|custom| pattern(&custom.name, &custom.regex));
        let mut all = custom.collect::<Result<Vec<_>, _>>()?;
        let is_out = |rule: &Rule| self.without.iter().any(|name| name == rule.name);
        all.extend(defaults().copied().filter(|rule| !is_out(rule)));
        all.extend(self.assignments.then_some(ASSIGNMENT));
        Detector::new(all)
    }
}

/// Rejects an unknown rule, and suggests the nearest name.
fn check_name(name: &str) -> Result<(), String> {
    if defaults().any(|rule| rule.name == name) {
        return Ok(());
    }
    let distance = |rule: &&Rule| strsim::osa_distance(rule.name, name);
    let nearest = defaults().min_by_key(distance).map_or("", |rule| rule.name);
    Err(format!(
        "`without` names the unknown rule `{name}`; did you mean `{nearest}`? RULES.md, linked in \
         the README, lists all rules"
    ))
}
