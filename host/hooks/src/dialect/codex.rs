//! Codex' hooks, in the form of Claude's, but for results: those are replaced by the reason of a block.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Dialect, NONE, Places, Tools, claude};
use crate::attach::{TIMEOUT, hooks};
use crate::report::Report;
use crate::unhooked::Unhooked;
use crate::{Answer, Attachment, CannotAttach, Decision, Kind, Moment, Run, prefix};

pub(super) static CODEX: Dialect = of("codex", TOOLS, |run, dialect| {
    let theirs = (run.variable)(VARIABLE).unwrap_or_default();
    let theirs: Value = serde_json::from_str(&theirs).unwrap_or_default();
    let ours = config(run, dialect, &theirs["hooks"]);
    Ok(Attachment {
        variables: vec![(VARIABLE, run.merged(VARIABLE, ours)?)],
        ..Attachment::default()
    })
});

/// The adapter with Codex in itself, which takes its configuration as arguments.
pub(super) static OLDER: Dialect = of("codex-older", OLDER_TOOLS, |run, dialect| {
    let config = config(run, dialect, &Value::Null);
    let hooks = toml::Value::try_from(&config["hooks"]).map_err(CannotAttach::Toml)?;
    let mut settings = vec!["features.hooks=true".to_owned(), format!("hooks={hooks}")];
    settings.extend(in_profile(run)?);
    let args = settings
        .into_iter()
        .flat_map(|setting| ["-c".to_owned(), setting]);
    Ok(Attachment {
        args: args.collect(),
        ..Attachment::default()
    })
});

/// The same setting for the user's profile, if that has features: they overrule those of all. Newer versions have no
/// such profiles.
fn in_profile(run: &Run<'_>) -> Result<Option<String>, CannotAttach> {
    let variable = |name| (run.variable)(name).filter(|value| !value.is_empty());
    let home = match variable("CODEX_HOME") {
        Some(home) => PathBuf::from(home),
        None => Path::new(&variable("HOME").ok_or(CannotAttach::NoHome)?).join(".codex"),
    };
    let path = home.join("config.toml");
    let text = match (run.text)(&path) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return Err(CannotAttach::Unreadable(path, error)),
    };
    // Codex does not start with one that is no TOML.
    let config: toml::Table = text.parse().unwrap_or_default();
    let of_file = config.get("profile").and_then(toml::Value::as_str);
    let Some(name) = of_args(run).or_else(|| of_file.map(str::to_owned)) else {
        return Ok(None);
    };
    let profile = config.get("profiles").and_then(|all| all.get(&name));
    if profile
        .and_then(|profile| profile.get("features"))
        .is_none()
    {
        return Ok(None);
    }
    // The parts of a name are separated by dots, and there are no quotes.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !name.chars().all(is_plain) {
        return Err(CannotAttach::Profile(path));
    }
    Ok(Some(format!("profiles.{name}.features.hooks=true")))
}

/// The profile that the arguments name, the last one if there are several.
fn of_args(run: &Run<'_>) -> Option<String> {
    let mut words = run.args.iter().rev().map(|arg| arg.to_string_lossy());
    words.find_map(|word| {
        let setting = word
            .trim_start_matches("--config=")
            .trim_start_matches("-c");
        let (name, text) = setting.split_once('=')?;
        let value = text.trim().trim_matches(['"', '\'']);
        (name.trim() == "profile").then(|| value.to_owned())
    })
}

const VARIABLE: &str = "CODEX_CONFIG";

/// What stands for a result of which proxies leave no text.
const NO_TEXT: &str = "acp-chain: the proxies leave no text of this result";

