//! What a proxy may do and use, in plain words.

use crate::channel::{CHANGE, FailurePolicy, Grant, Methods, OBSERVE, Pattern, WORDS, quote};
use crate::limits::{Limits, TABLE};
use crate::manifest::{ComponentEntry, NativeEntry, User};

/// What methods are about, for people who do not know the protocol.
const MEANINGS: &[(&str, &str)] = &[
    ("initialize", "the capabilities of both sides"),
    ("authenticate", "signing in"),
    ("session/new", "new sessions"),
    ("session/prompt", "your prompts, and how turns end"),
    ("session/update", "what the agent shows you"),
    ("session/request_permission", "permission requests"),
    ("session/set_mode", "the agent's mode"),
    ("session/cancel", "stopping a turn"),
    ("elicitation/*", "questions to you"),
    ("fs/*", "files, through your editor"),
    ("fs/read_text_file", "reading files, through your editor"),
    ("fs/write_text_file", "writing files, through your editor"),
    ("terminal/*", "commands, through your editor"),
    ("terminal/create", "running commands, through your editor"),
    ("*", "everything"),
];

/// What deserves to be said by itself, by the method that it takes.
const ANSWERS: &[(&str, &str)] = &[
    (
        "session/request_permission",
        "it can answer permission requests for you",
    ),
    (
        "elicitation/create",
        "it can answer the agent's questions for you",
    ),
];
const CHANGES: &[(&str, &str)] = &[
    (
        "session/request_permission",
        "it can change what you are asked to permit, and your answer",
    ),
    (
        "elicitation/create",
        "it can change what the agent asks you, and your answer",
    ),
    (
        "session/new",
        "it can have the agent start programs of its choice (MCP servers)",
    ),
    (
        "session/load",
        "it can have the agent start programs of its choice (MCP servers)",
    ),
    (
        "session/set_mode",
        "it can change what the agent may do without asking",
    ),
    ("terminal/create", "it can change which commands are run"),
    (
        "fs/write_text_file",
        "it can change which files are written, and what",
    ),
    ("session/cancel", "it can keep you from stopping a turn"),
    ("authenticate", "it can change how you sign in"),
];
const ORIGINATES: &[(&str, &str)] = &[
    (
        "session/update",
        "it can speak to you as if it were the agent",
    ),
    (
        "session/prompt",
        "it can prompt the agent as if it were you",
    ),
    (
        "session/request_permission",
        "it can ask you for permission as if it were the agent",
    ),
    ("fs/read_text_file", "it can read files through your editor"),
    (
        "fs/write_text_file",
        "it can write files through your editor",
    ),
    ("terminal/create", "it can run commands through your editor"),
    ("session/set_mode", "it can change the agent's mode"),
];

/// What a component is able to do at all.
pub struct Abilities {
    /// It imports WASI.
    pub wasi: bool,
    /// It exports tools.
    pub tools: bool,
}

/// The terms of a proxy that is a program, one line each.
pub fn of_program(
    entry: &NativeEntry,
    policy: Option<FailurePolicy>,
    user: &User,
    config: Option<&std::path::Path>,
) -> Vec<String> {
    let mut lines = vec![
        "! it is a program with all of your rights: no sandbox holds it, and no grant or limit"
            .to_owned(),
        "sees, changes and answers everything; sends anything of its own".to_owned(),
    ];
    let names: Vec<_> = entry.command.env.iter().map(|(name, _)| name).collect();
    if !names.is_empty() {
        let names = names
            .iter()
            .map(|name| quote(&name.to_string_lossy(), WORDS));
        let names: Vec<_> = names.collect();
        lines.push(format!("its environment also has: {}", names.join(", ")));
    }
    if let Some(dialect) = entry.dialect {
        lines.push(format!(
            "is spoken to in the dialect `{}`",
            dialect.as_str()
        ));
    }
    lines.push(match user.native {
        true => "would start: your config.toml has `native = true`".to_owned(),
        false => format!("would not start: {}", not_granted(config)),
    });
    let policy = policy.unwrap_or_default();
    lines.push(format!("when it breaks: {}", failure(Some(policy))));
    lines
}

