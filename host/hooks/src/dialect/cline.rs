//! The hooks of Cline, by a plugin of ours.

use super::{Dialect, plugin};
use crate::Kind;

pub(super) static CLINE: Dialect = Dialect {
    name: "cline",
    changes_input: true,
    changes_output: true,
    changes_failures: true,
    events: plugin::EVENTS,
    tools: &[
        ("run_commands", Kind::Execute),
        ("execute_command", Kind::Execute),
        ("read_files", Kind::Read),
        ("read_file", Kind::Read),
        ("apply_patch", Kind::Edit),
        ("editor", Kind::Edit),
        ("write_to_file", Kind::Edit),
        ("replace_in_file", Kind::Edit),
        ("list_files", Kind::Search),
        ("search_codebase", Kind::Search),
        ("search_files", Kind::Search),
        ("fetch_web_content", Kind::Fetch),
    ],
    places: plugin::PLACES,
    answer: plugin::answer,
    closed: plugin::closed,
};
