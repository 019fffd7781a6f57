//! The description of an extension, in plain words, for users who decide about it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use acp_chain_package::{Package, keys};
use acp_chain_powers::{Danger, Power};
use serde_json::{Value, json};

use crate::short::Short;
use crate::words::{failure, in_words};
use acp_chain_channel::limits::about;
use acp_chain_extension::{Digest, Release};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Which of the author's reasons are shown. What is of high danger always has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasons {
    All,
    /// Of many powers, only those of high danger have them.
    Folded,
}

/// With more powers than this, what is of no high danger is folded.
pub(crate) const WHOLE: usize = 6;

/// The line before an example, which is at the end.
pub const FOR_EXAMPLE: &str = "For example";

/// How many lines of an example are shown.
const EXAMPLE: usize = 60;

impl Reasons {
    /// Whether the reason for a power, of that many, is shown.
    pub fn show(self, power: &Power, of: usize) -> bool {
        self == Self::All || of <= WHOLE || power.danger == Danger::High
    }
}

/// The description, one line each; with all reasons, also the keys of the configuration, which no decision needs.
pub fn whole(package: &Package, digest: Digest, size: u64, reasons: Reasons) -> Vec<String> {
    let mut lines = lines(package, digest, size, reasons);
    if reasons == Reasons::All {
        lines.extend(configuration(package));
        lines.extend(example(package));
    }
    lines
}

/// An entry of a manifest with the first example of the configuration, one line each. None for a package without one.
fn example(package: &Package) -> Vec<String> {
    let schema = package.asks.config.as_ref();
    let config = schema.and_then(|schema| schema.get("examples")?.get(0));
    let text = config.map(|config| toml::to_string(&json!({ "proxy": { "config": config } })));
    let Some(Ok(text)) = text else {
        return Vec::new();
    };
    let entry = [
        "[[proxy]]".to_owned(),
        format!("use = \"{}\"", package.name),
    ];
    let rows = text.lines().take(EXAMPLE);
    let rows = rows.map(|line| quote(line, MAX_QUOTE));
    let lines = entry.into_iter().chain([String::new()]).chain(rows);
    let indented = lines.map(|line| format!("  {line}").trim_end().to_owned());
    std::iter::once(FOR_EXAMPLE.to_owned())
        .chain(indented)
        .collect()
}

/// The keys of the configuration, one line each, and below it the meaning. None for a package that takes none.
fn configuration(package: &Package) -> Vec<String> {
    let schema = package.asks.config.as_ref();
    let keys = schema.map(keys).unwrap_or_default();
    let mut lines = Vec::new();
    for key in &keys {
        let path = quote(&key.path, MAX_QUOTE);
        let value = match (&key.default, key.is_required) {
            (Some(default), _) => format!(" = {}", quote(default, MAX_QUOTE)),
            (None, true) => " (required)".to_owned(),
            (None, false) => String::new(),
        };
        lines.push(format!("  {path}{value}"));
        if !key.description.is_empty() {
            lines.push(format!("    {}", quote(&key.description, MAX_QUOTE)));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, "Its configuration, `[proxy.config]`".to_owned());
    }
    lines
}

/// The description, one line each.
fn lines(package: &Package, digest: Digest, size: u64, reasons: Reasons) -> Vec<String> {
    let mut lines = description(package, digest, size);
    lines.extend(short(package));
    lines.push("It asks for".to_owned());
    let asked = asks(package, reasons).into_iter();
    lines.extend(asked.map(|line| format!("  {line}")));
    lines.push("It cannot".to_owned());
    lines.push(format!("  {}", cannot(&package.imports)));
    lines
}

/// What a package asks for, in three lines, if it asks for anything.
fn short(package: &Package) -> Vec<String> {
    let asks = &package.asks;
    if asks.powers.is_empty() && asks.methods.is_empty() {
        return Vec::new();
    }
    let mut short = Short::default();
    for asked in &asks.powers {
        if let Some(power) = Power::named(&asked.power) {
            short.power(power);
        }
    }
    for _ in &asks.methods {
        short.method();
    }
    short.lines().into()
}

/// The package's description of itself, one line each.
pub fn description(package: &Package, digest: Digest, size: u64) -> Vec<String> {
    let text = |text: &str| quote(text, MAX_QUOTE);
    let mut lines = vec![format!("{} {}", package.name, package.version)];
    lines.extend(package.about.said().map(|(section, said)| {
        let label = match section {
            "authors" => "by ",
            "licenses" => "licence: ",
            "source" => "source: ",
            "homepage" => "page: ",
            "revision" => "revision: ",
            _ => "",
        };
        format!("  {label}{}", text(said))
    }));
    let interface = package.interface().map_or_else(
        || "is no proxy".to_owned(),
        |version| format!("made for version {} of the interface", text(version)),
    );
    lines.push(format!("  {digest}, {}, {interface}", about(size)));
    if package.draft {
        lines.push("  a draft: `acp-chain build` makes one that is faster at work".to_owned());
    }
    lines
}

