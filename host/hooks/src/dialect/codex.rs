//! Codex' hooks, in the form of Claude's, but for results: those are replaced by the reason of a block.

use serde_json::json;

use super::claude::{self, Specific};
use super::{Dialect, Places};
use crate::report::Report;
use crate::{Answer, Decision, Kind, Moment};

pub(super) static CODEX: Dialect = Dialect {
    name: "codex",
    changes_input: true,
    changes_output: true,
    changes_failures: true,
    events: &[
        ("SessionStart", Moment::SessionStart),
        ("UserPromptSubmit", Moment::Prompt),
        ("PreToolUse", Moment::BeforeTool),
        ("PostToolUse", Moment::AfterTool),
    ],
    tools: &[
        ("Bash", Kind::Execute),
        ("apply_patch", Kind::Edit),
        ("view_image", Kind::Read),
        ("web_search", Kind::Fetch),
        ("update_plan", Kind::Think),
    ],
    places: Places {
        output: &["/tool_response"],
        ..claude::PLACES
    },
    answer,
    closed: |_, reason| Answer::blocks(reason),
};

fn answer(_: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => claude::deny(event, reason),
        // Codex takes another input only with this decision, and asks its own question all the same.
        (Moment::BeforeTool, Decision::Input(input)) => {
            let changed = Specific {
                hook_event_name: event,
                permission_decision: Some("allow"),
                updated_input: Some(serde_json::from_str(input).ok()?),
                ..Specific::default()
            };
            changed.written()
        }
        (Moment::AfterTool, Decision::Refuse(reason)) => Some(block(reason)),
        (Moment::AfterTool, Decision::Output(new)) => Some(block(&new.join("\n"))),
        _ => None,
    }
}

fn block(reason: &str) -> Answer {
    Answer::says(json!({ "decision": "block", "reason": reason }))
}
