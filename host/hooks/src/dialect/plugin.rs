//! The form of our own plugins, for agents that run hooks in their process: the plugin reports what this crate reads,
//! and carries out what it is answered.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Dialect, NONE, Places};
use crate::report::Report;
use crate::{Answer, Decision, Moment};

/// What all of them can do. A plugin refuses by itself what is not answered.
pub(super) const PLUGIN: Dialect = Dialect {
    changes_input: true,
    changes_output: true,
    changes_failures: true,
    events: &[
        ("session_start", Moment::SessionStart),
        ("before_tool", Moment::BeforeTool),
        ("after_tool", Moment::AfterTool),
    ],
    is_plugin: true,
    places: Places {
        session: &["/session"],
        parents: &["/parents"],
        call: &["/call"],
        subagent: &["/subagent"],
        server: &["/server"],
        tool: &["/tool"],
        input: &["/input"],
        output: &["/output"],
        cwd: &["/cwd"],
    },
    answer,
    ..NONE
};

#[derive(Default, Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    refuse: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a [String]>,
}

fn answer(_: &Report<'_>, _: &str, moment: Moment, decision: &Decision) -> Option<Answer> {
    let told = match (moment, decision) {
        (_, Decision::Refuse(reason)) => Told {
            refuse: Some(reason),
            ..Told::default()
        },
        (Moment::BeforeTool, Decision::Input(input)) => Told {
            input: Some(serde_json::from_str(input).ok()?),
            ..Told::default()
        },
        (Moment::AfterTool, Decision::Output(output)) => Told {
            output: Some(output),
            ..Told::default()
        },
        _ => return None,
    };
    Some(Answer::says(serde_json::to_string(&told).ok()?))
}

/// A plugin: what all share, and its own part.
pub(super) fn source(dialect: &Dialect, own: &str) -> String {
    let shared = include_str!("../plugins/client.mjs");
    format!("const DIALECT = \"{}\"\n{shared}\n{own}", dialect.name)
}
