//! The hooks of pi, by an extension of ours.

use super::{Dialect, plugin};
use crate::attach::{OverlayFile, quoted};
use crate::{Attachment, Kind, Run};

pub(super) static PI: Dialect = Dialect {
    name: "pi",
    tools: &[
        (Kind::Execute, "bash powershell"),
        (Kind::Read, "read"),
        (Kind::Edit, "write edit"),
        (Kind::Search, "find grep ls"),
    ],
    attach: |run, dialect| Ok(attach(run, dialect)),
    ..plugin::PLUGIN
};

/// pi-acp starts pi by this command.
const COMMAND: &str = "PI_ACP_PI_COMMAND";

fn attach(run: &Run<'_>, dialect: &Dialect) -> Attachment {
    let pi = (run.variable)(COMMAND).unwrap_or_else(|| "pi".to_owned());
    let extension = run.place("extension.mjs");
    let script = format!(
        "#!/bin/sh\nexec {} -e {} \"$@\"\n",
        quoted(&pi),
        quoted(&extension)
    );
    let source = plugin::source(dialect, include_str!("../plugins/pi.mjs"));
    Attachment {
        variables: vec![(COMMAND, run.place("pi"))],
        files: vec![
            OverlayFile::text("extension.mjs", source),
            OverlayFile::script("pi", script),
        ],
        ..Attachment::default()
    }
}
