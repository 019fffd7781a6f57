//! What users see of a project before they agree: all of it the first time, later the differences. If a text is too
//! long to be shown whole, the question says so.

use std::cell::Cell;
use std::cmp::Reverse;

use acp_chain_package::Package;
use acp_chain_powers::Power;
use serde_json::Value;

use crate::about::{self, Reasons};
use crate::short::Short;
use crate::words;
use acp_chain::host::ProxyPlan;
use acp_chain_app::project::OpenProject;
use acp_chain_extension::{Digest, Location, Release};
use acp_chain_manifest::{ComponentEntry, ProxyEntry, ProxyKind};
use acp_chain_project::{Agreed, Difference};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The longest text that is shown, in bytes.
const LONGEST: usize = 10 * MAX_QUOTE;

/// How many equal characters are shown on either side of the difference of two long texts.
const AROUND: usize = 40;

/// With more lines than this, the first ones may have scrolled away when the user is asked.
const SCREEN: usize = 50;

/// The text that is shown about a project.
pub struct Question {
    pub lines: Vec<String>,
    /// Whether a text in it was too long to be shown whole.
    pub is_cut: bool,
}

/// Quotes texts, and remembers whether one was cut.
#[derive(Default)]
struct Quotes {
    is_cut: Cell<bool>,
}

impl Quotes {
    fn text(&self, text: &str) -> String {
        let whole = Untrusted::new(text).to_string();
        if whole.len() > LONGEST {
            self.is_cut.set(true);
            quote(text, LONGEST)
        } else {
            whole
        }
    }

    fn question(self, lines: Vec<String>) -> Question {
        Question {
            lines,
            is_cut: self.is_cut.into_inner(),
        }
    }
}

/// The question about everything that a project asks for.
pub fn all(opened: &OpenProject) -> Question {
    let quotes = Quotes::default();
    if opened.proxies.is_empty() {
        return quotes.question(vec!["It asks for no proxies.".to_owned()]);
    }
    let mut lines: Vec<_> = short(opened).lines().into();
    lines.push("It asks for these proxies, the client's neighbour first:".to_owned());
    for ProxyPlan { entry, .. } in &opened.proxies {
        lines.push(String::new());
        lines.extend(one(opened, entry, &quotes));
    }
    if lines.len() > SCREEN {
        lines.push(String::new());
        lines.extend(short(opened).lines());
    }
    quotes.question(lines)
}

/// All that the project's proxies may do.
fn short(opened: &OpenProject) -> Short {
    let mut short = Short::default();
    for ProxyPlan { entry, .. } in &opened.proxies {
        let ProxyKind::Component(component) = &entry.kind else {
            continue;
        };
        let grant = &component.grant;
        for power in grant.powers() {
            short.power(power);
        }
        for _ in grant.methods() {
            short.method();
        }
        for directory in component.directories.iter() {
            short.directory(directory);
        }
    }
    short
}

/// The question about the differences from the earlier consent.
pub fn difference(opened: &OpenProject, before: &[Agreed]) -> Question {
    let quotes = Quotes::default();
    let agreed = opened.agreed();
    let difference = Difference::between(before, &agreed);
    if difference.is_none() {
        let nothing = "Its files, or this program, changed, but the proxies, and what they may do, are the same.";
        return quotes.question(vec![nothing.to_owned()]);
    }
    let mut lines = vec!["What is different from what you agreed to:".to_owned()];
    for id in &difference.gone {
        lines.push(format!("- `{id}` is removed"));
    }
    for (id, changed) in &difference.changed {
        lines.push(format!("~ `{id}`"));
        // First what the proxy may do that it could not: of a configuration, any number of lines may change.
        let both = [before, agreed.as_slice()];
        let [earlier, current] = both.map(|all| all.iter().find(|one| one.id == *id));
        let mut entries = opened.proxies.iter().map(|proxy| &proxy.entry);
        let entry = entries.find(|entry| entry.id == *id);
        if let (Some(earlier), Some(current), Some(entry)) = (earlier, current, entry) {
            let more = more(entry, earlier, current, &quotes);
            lines.extend(more.into_iter().map(|line| format!("    {line}")));
        }
        for (what, before, now) in changed {
            let what = quotes.text(what);
            let [before, now] = around(before, now);
            // The user has agreed to the earlier value, so it may be cut.
            let before = quote(&before, LONGEST);
            lines.push(format!("    {what}: {before} → {}", quotes.text(&now)));
        }
    }
    if let Some([before, now]) = &difference.order {
        let (before, now) = (before.join(", "), now.join(", "));
        lines.push(format!("~ the order: {before} → {now}"));
    }
    for ProxyPlan { entry, .. } in &opened.proxies {
        if difference.new.contains(&entry.id) {
            lines.push(format!("+ `{}` is new:", entry.id));
            lines.extend(
                one(opened, entry, &quotes)
                    .into_iter()
                    .map(|line| format!("    {line}")),
            );
        }
    }
    quotes.question(lines)
}

