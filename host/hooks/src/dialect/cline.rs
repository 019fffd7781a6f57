//! The hooks of Cline, by a plugin of ours.

use std::path::{Path, PathBuf};

use super::{Dialect, plugin};
use crate::attach::{OverlayContent, OverlayFile, Switch, quoted};
use crate::{Attachment, CannotAttach, Kind, Run};

pub(super) static CLINE: Dialect = Dialect {
    name: "cline",
    tools: &[
        (Kind::Execute, "run_commands execute_command"),
        (Kind::Read, "read_files read_file"),
        (
            Kind::Edit,
            "apply_patch editor write_to_file replace_in_file",
        ),
        (Kind::Search, "list_files search_codebase search_files"),
        (Kind::Fetch, "fetch_web_content"),
        // The calls of what `spawn_agent` begins have hooks.
        (Kind::Think, "spawn_agent submit_and_exit"),
    ],
    // It names the folder in whose place ours stands.
    switches: &[Switch::Argument("--config")],
    attach,
    ..plugin::PLUGIN
};

/// The file of our plugin.
const OURS: &str = "acp-chain.js";

/// A folder that stands for the user's `~/.cline`: it has all that theirs has, and our plugin. Sessions and settings
/// stay in theirs.
fn attach(run: &Run<'_>, dialect: &Dialect) -> Result<Attachment, CannotAttach> {
    let home = (run.variable)("HOME").ok_or(CannotAttach::NoHome)?;
    let theirs = (run.variable)("CLINE_DIR").map_or(Path::new(&home).join(".cline"), PathBuf::from);
    let data = (run.variable)("CLINE_DATA_DIR").map_or(theirs.join("data"), PathBuf::from);
    let names = |folder: &Path| {
        let unreadable = |error| CannotAttach::Unreadable(folder.to_owned(), error);
        (run.names)(folder).map_err(unreadable)
    };
    let link = |path: String, to: PathBuf| OverlayFile {
        path: path.into(),
        content: OverlayContent::Link(to),
    };
    let mut files = Vec::new();
    for name in names(&theirs)? {
        if !["data", "hooks", "plugins"].contains(&&*name) {
            files.push(link(format!("cline/{name}"), theirs.join(&name)));
        }
    }
    // A plugin of this name is one of ours, if the host runs within another one's agent.
    let plugins = names(&theirs.join("plugins"))?.into_iter();
    for name in plugins.filter(|name| name != OURS) {
        files.push(link(
            format!("cline/plugins/{name}"),
            theirs.join("plugins").join(&name),
        ));
    }
    // Cline skips hooks that are links.
    for name in names(&theirs.join("hooks"))? {
        let hook = theirs.join("hooks").join(&name);
        let script = format!(
            "#!/bin/sh\nexec {} \"$@\"\n",
            quoted(&hook.to_string_lossy())
        );
        files.push(OverlayFile::script(&format!("cline/hooks/{name}"), script));
    }
    let source = plugin::source(dialect, include_str!("../plugins/cline.mjs"));
    files.push(OverlayFile::text(&format!("cline/plugins/{OURS}"), source));
    Ok(Attachment {
        variables: vec![
            ("CLINE_DIR", run.place("cline")),
            ("CLINE_DATA_DIR", data.to_string_lossy().into_owned()),
            // Sessions run in this process, and not in one that Cline leaves running for all: that has the plugins and
            // the environment of whichever started it.
            ("CLINE_SESSION_BACKEND_MODE", "local".to_owned()),
        ],
        files,
        ..Attachment::default()
    })
}
