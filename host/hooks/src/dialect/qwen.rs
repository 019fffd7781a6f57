//! Qwen Code's hooks, in the form of Claude's; inputs cannot be changed, and a result is replaced by the reason of a
//! stop, after which the turn goes on.

use serde_json::json;

use super::{Dialect, FAILURE, Places, claude};
use crate::report::Report;
use crate::{Answer, Decision, Kind, Moment};

pub(super) static QWEN: Dialect = Dialect {
    name: "qwen",
    changes_input: false,
    changes_output: true,
    changes_failures: false,
    events: claude::EVENTS,
    tools: &[
        ("run_shell_command", Kind::Execute),
        ("read_file", Kind::Read),
        ("read_many_files", Kind::Read),
        ("write_file", Kind::Edit),
        ("edit", Kind::Edit),
        ("replace", Kind::Edit),
        ("list_directory", Kind::Search),
        ("glob", Kind::Search),
        ("grep_search", Kind::Search),
        ("search_file_content", Kind::Search),
        ("web_fetch", Kind::Fetch),
        ("web_search", Kind::Fetch),
        ("todo_write", Kind::Think),
        ("save_memory", Kind::Think),
        ("task", Kind::Think),
        ("exit_plan_mode", Kind::SwitchMode),
    ],
    places: Places {
        // Its `tool_use_id` is not ACP's.
        call: &[],
        output: &["/tool_response/llmContent", "/error"],
        ..claude::PLACES
    },
    answer,
    closed,
};

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
