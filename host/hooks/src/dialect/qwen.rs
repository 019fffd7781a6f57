//! Qwen Code's hooks, in the form of Claude's; inputs cannot be changed, and a result is replaced by the reason of a
//! stop, after which the turn goes on.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Dialect, FAILURE, NONE, Places, Tools, claude};
use crate::attach::{OverlayFile, Switch, TIMEOUT, hooks, merge};
use crate::report::Report;
use crate::{Answer, Attachment, CannotAttach, Decision, Kind, Moment, Run};

pub(super) static QWEN: Dialect = Dialect {
    name: "qwen",
    changes_output: true,
    events: claude::EVENTS,
    tools: TOOLS,
    tool_at: Some("/_meta/toolName"),
    places: Places {
        // Its `tool_use_id` is not ACP's.
        call: &[],
        output: &["/tool_response/llmContent", "/error"],
        ..claude::PLACES
    },
    switches: &[
        Switch::Argument("--bare"),
        Switch::Argument("--safe-mode"),
        Switch::Variable("QWEN_CODE_SIMPLE"),
        Switch::Variable("QWEN_CODE_SAFE_MODE"),
    ],
    answer,
    closed,
    attach,
    ..NONE
};

/// The tools of Gemini CLI, of which Qwen Code is made, and those of its own.
pub(super) const TOOLS: Tools = &[
    // `monitor` runs a command whose output reaches the model while it runs.
    (
        Kind::Execute,
        "run_shell_command monitor task_stop list_background_processes read_background_output",
    ),
    (Kind::Read, "read_file zoom_image read_many_files"),
    // `save_memory` writes to a file that later sessions begin with.
    (
        Kind::Edit,
        "write_file edit replace notebook_edit save_memory",
    ),
    (
        Kind::Search,
        "list_directory glob grep_search search_file_content lsp",
    ),
    (Kind::Fetch, "web_fetch web_search google_web_search"),
    // The calls of subagents (`task`, `agent` and `invoke_agent`) have hooks.
    (
        Kind::Think,
        "todo_write write_todos update_topic task_create task_list task_update get_goal \
         update_goal tool_search task agent invoke_agent",
    ),
    (Kind::SwitchMode, "enter_plan_mode exit_plan_mode"),
];

fn answer(_: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => claude::deny(event, reason),
        (Moment::AfterTool, _) if event.ends_with(FAILURE) => None,
        (Moment::AfterTool, Decision::Refuse(reason)) => Some(stop(reason)),
        (Moment::AfterTool, Decision::Output(new)) => Some(stop(&new.join("\n"))),
        _ => None,
    }
}

fn stop(reason: &str) -> Answer {
    Answer::says(json!({ "continue": false, "stopReason": reason }))
}

fn closed(moment: Moment, reason: &str) -> Answer {
    if moment == Moment::AfterTool {
        stop(reason)
    } else {
        Answer::blocks(reason)
    }
}

/// The administrator's settings, whose place ours take.
const SYSTEM: &str = "/etc/qwen-code/settings.json";
const VARIABLE: &str = "QWEN_CODE_SYSTEM_SETTINGS_PATH";

fn attach(run: &Run<'_>, dialect: &Dialect) -> Result<Attachment, CannotAttach> {
    // Milliseconds in older versions; newer ones take a number this large for that, too.
    let timeout = TIMEOUT * 1000;
    // Of several hooks with a name, Qwen may run only the first, which may be a project's.
    let name = run.name();
    let hooks = hooks(
        run,
        dialect,
        |command| json!({ "type": "command", "name": name, "command": command, "timeout": timeout }),
    );
    let system = (run.variable)(VARIABLE).map_or_else(|| SYSTEM.into(), PathBuf::from);
    let settings = merge(
        settings(run, &system)?,
        json!({ "disableAllHooks": false, "hooks": hooks }),
    );
    Ok(Attachment {
        variables: vec![(VARIABLE, run.place("settings.json"))],
        files: vec![OverlayFile::json("settings.json", &settings)],
        ..Attachment::default()
    })
}

fn settings(run: &Run<'_>, path: &Path) -> Result<Value, CannotAttach> {
    let unreadable = |error| CannotAttach::Unreadable(path.to_owned(), error);
    let Some(text) = (run.text)(path).map_err(unreadable)? else {
        return Ok(json!({}));
    };
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    if value.is_object() {
        Ok(value)
    } else {
        Err(CannotAttach::NotJson(path.display().to_string()))
    }
}