/// Two long texts, from shortly before their first difference to shortly after their last.
fn around(before: &str, now: &str) -> [String; 2] {
    if before.len().max(now.len()) <= MAX_QUOTE {
        return [before, now].map(str::to_owned);
    }
    let is_same = |(one, other): &(char, char)| one == other;
    let in_front = before.chars().zip(now.chars());
    let in_front = in_front.take_while(is_same).count();
    let most = before.chars().count().min(now.chars().count()) - in_front;
    let behind = before.chars().rev().zip(now.chars().rev());
    let behind = behind.take(most).take_while(is_same).count();
    let [in_front, behind] = [in_front, behind].map(|same| same.saturating_sub(AROUND));
    let mark = |left_out: usize| if left_out > 0 { "…" } else { "" };
    [before, now].map(|text| {
        let length = text.chars().count() - in_front - behind;
        let shown: String = text.chars().skip(in_front).take(length).collect();
        format!("{}{shown}{}", mark(in_front), mark(behind))
    })
}

/// The directories and methods of a proxy that are not as before, and its new powers, in words; what is dangerous first.
fn more(entry: &ProxyEntry, before: &Agreed, now: &Agreed, quotes: &Quotes) -> Vec<String> {
    let ProxyKind::Component(component) = &entry.kind else {
        return Vec::new();
    };
    let directories = component.directories.iter().filter(|directory| {
        let [earlier, current] = [before, now].map(|one| one.directories.get(&directory.name));
        earlier != current
    });
    let methods = component.grant.methods().iter().filter(|named| {
        let name = named.methods.to_string();
        let [earlier, current] = [before, now].map(|one| one.methods.get(&name));
        earlier != current
    });
    let marked = directories
        .map(words::given)
        .chain(methods.map(words::by_name));
    let mut lines: Vec<_> = marked.map(|line| quotes.text(&line)).collect();
    let package = component.location.package().ok();
    let mut powers = component.grant.powers().to_vec();
    powers.retain(|power| !before.powers.iter().any(|key| key == power.key));
    powers.sort_by_key(|power| Reverse(power.danger));
    for power in powers {
        lines.extend(power_in_words(power, package.as_ref(), true));
    }
    lines
}