type Attach = fn(&Run<'_>, &Dialect) -> Result<Attachment, CannotAttach>;

const TOOLS: Tools = &[
    (Kind::Execute, "Bash"),
    (Kind::Edit, "apply_patch"),
    (Kind::Read, "view_image"),
    (Kind::Fetch, "web_search"),
    (Kind::Think, "update_plan create_goal get_goal update_goal"),
    // Those of subagents, whose calls have hooks. Some models get them in this namespace.
    (
        Kind::Think,
        "spawn_agent collaborationspawn_agent close_agent resume_agent send_input wait_agent",
    ),
];

/// Where those of subagents begin in [`TOOLS`].
const OF_SUBAGENTS: usize = 5;

/// It is not known whether calls of its subagents have hooks.
const OLDER_TOOLS: Tools = TOOLS.split_at(OF_SUBAGENTS).0;

const fn of(name: &'static str, tools: Tools, attach: Attach) -> Dialect {
    Dialect {
        name,
        changes_input: true,
        changes_output: true,
        changes_failures: true,
        events: &[
            ("SessionStart", Moment::SessionStart),
            ("UserPromptSubmit", Moment::Prompt),
            ("PreToolUse", Moment::BeforeTool),
            ("PostToolUse", Moment::AfterTool),
        ],
        unhooked: &[
            // At the model's provider; the kind is that of the older adapter.
            Unhooked::Marked("/rawInput/type", "webSearch"),
            Unhooked::Marked("/kind", "fetch"),
            Unhooked::Marked("/title", "Image generation"),
            // Compaction, reviews and the activity of subagents.
            Unhooked::Marked("/kind", "think"),
            Unhooked::Marked("/toolCallId", "mcp_startup."),
        ],
        knows_rejected: true,
        tools,
        places: Places {
            output: &["/tool_response"],
            ..claude::PLACES
        },
        // On Windows its shell is another.
        prefix: if cfg!(windows) {
            None
        } else {
            Some(prefix::WITHOUT_INPUT)
        },
        answer,
        attach,
        ..NONE
    }
}

fn answer(_: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => claude::deny(event, reason),
        // Codex takes another input only with this decision, and asks its own question all the same.
        (Moment::BeforeTool, Decision::Input(input)) => {
            claude::with_input(event, Some("allow"), input)
        }
        (Moment::AfterTool, Decision::Refuse(reason)) => Some(block(reason)),
        (Moment::AfterTool, Decision::Output(new)) => Some(replaced(&new.join("\n"))),
        _ => None,
    }
}

/// A block whose reason the model gets in place of a result. Codex takes one without a reason for none, by which the
/// model would get the result.
fn replaced(text: &str) -> Answer {
    let is_blank = text.trim().is_empty();
    block(if is_blank { NO_TEXT } else { text })
}

fn block(reason: &str) -> Answer {
    Answer::says(json!({ "decision": "block", "reason": reason }))
}

/// Codex runs only hooks that are trusted. Trust for hooks of the session's flags may stand in the same flags, as the
/// hash of what is trusted. Ours stand behind `theirs`.
fn config(run: &Run<'_>, dialect: &Dialect, theirs: &Value) -> Value {
    let mut hooks = hooks(
        run,
        dialect,
        |command| json!({ "type": "command", "command": command, "timeout": TIMEOUT }),
    );
    let events = dialect.events.iter();
    let state = events.map(|(event, _)| {
        let place = theirs[event].as_array().map_or(0, Vec::len);
        (key(event, place), trusted(event, &hooks[event][0]))
    });
    let state: Map<String, Value> = state.collect();
    hooks["state"] = state.into();
    json!({ "features": { "hooks": true }, "hooks": hooks })
}

fn key(event: &str, place: usize) -> String {
    format!("/<session-flags>/config.toml:{}:{place}:0", snake(event))
}

/// What Codex computes: the digest of the hook in compact JSON with sorted names.
fn trusted(event: &str, group: &Value) -> Value {
    let hook = &group["hooks"][0];
    let mut trusted = json!({
        "event_name": snake(event),
        "hooks": [{
            "async": false, "command": hook["command"], "timeout": hook["timeout"], "type": "command",
        }],
    });
    if let Some(matcher) = group.get("matcher") {
        trusted["matcher"] = matcher.clone();
    }
    let digest = Sha256::digest(trusted.to_string());
    json!({ "trusted_hash": format!("sha256:{}", HEXLOWER.encode(&digest)) })
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in event.char_indices() {
        if letter.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As computed by a script whose values were those that Codex 0.166.0 listed.
    #[test]
    fn the_hash_of_a_hook_is_the_one_that_codex_computes() {
        let group = |command: &str, timeout: u32| json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] });
        let mut before = group("'/a b/hook' codex PreToolUse", 3600);
        before["matcher"] = "*".into();
        assert_eq!(
            trusted("PreToolUse", &before)["trusted_hash"],
            "sha256:a461ebe19b03a175917ae570e23a6c0d3b484e9655cc1896647d9dd2ed574e60"
        );
        let prompt = group("/hook codex UserPromptSubmit", 600);
        assert_eq!(
            trusted("UserPromptSubmit", &prompt)["trusted_hash"],
            "sha256:b52782d44ee99b026c53f4c1b98fcab223a6fd7ba6f1b3913d153b7295d88a1b"
        );
    }
}
