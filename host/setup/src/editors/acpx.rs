//! acpx, a command-line client. An agent is an `argv`, or a `command`, which without `args` is a whole line.

use super::editor::{Editor, Kind};
use crate::agents::Dialect;

pub(super) const ACPX: Editor = Editor {
    name: "acpx",
    title: "acpx",
    kind: Kind::Agents {
        files: |places| vec![places.home.join(".acpx/config.json")],
        dialect: Dialect {
            keys: &["agents"],
            lines: true,
            kind: None,
        },
    },
};
