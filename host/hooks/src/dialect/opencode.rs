//! The hooks of opencode and of kilo, which is made of it, by a plugin of ours.

use serde_json::json;

use super::{Dialect, plugin};
use crate::attach::OverlayFile;
use crate::unhooked::Unhooked;
use crate::{Attachment, CannotAttach, Kind, Run};

pub(super) static OPENCODE: Dialect = of("opencode", |run, dialect| {
    attach(run, dialect, "OPENCODE_CONFIG_CONTENT", "OPENCODE_PURE")
});
pub(super) static KILO: Dialect = of("kilo", |run, dialect| {
    attach(run, dialect, "KILO_CONFIG_CONTENT", "KILO_PURE")
});

type Attach = fn(&Run<'_>, &Dialect) -> Result<Attachment, CannotAttach>;

const fn of(name: &'static str, attach: Attach) -> Dialect {
    Dialect {
        name,
        changes_input: true,
        changes_output: true,
        changes_failures: true,
        events: plugin::EVENTS,
        greets_once: true,
        unhooked: &[
            // A command that is a task of a subagent: its hook names another id. The subagent's calls have hooks.
            Unhooked::Marked("/rawInput/subagent_type", ""),
        ],
        knows_rejected: false,
        tools: &[
            ("bash", Kind::Execute),
            ("read", Kind::Read),
            ("write", Kind::Edit),
            ("edit", Kind::Edit),
            ("multiedit", Kind::Edit),
            ("patch", Kind::Edit),
            ("apply_patch", Kind::Edit),
            ("glob", Kind::Search),
            ("grep", Kind::Search),
            ("list", Kind::Search),
            ("webfetch", Kind::Fetch),
            ("websearch", Kind::Fetch),
            ("codesearch", Kind::Fetch),
            ("task", Kind::Think),
            ("todoread", Kind::Think),
            ("todowrite", Kind::Think),
            ("plan_exit", Kind::SwitchMode),
        ],
        places: plugin::PLACES,
        prefix: None,
        answer: plugin::answer,
        closed: plugin::closed,
        attach,
    }
}

/// The agent joins these lists of plugins with those of its user.
fn attach(
    run: &Run<'_>,
    dialect: &Dialect,
    config: &'static str,
    pure: &'static str,
) -> Result<Attachment, CannotAttach> {
    // A URL: what would be more than a path there is escaped (RFC 3986 §3.3).
    let path = run.place("plugin.mjs");
    let path = path
        .replace('%', "%25")
        .replace('#', "%23")
        .replace('?', "%3F");
    let plugin = format!("file://{path}");
    let content = run.merged(config, json!({ "plugin": [plugin] }))?;
    let source = plugin::source(dialect, include_str!("../plugins/opencode.mjs"));
    Ok(Attachment {
        // The second one would switch plugins off.
        variables: vec![(config, content), (pure, "false".to_owned())],
        files: vec![OverlayFile::text("plugin.mjs", source)],
        ..Attachment::default()
    })
}
