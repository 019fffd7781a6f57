//! Claude's hooks, and their form, which Codex, Qwen and Auggie share in part.

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Dialect, FAILURE, Places};
use crate::attach::{TIMEOUT, hooks};
use crate::report::Report;
use crate::texts::{texts, with_texts};
use crate::{Answer, Attachment, Decision, Kind, Moment, Run};

pub(super) static CLAUDE: Dialect = Dialect {
    name: "claude",
    changes_input: true,
    changes_output: true,
    changes_failures: false,
    events: EVENTS,
    tools: &[
        ("Bash", Kind::Execute),
        ("BashOutput", Kind::Execute),
        ("KillShell", Kind::Execute),
        ("Read", Kind::Read),
        ("NotebookRead", Kind::Read),
        ("Write", Kind::Edit),
        ("Edit", Kind::Edit),
        ("MultiEdit", Kind::Edit),
        ("NotebookEdit", Kind::Edit),
        ("Glob", Kind::Search),
        ("Grep", Kind::Search),
        ("LS", Kind::Search),
        ("WebFetch", Kind::Fetch),
        ("WebSearch", Kind::Fetch),
        ("Task", Kind::Think),
        ("TodoWrite", Kind::Think),
        ("ExitPlanMode", Kind::SwitchMode),
    ],
    places: PLACES,
    answer,
    closed,
    attach: |run, dialect| Ok(attach(run, dialect)),
};

pub(super) const EVENTS: &[(&str, Moment)] = &[
    ("SessionStart", Moment::SessionStart),
    ("UserPromptSubmit", Moment::Prompt),
    ("PreToolUse", Moment::BeforeTool),
    ("PostToolUse", Moment::AfterTool),
    ("PostToolUseFailure", Moment::AfterTool),
];

pub(super) const PLACES: Places = Places {
    session: &["/session_id"],
    call: &["/tool_use_id"],
    subagent: &["/agent_id"],
    tool: &["/tool_name"],
    input: &["/tool_input"],
    output: &["/tool_response", "/error"],
    cwd: &["/cwd"],
};

/// Claude's `hookSpecificOutput`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Specific<'a> {
    pub(super) hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_tool_output: Option<&'a RawValue>,
}

impl Specific<'_> {
    pub(super) fn written(&self) -> Option<Answer> {
        let text = serde_json::to_string(self).ok()?;
        Some(Answer::says(format_args!(
            r#"{{"hookSpecificOutput":{text}}}"#
        )))
    }
}

/// A refusal before a tool runs.
pub(super) fn deny(event: &str, reason: &str) -> Option<Answer> {
    let denied = Specific {
        hook_event_name: event,
        permission_decision: Some("deny"),
        permission_decision_reason: Some(reason),
        ..Specific::default()
    };
    denied.written()
}

/// Without `permissionDecision`, a changed input still leads to the agent's own question.
fn answer(report: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => deny(event, reason),
        (Moment::BeforeTool, Decision::Input(input)) => {
            let changed = Specific {
                hook_event_name: event,
                updated_input: Some(serde_json::from_str(input).ok()?),
                ..Specific::default()
            };
            changed.written()
        }
        // The model gets the error of a failed call whatever a hook answers.
        (Moment::AfterTool, _) if event.ends_with(FAILURE) => None,
        (Moment::AfterTool, Decision::Output(new)) => replaced(report, event, new),
        (Moment::AfterTool, Decision::Refuse(reason)) => {
            let count = texts(report.at(PLACES.output)?).len();
            replaced(report, event, &vec![reason.clone(); count])
        }
        _ => None,
    }
}

/// Claude ignores a result in another form than the original's without a word, so only its texts are replaced.
fn replaced(report: &Report<'_>, event: &str, new: &[String]) -> Option<Answer> {
    let output = with_texts(report.at(PLACES.output)?, new)?;
    let replaced = Specific {
        hook_event_name: event,
        updated_tool_output: Some(serde_json::from_str(&output).ok()?),
        ..Specific::default()
    };
    replaced.written()
}

fn closed(moment: Moment, reason: &str) -> Answer {
    if moment != Moment::AfterTool {
        return Answer::blocks(reason);
    }
    Answer::says(json!({
        "decision": "block",
        "reason": reason,
        "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedToolOutput": reason },
    }))
}

/// As the layer of `--settings`: those of the user and of the project stay in force, but not a `disableAllHooks`.
fn attach(run: &Run<'_>, dialect: &Dialect) -> Attachment {
    let hooks = hooks(
        run,
        dialect,
        |command| json!({ "type": "command", "command": command, "timeout": TIMEOUT, "onFailure": "block" }),
    );
    let settings = json!({ "disableAllHooks": false, "hooks": hooks });
    Attachment {
        meta: Some(json!({ "claudeCode": { "options": { "settings": settings } } })),
        ..Attachment::default()
    }
}
