//! acpx, a command-line client. An agent is a `command`, which without `args` is a whole line, or, in newer versions,
//! an `argv`. An older version rejects a file in which there is one, and on Windows newer versions reject lines.

use super::editor::{Editor, Kind};
use crate::agents::Dialect;

pub(super) const ACPX: Editor = Editor {
    name: "acpx",
    title: "acpx",
    kind: Kind::Agents {
        files: |places| vec![places.in_home(".acpx/config.json")],
        further: |_| Vec::new(),
        dialect: Dialect {
            keys: &["agents"],
            overrides: &[],
            systems: &[],
            lines: true,
            kind: None,
        },
        alone: Some(
            "The agents that acpx knows by name (`claude`, `codex`, `gemini` and others), unless an entry has that name,",
        ),
    },
};
