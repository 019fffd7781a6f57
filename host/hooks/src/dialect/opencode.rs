//! The hooks of opencode and of kilo, which is made of it, by a plugin of ours.

use serde_json::json;

use super::{Dialect, plugin};
use crate::attach::{OverlayFile, Switch};
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
        greets_once: true,
        unhooked: &[
            // A command of the user's that is a task of a subagent: its hook names another id. The subagent's calls have
            // hooks.
            Unhooked::Tool("task", "think", &["subagent_type", "command"]),
        ],
        // A tool of a server has the names of both with `_` between, and may replace the agent's own of that name: the
        // plugin tells whose `apply_patch` is.
        tools: &[
            (Kind::Execute, "bash background_process notebook_execute"),
            (Kind::Read, "read"),
            (
                Kind::Edit,
                "write edit multiedit patch apply_patch notebook_edit",
            ),
            (Kind::Search, "glob grep list lsp"),
            (Kind::Fetch, "webfetch websearch codesearch"),
            (Kind::Think, "task todoread todowrite"),
        ],
        switches: &[Switch::Argument("--pure")],
        attach,
        ..plugin::PLUGIN
    }
}

/// How long npm pauses between its attempts, at least and at most. Before the agent loads plugins for a session, it
/// waits for npm to install a package into each of its user's folders for settings, and without network, npm would
/// pause for more than a minute each time. Our plugin takes these away again before the first tool runs.
const ONLY_TO_START: [&str; 2] = [
    "npm_config_fetch_retry_mintimeout",
    "npm_config_fetch_retry_maxtimeout",
];

/// That pause, in milliseconds.
const PAUSE: &str = "1000";

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
    let mut only_to_start = ONLY_TO_START.to_vec();
    only_to_start.retain(|name| (run.variable)(name).is_none());
    let file = include_str!("../plugins/opencode.mjs");
    let own = format!("const ONLY_TO_START = {}\n{file}", json!(only_to_start));
    let source = plugin::source(dialect, &own);
    let names = only_to_start.into_iter();
    let pauses = names.map(|name| (name, PAUSE.to_owned()));
    // The second one would switch plugins off.
    let variables = [(config, content), (pure, "false".to_owned())];
    Ok(Attachment {
        variables: variables.into_iter().chain(pauses).collect(),
        files: vec![OverlayFile::text("plugin.mjs", source)],
        ..Attachment::default()
    })
}
