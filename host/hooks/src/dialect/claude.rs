//! Claude's hooks, and their form, which Codex, Qwen and Auggie share in part.

use std::path::Path;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Dialect, FAILURE, NONE, Places};
use crate::attach::{OverlayFile, Switch, TIMEOUT, hooks};
use crate::prefix::WITH_SUCCESS;
use crate::report::Report;
use crate::texts::{with_texts, withheld};
use crate::unhooked::Unhooked;
use crate::{Answer, Attachment, CannotAttach, Decision, Kind, Moment, Run};

pub(super) static CLAUDE: Dialect = Dialect {
    name: "claude",
    changes_input: true,
    changes_output: true,
    events: EVENTS,
    unhooked: &[
        Unhooked::Marked("/toolCallId", "srvtoolu_"),
        // An unknown tool, an input that the tool rejects, or a call that the failure of another one cancelled.
        Unhooked::Rejected("<tool_use_error>"),
        Unhooked::Rejected("[Tool call did not complete"),
        Unhooked::Marked("/_meta/claudeCode/nonExecutionKind", ""),
    ],
    knows_rejected: true,
    tools: &[
        // `Monitor` is none of these: it runs a command, or opens a connection. Nor is `Skill`, nor what goes on later.
        (
            Kind::Execute,
            "Bash PowerShell BashOutput KillShell TaskOutput TaskStop",
        ),
        (Kind::Read, "Read NotebookRead"),
        (Kind::Edit, "Write Edit MultiEdit NotebookEdit"),
        (Kind::Search, "Glob Grep LS LSP"),
        (Kind::Fetch, "WebFetch WebSearch"),
        (
            Kind::Think,
            "Agent Task TodoWrite TaskCreate TaskGet TaskList TaskUpdate ToolSearch",
        ),
        (Kind::SwitchMode, "EnterPlanMode ExitPlanMode"),
    ],
    places: PLACES,
    switches: &[Switch::Variable("CLAUDE_CODE_SIMPLE")],
    answer,
    closed,
    attach,
    ..NONE
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
    parents: &[],
    call: &["/tool_use_id"],
    subagent: &["/agent_id"],
    server: &[],
    tool: &["/tool_name"],
    input: &["/tool_input"],
    output: &["/tool_response", "/error"],
    cwd: &["/cwd"],
};

/// Claude's `hookSpecificOutput`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<&'a RawValue>,
}

impl Specific<'_> {
    fn written(&self) -> Option<Answer> {
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

/// Another input of a tool, with a decision about it if there is one.
pub(super) fn with_input(
    event: &str,
    decision: Option<&'static str>,
    input: &str,
) -> Option<Answer> {
    let changed = Specific {
        hook_event_name: event,
        permission_decision: decision,
        updated_input: Some(serde_json::from_str(input).ok()?),
        ..Specific::default()
    };
    changed.written()
}

/// Without `permissionDecision`, a changed input still leads to the agent's own question.
fn answer(report: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => deny(event, reason),
        (Moment::BeforeTool, Decision::Input(input)) => with_input(event, None, input),
        // The model gets the error of a failed call whatever a hook answers.
        (Moment::AfterTool, _) if event.ends_with(FAILURE) => None,
        // In another form than the original's, Claude ignores a result without a word, so only its texts are replaced.
        (Moment::AfterTool, Decision::Output(new)) => {
            replaced(event, &with_texts(report.at(PLACES.output)?, new)?)
        }
        (Moment::AfterTool, Decision::Refuse(reason)) => {
            replaced(event, &withheld(report.at(PLACES.output)?, reason)?)
        }
        _ => None,
    }
}

fn replaced(event: &str, output: &str) -> Option<Answer> {
    let replaced = Specific {
        hook_event_name: event,
        updated_tool_output: Some(serde_json::from_str(output).ok()?),
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

/// The variable with the path of a file, whose text Claude runs before each command. It is read once for a session.
const BEFORE_COMMANDS: &str = "CLAUDE_ENV_FILE";

/// That file, in the overlay.
const SCRIPT: &str = "before-commands.sh";

/// The setting by which commands that are written into skills and slash commands (`` !`make` ``) do not run. Claude runs
/// them without a hook, also for a skill that its model calls, and a repository may have some.
const WITHOUT_INLINE_COMMANDS: &str = "disableSkillShellExecution";

/// As the layer of `--settings`: those of the user and of the project stay in force, but not a `disableAllHooks`.
fn attach(run: &Run<'_>, dialect: &Dialect) -> Result<Attachment, CannotAttach> {
    let hooks = hooks(
        run,
        dialect,
        |command| json!({ "type": "command", "command": command, "timeout": TIMEOUT, "onFailure": "block" }),
    );
    let mut settings = json!({ "disableAllHooks": false, "hooks": hooks });
    if run.are_required {
        settings[WITHOUT_INLINE_COMMANDS] = true.into();
    }
    let mut attachment = Attachment {
        meta: Some(json!({ "claudeCode": { "options": { "settings": settings } } })),
        ..Attachment::default()
    };
    if run.reads_results {
        let script = OverlayFile::text(SCRIPT, before_commands(run)?);
        attachment.files.push(script);
        let path = run.place(SCRIPT);
        attachment.variables.push((BEFORE_COMMANDS, path));
    }
    Ok(attachment)
}

/// What runs before each command: what the user has there, and ours.
fn before_commands(run: &Run<'_>) -> Result<String, CannotAttach> {
    let path = (run.variable)(BEFORE_COMMANDS).filter(|path| !path.is_empty());
    let theirs = match path {
        Some(path) => {
            let text = (run.text)(Path::new(&path));
            text.map_err(|error| CannotAttach::Unreadable(path.into(), error))?
        }
        None => None,
    };
    Ok(format!("{}\n{WITH_SUCCESS}", theirs.unwrap_or_default()))
}
