//! Auggie's hooks, in the form of Claude's; results cannot be changed.

use serde_json::json;

use super::{Dialect, NONE, Places, claude};
use crate::attach::{OverlayFile, TIMEOUT, hooks};
use crate::report::Report;
use crate::{Answer, Attachment, Decision, Kind, Moment, Run};

pub(super) static AUGGIE: Dialect = Dialect {
    name: "auggie",
    changes_input: true,
    events: &[
        ("SessionStart", Moment::SessionStart),
        ("PromptSubmit", Moment::Prompt),
        ("PreToolUse", Moment::BeforeTool),
        ("PostToolUse", Moment::AfterTool),
    ],
    // A tool of a server has the names of both with `_` between, so none of the names with that is here. Nor is
    // `sub-agent`: it is not known whether its calls have hooks.
    tools: &[
        (
            Kind::Execute,
            "launch-process shell bash list-processes write-process read-process kill-process",
        ),
        (Kind::Read, "view read view-range-untruncated"),
        (Kind::Edit, "edit write save-file str-replace-editor"),
        (Kind::Delete, "remove-files"),
        (
            Kind::Search,
            "codebase-retrieval grep-search grep find search-untruncated",
        ),
        (Kind::Fetch, "web-fetch web-search"),
        (Kind::SwitchMode, "enter-plan-mode exit-plan-mode"),
    ],
    places: Places {
        session: &["/conversation_id"],
        call: &[],
        output: &["/tool_output", "/tool_error"],
        ..claude::PLACES
    },
    answer,
    attach: |run, dialect| Ok(attach(run, dialect)),
    ..NONE
};

fn answer(_: &Report<'_>, event: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    match (moment, decision) {
        (Moment::BeforeTool, Decision::Refuse(reason)) => claude::deny(event, reason),
        (Moment::BeforeTool, Decision::Input(input)) => {
            claude::with_input(event, Some("allow"), input)
        }
        _ => None,
    }
}

/// A marketplace of one plugin.
fn attach(run: &Run<'_>, dialect: &Dialect) -> Attachment {
    let timeout = TIMEOUT * 1000;
    let mut hooks = hooks(
        run,
        dialect,
        |command| json!({ "type": "command", "command": command, "timeout": timeout }),
    );
    for groups in hooks
        .as_object_mut()
        .into_iter()
        .flat_map(|hooks| hooks.values_mut())
    {
        // A regular expression here.
        if let Some(matcher) = groups[0].get_mut("matcher") {
            *matcher = ".*".into();
        }
    }
    let name = run.name();
    let plugin = json!({ "name": name, "version": "1.0.0", "description": "acp-chain" });
    let mut listed = plugin.clone();
    listed["source"] = format!("./{name}").into();
    let market = json!({ "name": name, "owner": { "name": "acp-chain" }, "plugins": [listed] });
    let folder = format!("market/{name}");
    Attachment {
        args: vec!["--plugin-dir".to_owned(), run.place("market")],
        files: vec![
            OverlayFile::json("market/.augment-plugin/marketplace.json", &market),
            OverlayFile::json(&format!("{folder}/.augment-plugin/plugin.json"), &plugin),
            OverlayFile::json(
                &format!("{folder}/hooks/hooks.json"),
                &json!({ "hooks": hooks }),
            ),
        ],
        ..Attachment::default()
    }
}
