//! What proxies are granted in the manifests of tests.

use std::sync::LazyLock;

use acp_chain_powers::{Actions, Grant, NamedMethods, Pattern, Power};

/// Methods that no power covers, as tests call them.
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

/// Everything but `tools`, and `user.read`, which adds to what a proxy is configured with; as keys of `[[proxy]]`.
#[must_use]
pub fn everything() -> &'static str {
    static EVERYTHING: LazyLock<String> = LazyLock::new(|| all_but(&["tools", "user.read"]));
    &EVERYTHING
}

/// Everything but some powers, as keys of `[[proxy]]`.
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

/// The same for a proxy of a chain in this process.
///
/// # Panics
/// Never: there are such powers and methods.
#[must_use]
pub fn grant(id: &str) -> Grant {
    let methods = METHODS.iter().map(|method| NamedMethods {
        methods: Pattern::new(method).expect("a pattern"),
        actions: Actions::ALL,
    });
    let powers = Power::all().map(|power| power.key);
    Grant::new(id, powers, methods.collect()).expect("a grant")
}
