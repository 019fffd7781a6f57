//! The proxy's table in the manifest.

use serde::Deserialize;

use crate::detector::Detector;
use crate::patterns::{ASSIGNMENT, DEFAULT};

/// What the user may set. Every key has a default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Names of default patterns to do without.
    without: Vec<String>,
    /// Whether `password = …` and the like are secrets.
    assignments: bool,
    /// The user's own patterns; they come before the default ones.
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
    pub(crate) fn detector(&self) -> Result<Detector, String> {
        for name in &self.without {
            if !DEFAULT.iter().any(|(default, _)| default == name) {
                let names: Vec<_> = DEFAULT.iter().map(|(name, _)| *name).collect();
                let names = names.join("`, `");
                return Err(format!(
                    "`without` names `{name}`, expected one of `{names}`"
                ));
            }
        }
        for custom in &self.patterns {
            check(custom)?;
        }
        let custom = self
            .patterns
            .iter()
            .map(|custom| (&*custom.name, &*custom.regex));
        let default = DEFAULT.iter().copied();
        let default = default.filter(|(name, _)| !self.without.iter().any(|out| out == name));
        Detector::new(
            custom
                .chain(default)
                .chain(self.assignments.then_some(ASSIGNMENT)),
        )
    }
}

/// A wrong pattern is named, with what is wrong about it.
fn check(custom: &Custom) -> Result<(), String> {
    let Custom { name, regex } = custom;
    let wrong = |why: &str| Err(format!("the regex of the pattern `{name}` {why}"));
    if name.is_empty() || name.contains(['[', ']', '\n']) {
        return Err(format!(
            "a pattern cannot have the name `{name}`: it is shown in brackets"
        ));
    }
    let syntax = match regex_automata::util::syntax::parse(regex) {
        Ok(syntax) => syntax,
        Err(error) => return wrong(&format!("is not right: {error}")),
    };
    if syntax.properties().look_set().contains_word_unicode() {
        return wrong(r"has a Unicode word boundary; write `(?-u:\b)` in place of `\b`");
    }
    if syntax.properties().minimum_len() == Some(0) {
        return wrong("matches the empty text; let it ask for at least one character");
    }
    Detector::new([(&**name, &**regex)])
        .map(drop)
        .or_else(|error| wrong(&error))
}
