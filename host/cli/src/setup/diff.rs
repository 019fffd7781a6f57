//! A change as a diff. Configurations have keys in their environments, and a diff is pasted elsewhere: those that are
//! found are not shown.

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_secrets::masked;
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
    let diff = TextDiff::from_lines(before, after);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        say!("{}", hunk.header());
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches(['\n', '\r']);
            let plain = masked(line).replace('\t', "    ");
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