/// The powers, methods and limits that a package asks for, the most dangerous first.
fn asks(package: &Package, reasons: Reasons) -> Vec<String> {
    let asks = &package.asks;
    let mut lines = Vec::new();
    for (name, asked) in &asks.methods {
        let (name, actions) = (quote(name, MAX_QUOTE), asked.actions.join(", "));
        lines.push(format!(
            "! may {actions} {name}, which is not in the protocol: this program cannot say what it is"
        ));
        lines.push(format!("    {}", author(&asked.reason)));
    }
    let named = asks.powers.iter();
    let named = named.filter_map(|asked| Some((Power::named(&asked.power)?, &asked.reason)));
    let mut powers: Vec<_> = named.collect();
    powers.sort_by_key(|(power, _)| Reverse(power.danger));
    for (power, reason) in &powers {
        lines.push(in_words(power));
        if reasons.show(power, powers.len()) {
            lines.push(format!("    {}", author(reason)));
        }
    }
    for (key, value) in &asks.limits {
        let (key, value) = (quote(key, MAX_QUOTE), quote(&value.to_string(), MAX_QUOTE));
        lines.push(format!(
            "up to {value} of `{key}`, a limit (acp-chain limits)"
        ));
    }
    if lines.is_empty() {
        lines.push("nothing: it sees nothing, and does nothing".to_owned());
    }
    if asks.guard {
        lines.push(
            "it is a guard: it stands next to the agent, behind all other proxies".to_owned(),
        );
    }
    if !asks.guards_by.is_empty() {
        let powers = asks.guards_by.iter().map(|power| quote(power, MAX_QUOTE));
        let powers = powers.collect::<Vec<_>>().join(", ");
        lines.push(format!("it cannot guard without {powers}"));
    }
    if let Some(on_failure) = asks.on_failure {
        let policy = failure(Some(on_failure));
        lines.push(format!("when it breaks: {policy} (on-failure)"));
    }
    lines
}

/// The imports of a component, for people: those of WASI by their packages.
pub fn imports(names: &[String]) -> String {
    let mut wasi: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut others = Vec::new();
    for name in names {
        match of_wasi(name) {
            Some((package, version)) => {
                wasi.entry(version).or_default().insert(package);
            }
            None => others.push(quote(name, MAX_QUOTE)),
        }
    }
    let wasi = wasi.into_iter().map(|(version, packages)| {
        let packages = packages.into_iter().collect::<Vec<_>>().join(", ");
        quote(&format!("WASI {version} ({packages})"), MAX_QUOTE)
    });
    let all: Vec<_> = wasi.chain(others).collect();
    if all.is_empty() {
        "nothing".to_owned()
    } else {
        all.join(", ")
    }
}

/// The package and the version of an interface of WASI.
fn of_wasi(name: &str) -> Option<(&str, &str)> {
    let (package, interface) = name.strip_prefix("wasi:")?.split_once('/')?;
    let (_, version) = interface.split_once('@')?;
    Some((package, version))
}

/// The signer of a release, for people.
pub fn signer(release: &Release) -> String {
    let signer = release.signer.as_ref();
    signer.map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// Whether a release is signed, and with which key, for people.
pub fn signed(release: &Release) -> String {
    let signer = release.signer.as_ref();
    signer.map_or_else(
        || "not signed".to_owned(),
        |signer| format!("signed by {signer}"),
    )
}

/// A reason given by its author.
pub fn author(reason: &str) -> String {
    format!("its author says: {}", quote(reason, MAX_QUOTE))
}

pub fn cannot(imports: &[String]) -> &'static str {
    if imports.iter().any(|name| name.starts_with("wasi:")) {
        "reach files, unless you give it a directory; the network, programs, your environment, or other \
             proxies. It imports WASI, which gives it clocks and random numbers"
    } else {
        "reach files, the network, programs, clocks, your environment, or other proxies"
    }
}

/// The description, for programs.
pub fn json(package: &Package, digest: Digest, size: u64) -> Value {
    let mut facts = json!({
        "name": package.name,
        "version": package.version,
        "digest": digest.to_string(),
        "size": size,
        "interface": package.interface(),
        "imports": package.imports,
        "asks": package.asks,
        "draft": package.draft,
    });
    for (section, said) in package.about.said() {
        facts[section] = said.into();
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_of_wasi_are_named_by_their_packages() {
        let told = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            imports(&names)
        };
        assert_eq!(told(&[]), "nothing");
        assert_eq!(
            told(&[
                "wasi:io/streams@0.2.12",
                "wasi:cli/stdin@0.2.12",
                "wasi:io/poll@0.2.12",
                "acp-chain:proxy/types@0.1.2",
                "wasi:odd",
            ]),
            "WASI 0.2.12 (cli, io), acp-chain:proxy/types@0.1.2, wasi:odd"
        );
    }
}
