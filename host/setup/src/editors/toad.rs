//! Toad. Its agents are built in, or given on its command line: no file of the user contains any.

use super::editor::{Editor, Kind};
use super::quoted;

pub(super) const TOAD: Editor = Editor {
    name: "toad",
    title: "Toad",
    kind: Kind::Typed {
        program: "toad",
        line: |launched| format!("toad acp {}", quoted(launched)),
    },
};
