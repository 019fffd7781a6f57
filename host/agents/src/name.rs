//! Names of agents.

use std::borrow::Borrow;

use acp_chain_system::names::is_special;

/// Whether an agent can have this name, which is also that of a folder: 1 to 64 letters, digits, `-`, `_` or `.`,
/// starting with a letter or a digit, and on Windows none that means something else there.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !(cfg!(windows) && is_special(name.as_bytes()))
}

/// These names as a list, or `none` if there are none.
pub(crate) fn list<S: Borrow<str>>(names: &[S], none: &str) -> String {
    if names.is_empty() {
        none.to_owned()
    } else {
        names.join(", ")
    }
}

/// The most similar of these names, if any is similar.
pub(crate) fn nearest<'n>(name: &str, all: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let like = |other: &str| strsim::jaro_winkler(&other.to_lowercase(), &name.to_lowercase());
    let near = all
        .into_iter()
        .max_by(|one, other| like(one).total_cmp(&like(other)));
    near.filter(|near| like(near) > 0.7).map(str::to_owned)
}
