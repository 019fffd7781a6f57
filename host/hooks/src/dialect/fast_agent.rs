//! The hooks of fast-agent, by an agent card of ours.

use super::{Dialect, plugin};
use crate::Kind;

pub(super) static FAST_AGENT: Dialect = Dialect {
    name: "fast-agent",
    changes_input: true,
    changes_output: true,
    changes_failures: true,
    events: plugin::EVENTS,
    tools: &[
        ("execute", Kind::Execute),
        ("read_text_file", Kind::Read),
        ("write_text_file", Kind::Edit),
        ("edit_file", Kind::Edit),
    ],
    places: plugin::PLACES,
    answer: plugin::answer,
    closed: plugin::closed,
};