/// Why a program is no proxy yet, and what would make it one.
pub fn not_granted(config: Option<&std::path::Path>) -> String {
    let file = match config {
        Some(path) => quote(&path.display().to_string(), WORDS),
        None => "your config.toml, for which you need a home folder".to_owned(),
    };
    format!("no sandbox holds it; to let programs be proxies, write `native = true` into {file}")
}

/// The terms of a proxy that is a component, one line each.
pub fn terms(
    entry: &ComponentEntry,
    policy: Option<FailurePolicy>,
    abilities: &Abilities,
) -> Vec<String> {
    let Grant {
        observe,
        change,
        answer,
        originate,
        tools,
    } = &*entry.grant;
    let path = |path: &std::path::Path| quote(&path.display().to_string(), WORDS);
    let mut lines = vec![
        format!("sees, where it asks for it: {}", methods(observe)),
        format!("changes, refuses, holds back: {}", methods(change)),
        format!("answers in place of whoever was asked: {}", methods(answer)),
        format!("sends of its own: {}", methods(originate)),
    ];
    for (powers, meanings) in [
        (change, CHANGES),
        (answer, ANSWERS),
        (originate, ORIGINATES),
    ] {
        for (method, meaning) in meanings {
            if powers.contain(method) {
                lines.push(format!("! {meaning}"));
            }
        }
    }
    lines.extend(
        match (abilities.tools, tools) {
            (true, true) => Some("! it gives the agent tools of its own (MCP)"),
            (true, false) => Some("has tools, which the agent does not get without `tools = true`"),
            (false, true) => Some("has no tools, though its grant has `tools`"),
            (false, false) => None,
        }
        .map(str::to_owned),
    );
    for directory in &*entry.directories {
        lines.push(format!(
            "! it can {} {}, as {}",
            if directory.write {
                "read and write in"
            } else {
                "read in"
            },
            path(&directory.path),
            quote(&directory.name, WORDS)
        ));
    }
    lines.push(way_out(abilities.wasi, !entry.directories.is_empty()).to_owned());
    lines.push(format!("uses: {}", limits(&entry.limits)));
    lines.push(format!("when it breaks: {}", failure(policy)));
    lines
}

fn methods(methods: &Methods) -> String {
    if methods.is_empty() {
        return "nothing".to_owned();
    }
    for (name, default) in [("observe", OBSERVE), ("change", CHANGE)] {
        if Methods::new(default).as_ref() == Ok(methods) {
            return format!("everything but what the default of `{name}` keeps from it");
        }
    }
    let (given, taken) = methods.patterns();
    let given = list(given);
    match taken {
        [] => given,
        taken => format!("{given}, except {}", list(taken)),
    }
}

fn list(patterns: &[Pattern]) -> String {
    let named = patterns.iter().map(|pattern| {
        let text = pattern.to_string();
        match MEANINGS.iter().find(|(name, _)| *name == text) {
            Some(("*", meaning)) => (*meaning).to_owned(),
            Some((_, meaning)) => format!("{text} ({meaning})"),
            None => text,
        }
    });
    named.collect::<Vec<_>>().join(", ")
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

/// Its memory and time, and what else differs from the defaults.
fn limits(limits: &Limits) -> String {
    let defaults = Limits::default();
    let shown = TABLE.iter().filter(|limit| {
        matches!(limit.key, "memory" | "time") || limit.of(limits) != limit.of(&defaults)
    });
    let shown = shown.map(|limit| format!("{} {}", limit.key, limit.show(limits)));
    shown.collect::<Vec<_>>().join(", ")
}

fn failure(policy: Option<FailurePolicy>) -> &'static str {
    match policy {
        None => "as it says itself when it starts",
        Some(FailurePolicy::Restart) => {
            "what it had is refused, and it is started again; in the end everything is refused"
        }
        Some(FailurePolicy::RestartThenBypass) => {
            "what it had is refused, and it is started again; in the end everything passes it by"
        }
        Some(FailurePolicy::Bypass) => "everything goes on as if it were not there",
        Some(FailurePolicy::Refuse) => "everything that it would see is refused",
    }
}
