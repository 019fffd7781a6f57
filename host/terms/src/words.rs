//! The permissions and limits of a proxy, in plain words.

use acp_chain_powers::{Danger, NamedMethods, Power};

use acp_chain_app::plan::not_granted;
use acp_chain_channel::limits::{Limits, TABLE};
use acp_chain_channel::{FailurePolicy, Grant, Offers};
use acp_chain_manifest::{ComponentEntry, NativeEntry, User};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_sandbox::Directory;

use crate::about::WHOLE;
use crate::short::Short;

/// The abilities of a component, apart from its powers.
pub struct Abilities {
    /// Whether it imports WASI.
    pub wasi: bool,
    /// The component's offers for the agent.
    pub offers: Offers,
}

/// The terms of a native proxy, one line each.
pub fn of_program(entry: &NativeEntry, policy: Option<FailurePolicy>, user: &User) -> Vec<String> {
    let mut lines = vec![
        "! it is a program with all of your rights: it has no sandbox, grant or limits".to_owned(),
        "sees, changes and answers all messages; sends any message".to_owned(),
    ];
    let env = entry.command.env.iter();
    let names = env.map(|(name, _)| quote(&name.to_string_lossy(), MAX_QUOTE));
    let names: Vec<_> = names.collect();
    if !names.is_empty() {
        lines.push(format!("its environment also has: {}", names.join(", ")));
    }
    if let Some(dialect) = entry.dialect {
        lines.push(format!("uses the dialect `{}`", dialect.as_str()));
    }
    lines.push(if user.native {
        "would start: your config.toml has `native = true`".to_owned()
    } else {
        format!("would not start: {}", not_granted())
    });
    let policy = policy.unwrap_or_default();
    lines.push(format!("when it breaks: {}", failure(Some(policy))));
    lines
}

/// The terms of a component, one line each.
pub fn terms(
    entry: &ComponentEntry,
    policy: Option<FailurePolicy>,
    abilities: &Abilities,
) -> Vec<String> {
    let mut lines = granted(&entry.grant);
    lines.extend(
        match (abilities.offers.is_empty(), entry.grant.has("tools")) {
            (false, false) => Some(format!(
                "has {}, but the agent does not get them without the power `tools`",
                abilities.offers
            )),
            (true, true) => Some("has no tools, though it has the power `tools`".to_owned()),
            _ => None,
        },
    );
    lines.extend(entry.directories.iter().map(given));
    lines.push(way_out(abilities.wasi, !entry.directories.is_empty()).to_owned());
    lines.push(format!("uses: {}", limits(&entry.limits)));
    lines.push(format!("when it breaks: {}", failure(policy)));
    lines
}

/// A granted directory.
pub fn given(directory: &Directory) -> String {
    let how = if directory.write {
        "read and write in"
    } else {
        "read in"
    };
    let path = Untrusted::new(directory.path.display());
    let name = Untrusted::new(&directory.name);
    format!("! it can {how} {path}, as {name}")
}

/// The permissions of a grant, one line per power; of many, a summary, and a line for each of high danger.
fn granted(grant: &Grant) -> Vec<String> {
    let is_long = grant.powers().len() > WHOLE;
    let is_shown = |power: &&&Power| !is_long || power.danger == Danger::High;
    let mut lines = Vec::new();
    if is_long {
        lines.extend(summary(grant).lines());
    }
    let shown = grant.powers().iter().filter(is_shown);
    lines.extend(shown.map(|power| in_words(power)));
    lines.extend(grant.methods().iter().map(by_name));
    if lines.is_empty() {
        lines.push("has no powers: it sees nothing, and does nothing".to_owned());
    }
    lines
}

fn summary(grant: &Grant) -> Short {
    let mut short = Short::default();
    for power in grant.powers() {
        short.power(power);
    }
    for _ in grant.methods() {
        short.method();
    }
    short
}

/// The text about a power. Dangerous ones are marked, and have the reason.
pub fn in_words(power: &Power) -> String {
    let Power {
        key, words, reason, ..
    } = power;
    match power.danger {
        Danger::High => format!("! {words} ({key}): {reason}"),
        Danger::Low | Danger::Medium => format!("{words} ({key})"),
    }
}

pub fn by_name(named: &NamedMethods) -> String {
    let (methods, actions) = (
        Untrusted::new(&named.methods),
        named.actions.names().join(", "),
    );
    format!(
        "! may {actions} {methods}, which is not in the protocol: this program cannot say what it is"
    )
}

fn way_out(wasi: bool, directories: bool) -> &'static str {
    match (wasi, directories) {
        (false, false) => "has no other way out: no files, network, clock or environment",
        (false, true) => "has no other way out; it has no WASI, so it cannot open directories",
        (true, false) => {
            "imports WASI, which gives it clocks and random numbers: no files, network or environment"
        }
        (true, true) => {
            "imports WASI, which gives it those directories, clocks and random numbers, and nothing else"
        }
    }
}

/// The memory and time, and other limits that differ from the defaults.
pub fn limits(limits: &Limits) -> String {
    let defaults = Limits::default();
    let shown = TABLE.iter().filter(|limit| {
        matches!(limit.key, "memory" | "time") || limit.of(limits) != limit.of(&defaults)
    });
    let shown = shown.map(|limit| format!("{} {}", limit.key, limit.show(limits)));
    shown.collect::<Vec<_>>().join(", ")
}

pub fn failure(policy: Option<FailurePolicy>) -> &'static str {
    match policy {
        None => "as it declares when it starts",
        Some(FailurePolicy::Restart) => {
            "its messages are refused, and it is restarted; when given up, everything is refused"
        }
        Some(FailurePolicy::RestartThenBypass) => {
            "its messages are refused, and it is restarted; when given up, it is bypassed"
        }
        Some(FailurePolicy::Bypass) => "all messages bypass it",
        Some(FailurePolicy::Refuse) => "all its messages are refused",
    }
}
