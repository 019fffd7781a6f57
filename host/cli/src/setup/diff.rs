//! A change as a diff. Configurations have keys in their environments, and a diff is pasted elsewhere: those that are found
//! are not shown.

use std::fmt::Write;

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_secrets::{Detector, Effort, defaults};
use acp_chain_setup::Change;
use console::style;
use similar::{ChangeTag, TextDiff};

/// How many lines of context a diff shows.
const CONTEXT: usize = 2;

/// Prints a change.
pub fn show(change: &Change) {
    let path = Untrusted::new(change.path.display());
    say!("--- {path}{}", missing(change.before.as_ref()));
    say!("+++ {path}{}", missing(change.after.as_ref()));
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let detector = Detector::new(defaults().copied()).ok();
    let diff = TextDiff::from_lines(before, after);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        say!("{}", hunk.header());
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches(['\n', '\r']);
            let plain = masked(detector.as_ref(), line).replace('\t', "    ");
            let shown = quote(&plain, MAX_QUOTE);
            match change.tag() {
                ChangeTag::Equal => say!(" {shown}"),
                ChangeTag::Delete => say!("{}", style(format!("-{shown}")).red()),
                ChangeTag::Insert => say!("{}", style(format!("+{shown}")).green()),
            }
        }
    }
}

fn missing(text: Option<&String>) -> &'static str {
    match text {
        Some(_) => "",
        None => " (is not there)",
    }
}

/// A line with markers in place of the secrets that are found in it.
fn masked(detector: Option<&Detector>, line: &str) -> String {
    let found = detector.map(|detector| detector.find(line, &mut Effort::default()));
    let Some(Ok(secrets)) = found else {
        return "(not shown: it could not be searched for secrets)".to_owned();
    };
    let (mut shown, mut end) = (String::new(), 0);
    for secret in secrets {
        shown.push_str(&line[end..secret.range.start]);
        let _ = write!(shown, "[secret: {}]", secret.name.unwrap_or("more"));
        end = secret.range.end;
    }
    shown.push_str(&line[end..]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown_and_all_else_is() {
        let detector = Detector::new(defaults().copied()).ok();
        let line = "  \"env\": { \"KEY\": \"AKIAIOSFODNN7EXAMPLQ\", \"ä\": 1 },";
        assert_eq!(
            masked(detector.as_ref(), line),
            "  \"env\": { \"KEY\": \"[secret: aws-access-token]\", \"ä\": 1 },"
        );
        assert_eq!(masked(detector.as_ref(), "\"args\": []"), "\"args\": []");
    }
}
