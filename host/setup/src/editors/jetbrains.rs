//! The IDEs of `JetBrains`, which share one file.

use super::editor::{Editor, Kind};
use crate::agents::Dialect;

pub(super) const JETBRAINS: Editor = Editor {
    name: "jetbrains",
    title: "JetBrains",
    kind: Kind::Agents {
        files: |places| vec![places.in_home(".jetbrains/acp.json")],
        further: |_| Vec::new(),
        dialect: Dialect {
            keys: &["agent_servers"],
            overrides: &[],
            systems: &[],
            lines: false,
            kind: None,
        },
        alone: Some("Junie, and the other agents that the IDE installs by itself,"),
    },
};
