//! A user's regex, as a rule.

use regex_automata::util::syntax;

use crate::machine::{self, Machine};
use crate::needles;
use crate::rules::{After, NONE, Rule};

/// A rule of the user, whose matches are not judged. It is leaked, to live as long as the program.
///
/// # Errors
/// If the regex is unusable: the error names it, and the reason.
pub fn pattern(name: &str, regex: &str) -> Result<Rule<'static>, String> {
    let wrong = |why: &str| Err(format!("the regex of the pattern `{name}` {why}"));
    if name.is_empty() || name.contains(['[', ']', '\n']) {
        return Err(format!(
            "a pattern cannot have the name `{name}`, which is shown in brackets"
        ));
    }
    let hir = match syntax::parse_with(regex, &machine::bytes()) {
        Ok(hir) => hir,
        Err(error) => {
            // The lines before show the regex again.
            let told = error.to_string();
            let why = told.rsplit("error: ").next().unwrap_or(&told);
            return wrong(&format!("is invalid: {why}"));
        }
    };
    if hir.properties().minimum_len() == Some(0) {
        return wrong("matches the empty text; it must require at least one character");
    }
    let needles = needles::of(&hir).unwrap_or_default().into_iter();
    let needles: Vec<&'static str> = needles.map(|needle| &*needle.leak()).collect();
    let leaked = |text: &str| -> &'static str { text.to_owned().leak() };
    let rule = Rule {
        name: leaked(name),
        needles: needles.leak(),
        secret: leaked(regex),
        after: After::Anything,
        custom: true,
        ..NONE
    };
    match Machine::new(&rule) {
        Ok(_) => Ok(rule),
        Err(error) => wrong(&error),
    }
}
