//! Whether to use colours: one answer for all output. Logs, and clap's output, have none.

use std::env;

use console::Term;

/// Decides for standard output and standard error, before anything is written.
pub fn decide() {
    console::set_colors_enabled(are_wanted(&Term::stdout()));
    console::set_colors_enabled_stderr(are_wanted(&Term::stderr()));
}

fn are_wanted(stream: &Term) -> bool {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() {
        return false;
    }
    if set("CLICOLOR_FORCE").is_some_and(|force| force != "0") {
        return true;
    }
    set("CLICOLOR").is_none_or(|value| value != "0") && stream.features().colors_supported()
}
