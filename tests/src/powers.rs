//! The powers and methods that test manifests grant to proxies.

use std::sync::LazyLock;

use acp_chain_powers::{Actions, Grant, NamedMethods, Pattern, Power};

/// Methods used by tests that no power covers.
const METHODS: &[&str] = &[
    "_*",
    "test/*",
    "vendor/*",
    "before/*",
    "behind/*",
    "no/such",
    "tick",
    "session/of_tomorrow",
];

/// Every power except those that change more than what a proxy may do (`tools` adds to the requests that set up
/// sessions, and `user.read` to its configuration), and the methods used by tests, as keys of `[[proxy]]`.
#[must_use]
pub fn everything() -> &'static str {
    static EVERYTHING: LazyLock<String> = LazyLock::new(|| all_but(&["tools", "user.read"]));
    &EVERYTHING
}

/// [`everything`] for which the program starts no process of its own: not `values.keep`. The chains of most tests have
/// these, since some count processes, and all wait for them.
#[must_use]
pub fn in_one_process() -> &'static str {
    static IN_ONE_PROCESS: LazyLock<String> =
        LazyLock::new(|| all_but(&["tools", "user.read", "values.keep"]));
    &IN_ONE_PROCESS
}

/// Every power except these, and the methods used by tests, as keys of `[[proxy]]`.
#[must_use]
pub fn all_but(without: &[&str]) -> String {
    let powers = Power::all().map(|power| power.key);
    let powers: Vec<_> = powers.filter(|key| !without.contains(key)).collect();
    let methods = METHODS
        .iter()
        .map(|method| format!("'{method}' = ['read', 'change', 'answer', 'send']"));
    let methods = methods.collect::<Vec<_>>().join(", ");
    format!("powers = {powers:?}\nmethods = {{ {methods} }}\n")
}

/// A grant of every power, and of the methods used by tests, for a proxy of a chain in this process.
///
/// # Panics
/// Never: all these powers and methods exist.
#[must_use]
pub fn grant(id: &str) -> Grant {
    let methods = METHODS.iter().map(|method| NamedMethods {
        methods: Pattern::new(method).expect("a pattern"),
        actions: Actions::all(),
    });
    let powers = Power::all().map(|power| power.key);
    Grant::new(id, powers, methods.collect()).expect("a grant")
}
