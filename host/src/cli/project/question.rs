//! What users see of a project before they agree: all of it the first time, later the differences.

use acp_chain_package::Package;
use serde_json::Value;

use super::opened::Opened;
use crate::cli::extension::about;
use crate::cli::words;
use crate::extension::{Digest, Location, Release};
use crate::manifest::{ComponentEntry, ProxyEntry, ProxyKind};
use crate::project::{Agreed, Difference};
use crate::untrusted::{MAX_QUOTE, quote};

/// Everything that a project asks for.
pub fn all(opened: &Opened) -> Vec<String> {
    let mut lines = vec!["It asks for these proxies, the client's neighbour first:".to_owned()];
    if opened.manifest.proxies.is_empty() {
        lines = vec!["It asks for no proxies.".to_owned()];
    }
    for entry in &opened.manifest.proxies {
        lines.push(String::new());
        lines.extend(one(opened, entry));
    }
    lines
}

/// The differences from the earlier consent.
pub fn difference(opened: &Opened, before: &[Agreed]) -> Vec<String> {
    let difference = Difference::between(before, &opened.agreed());
    if difference.is_none() {
        let nothing = "Its files changed, but the proxies, and what they may do, are the same.";
        return vec![nothing.to_owned()];
    }
    let mut lines = vec!["What is different from what you agreed to:".to_owned()];
    for id in &difference.gone {
        lines.push(format!("- `{id}` is gone"));
    }
    for (id, changed) in &difference.changed {
        lines.push(format!("~ `{id}`"));
        for (what, before, now) in changed {
            let text = |text: &str| quote(text, MAX_QUOTE);
            lines.push(format!(
                "    {}: {} → {}",
                text(what),
                text(before),
                text(now)
            ));
        }
        let before = before.iter().find(|one| one.id == *id);
        let entry = opened.manifest.proxies.iter().find(|entry| entry.id == *id);
        if let (Some(before), Some(entry)) = (before, entry) {
            lines.extend(
                more(entry, before)
                    .into_iter()
                    .map(|line| format!("    {line}")),
            );
        }
    }
    if let Some([before, now]) = &difference.order {
        let (before, now) = (before.join(", "), now.join(", "));
        lines.push(format!("~ the order: {before} → {now}"));
    }
    for entry in &opened.manifest.proxies {
        if difference.new.contains(&entry.id) {
            lines.push(format!("+ `{}` is new:", entry.id));
            lines.extend(
                one(opened, entry)
                    .into_iter()
                    .map(|line| format!("    {line}")),
            );
        }
    }
    lines
}

/// The powers that a proxy did not have before, in words.
fn more(entry: &ProxyEntry, before: &Agreed) -> Vec<String> {
    let ProxyKind::Component(component) = &entry.kind else {
        return Vec::new();
    };
    let package = component.location.package().ok();
    let powers = component.grant.powers().iter();
    let new = powers.filter(|power| !before.powers.iter().any(|key| key == power.key));
    new.flat_map(|power| power_in_words(power, package.as_ref()))
        .collect()
}

/// One proxy.
fn one(opened: &Opened, entry: &ProxyEntry) -> Vec<String> {
    let ProxyKind::Component(component) = &entry.kind else {
        return Vec::new();
    };
    let package = component.location.package().ok();
    let release = opened.content.locked(&entry.id);
    let mut lines = vec![entry.id.clone()];
    let mut add = |line: String| lines.push(format!("  {line}"));
    add(source(opened, entry, component, release));
    let (digest, size) = identity(opened, entry, component, release);
    match (&package, digest) {
        (Some(package), Some(digest)) => about::what(package, digest, size)
            .into_iter()
            .for_each(&mut add),
        (None, Some(digest)) => {
            let size = crate::limits::about(size);
            add(format!("has no metadata: {digest}, {size}"));
        }
        (_, None) => {}
    }
    let grant = &component.grant;
    if grant.powers().is_empty() && grant.methods().is_empty() {
        add("has no powers: it sees nothing, and does nothing".to_owned());
    }
    for power in grant.powers() {
        power_in_words(power, package.as_ref())
            .into_iter()
            .for_each(&mut add);
    }
    for named in grant.methods() {
        add(words::by_name(named));
    }
    component
        .directories
        .iter()
        .map(words::given)
        .for_each(&mut add);
    add(format!("uses: {}", words::limits(&component.limits)));
    add(format!(
        "when it breaks: {}",
        words::failure(entry.on_failure)
    ));
    if let Some(package) = &package {
        add(format!("cannot {}", about::cannot(&package.imports)));
    }
    configuration(component, package.as_ref())
        .into_iter()
        .for_each(&mut add);
    lines
}

/// The source of a component. The lock's claims are those of the project's author.
fn source(
    opened: &Opened,
    entry: &ProxyEntry,
    component: &ComponentEntry,
    release: Option<&Release>,
) -> String {
    let text = |text: &str| quote(text, MAX_QUOTE);
    match (&component.location, release) {
        (Location::Carried(extension), None) => {
            format!("is `{}`, which comes with acp-chain", text(&extension.name))
        }
        (_, Some(release)) => {
            let signer = match &release.signer {
                Some(signer) => format!("signed by {signer}"),
                None => "signed by nobody".to_owned(),
            };
            let version = release.version.as_deref().unwrap_or("without a number");
            format!(
                "comes from {}, as its lock says, version {}, {signer}",
                text(&release.source.to_string()),
                text(version)
            )
        }
        (location, None) => {
            let Some(path) = location.path() else {
                return String::new();
            };
            let path = path.strip_prefix(opened.content.root()).unwrap_or(path);
            let path = text(&path.display().to_string());
            match opened.content.stored(&entry.id) {
                Some(_) => format!("lies in the project, at {path}"),
                None => format!("lies at {path}"),
            }
        }
    }
}

/// The digest and the size of a component.
fn identity(
    opened: &Opened,
    entry: &ProxyEntry,
    component: &ComponentEntry,
    release: Option<&Release>,
) -> (Option<Digest>, u64) {
    match (
        &component.location,
        opened.content.stored(&entry.id),
        release,
    ) {
        (_, Some(stored), _) => (Some(stored.digest), stored.size),
        (_, _, Some(release)) => (Some(release.digest), release.size),
        (Location::Carried(extension), ..) => (Some(extension.digest), extension.size()),
        _ => (None, 0),
    }
}

/// A power, and its author's reason for it.
fn power_in_words(power: &acp_chain_powers::Power, package: Option<&Package>) -> Vec<String> {
    let asked = package.into_iter().flat_map(|package| &package.asks.powers);
    let mut reasons = asked.filter(|asked| asked.power == power.key);
    let reason = reasons
        .next()
        .map(|asked| format!("    {}", about::author(&asked.reason)));
    [words::in_words(power)].into_iter().chain(reason).collect()
}

/// The written configuration, beside the default.
fn configuration(component: &ComponentEntry, package: Option<&Package>) -> Vec<String> {
    let config: Value = serde_json::from_str(&component.config).unwrap_or_default();
    let schema = package.and_then(|package| package.asks.config.as_ref());
    let default = |key: &str| schema?.get("properties")?.get(key)?.get("default");
    let each = config
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            let without = match default(key) {
                Some(default) if default == value => "as without it".to_owned(),
                Some(default) => format!("without it: {default}"),
                None => "not set without it".to_owned(),
            };
            format!(
                "! is configured: {} = {} ({})",
                quote(key, MAX_QUOTE),
                quote(&value.to_string(), 10 * MAX_QUOTE),
                quote(&without, MAX_QUOTE)
            )
        });
    each.collect()
}