/// The lines about one proxy.
fn one(opened: &OpenProject, entry: &ProxyEntry, quotes: &Quotes) -> Vec<String> {
    let ProxyKind::Component(component) = &entry.kind else {
        return Vec::new();
    };
    let package = component.location.package().ok();
    let release = opened.content.locked(&entry.id);
    let mut lines = vec![entry.id.clone()];
    let mut add = |line: String| lines.push(format!("  {line}"));
    add(source(opened, entry, component, release, quotes));
    let (digest, size) = identity(opened, entry, component, release);
    match (&package, digest) {
        (Some(package), Some(digest)) => about::description(package, digest, size)
            .into_iter()
            .for_each(&mut add),
        (None, Some(digest)) => {
            let size = acp_chain_channel::limits::about(size);
            add(format!("has no metadata: {digest}, {size}"));
        }
        (_, None) => {}
    }
    let grant = &component.grant;
    if grant.powers().is_empty() && grant.methods().is_empty() {
        add("has no powers: it sees nothing, and does nothing".to_owned());
    }
    for named in grant.methods() {
        add(quotes.text(&words::by_name(named)));
    }
    let mut powers = grant.powers().to_vec();
    powers.sort_by_key(|power| Reverse(power.danger));
    for power in &powers {
        let has_reason = Reasons::Folded.show(power, powers.len());
        power_in_words(power, package.as_ref(), has_reason)
            .into_iter()
            .for_each(&mut add);
    }
    component
        .directories
        .iter()
        .map(|directory| quotes.text(&words::given(directory)))
        .for_each(&mut add);
    add(format!("uses: {}", words::limits(&component.limits)));
    add(format!(
        "when it breaks: {}",
        words::failure(entry.on_failure)
    ));
    if let Some(package) = &package {
        add(format!("cannot {}", about::cannot(&package.imports)));
    }
    configuration(component, package.as_ref(), quotes)
        .into_iter()
        .for_each(&mut add);
    lines
}

/// The source of a component. The lock's claims are those of the project's author.
fn source(
    opened: &OpenProject,
    entry: &ProxyEntry,
    component: &ComponentEntry,
    release: Option<&Release>,
    quotes: &Quotes,
) -> String {
    let text = |text: &str| quotes.text(text);
    match (&component.location, release) {
        (Location::Carried(extension), None) => {
            format!("is `{}`, which comes with acp-chain", text(&extension.name))
        }
        (_, Some(release)) => {
            let signed = about::signed(release);
            let version = release.version.as_deref().unwrap_or("without a number");
            format!(
                "its lock says that it comes from {}, version {}, {signed}; only the digest is checked",
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
    opened: &OpenProject,
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
fn power_in_words(power: &Power, package: Option<&Package>, has_reason: bool) -> Vec<String> {
    let asked = package.into_iter().flat_map(|package| &package.asks.powers);
    let mut reasons = asked.filter(|asked| asked.power == power.key);
    let reason = reasons
        .next()
        .filter(|_| has_reason)
        .map(|asked| format!("    {}", about::author(&asked.reason)));
    [words::in_words(power)].into_iter().chain(reason).collect()
}

/// The written configuration, beside the default.
fn configuration(
    component: &ComponentEntry,
    package: Option<&Package>,
    quotes: &Quotes,
) -> Vec<String> {
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
                quotes.text(key),
                quotes.text(&value.to_string()),
                quotes.text(&without)
            )
        });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_surroundings_of_a_difference_are_shown_of_long_texts() {
        assert_eq!(around("short", "texts"), ["short", "texts"]);
        let long = |inside: &str| format!("{}{inside}{}", "ä".repeat(700), "z".repeat(700));
        let (start, end) = ("ä".repeat(AROUND), "z".repeat(AROUND));
        assert_eq!(
            around(&long("deny"), &long("allow")),
            [
                format!("…{start}deny{end}…"),
                format!("…{start}allow{end}…")
            ]
        );
        // One text is a repetition of the other.
        let [before, now] = around(&"x".repeat(1200), &"x".repeat(1203));
        assert_eq!(
            (before.len() + 3, before),
            (now.len(), format!("…{}", "x".repeat(AROUND)))
        );
        let [before, now] = around(&"x".repeat(1200), "nothing");
        assert_eq!((before, now), ("x".repeat(1200), "nothing".to_owned()));
    }

    #[test]
    fn cut_texts_are_reported() {
        let quotes = Quotes::default();
        assert_eq!(quotes.text(&"x".repeat(LONGEST)).len(), LONGEST);
        assert!(!quotes.is_cut.get());
        // Escapes are longer than the characters that they replace.
        quotes.text(&"\n".repeat(LONGEST - 1));
        assert!(quotes.question(Vec::new()).is_cut);
    }
}
