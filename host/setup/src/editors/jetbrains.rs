//! The IDEs of `JetBrains`, which share one file.

use super::editor::{Editor, Kind};
use crate::agents::Dialect;

pub(super) const JETBRAINS: Editor = Editor {
    name: "jetbrains",
    title: "JetBrains",
    kind: Kind::Agents {
        files: |places| vec![places.home.join(".jetbrains/acp.json")],
        dialect: Dialect {
            keys: &["agent_servers"],
            lines: false,
            kind: None,
        },
    },
};
