//! Copilot's hooks.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Dialect, FAILURE, NONE, Places};
use crate::attach::{OverlayFile, TIMEOUT};
use crate::report::Report;
use crate::texts::{with_texts, withheld};
use crate::{Answer, Attachment, Decision, Kind, Moment, Run};

pub(super) static COPILOT: Dialect = Dialect {
    name: "copilot",
    changes_input: true,
    changes_output: true,
    events: &[
        ("sessionStart", Moment::SessionStart),
        ("userPromptSubmitted", Moment::Prompt),
        ("preToolUse", Moment::BeforeTool),
        ("postToolUse", Moment::AfterTool),
        ("postToolUseFailure", Moment::AfterTool),
    ],
    tools: &[
        (
            Kind::Execute,
            "bash write_bash read_bash stop_bash list_bash powershell write_powershell \
             read_powershell stop_powershell list_powershell",
        ),
        (Kind::Read, "view"),
        (
            Kind::Edit,
            "create edit str_replace str_replace_editor apply_patch",
        ),
        (Kind::Search, "glob grep rg"),
        (Kind::Fetch, "web_fetch"),
        // The calls of subagents (`task`, and what names agents) have hooks.
        (
            Kind::Think,
            "task list_agents read_agent write_agent update_todo",
        ),
        (Kind::SwitchMode, "exit_plan_mode"),
    ],
    places: Places {
        session: &["/sessionId"],
        parents: &[],
        call: &[],
        subagent: &["/agentId"],
        server: &[],
        tool: &["/toolName"],
        input: &["/toolArgs"],
        output: RESULT,
        cwd: &["/cwd"],
    },
    answer,
    closed,
    attach: |run, dialect| Ok(attach(run, dialect)),
    ..NONE
};

const RESULT: &[&str] = &["/toolResult", "/error"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_args: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_result: Option<&'a RawValue>,
}

fn answer(report: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => Some(deny(reason)),
        (Moment::BeforeTool, Decision::Input(input)) => written(&Changed {
            permission_decision: Some("allow"),
            modified_args: Some(serde_json::from_str(input).ok()?),
            modified_result: None,
        }),
        (Moment::AfterTool, _) if event.ends_with(FAILURE) => None,
        (Moment::AfterTool, Decision::Output(new)) => {
            replaced(&with_texts(report.at(RESULT)?, new)?)
        }
        (Moment::AfterTool, Decision::Refuse(reason)) => {
            replaced(&withheld(report.at(RESULT)?, reason)?)
        }
        _ => None,
    }
}

fn replaced(result: &str) -> Option<Answer> {
    written(&Changed {
        permission_decision: None,
        modified_args: None,
        modified_result: Some(serde_json::from_str(result).ok()?),
    })
}

fn written(changed: &Changed<'_>) -> Option<Answer> {
    Some(Answer::says(serde_json::to_string(changed).ok()?))
}

fn deny(reason: &str) -> Answer {
    Answer::says(json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }))
}

fn closed(moment: Moment, reason: &str) -> Answer {
    if moment != Moment::AfterTool {
        return deny(reason);
    }
    let result = json!({ "resultType": "failure", "textResultForLlm": reason });
    Answer::says(json!({ "modifiedResult": result }))
}

fn attach(run: &Run<'_>, dialect: &Dialect) -> Attachment {
    let events = dialect.events.iter().map(|(event, _)| {
        let command = run.command(dialect, event);
        let hook = json!({ "type": "command", "bash": command, "timeoutSec": TIMEOUT });
        ((*event).to_owned(), json!([hook]))
    });
    let hooks = json!({ "version": 1, "hooks": Value::Object(events.collect()) });
    let plugin = json!({
        "name": run.name(), "version": "1.0.0", "description": "acp-chain", "hooks": "hooks.json",
    });
    Attachment {
        args: vec!["--plugin-dir".to_owned(), run.place("plugin")],
        files: vec![
            OverlayFile::json("plugin/plugin.json", &plugin),
            OverlayFile::json("plugin/hooks.json", &hooks),
        ],
        ..Attachment::default()
    }
}
