//! The hooks of pi, by an extension of ours.

use super::{Dialect, plugin};
use crate::Kind;

pub(super) static PI: Dialect = Dialect {
    name: "pi",
    changes_input: true,
    changes_output: true,
    changes_failures: true,
    events: plugin::EVENTS,
    tools: &[
        ("bash", Kind::Execute),
        ("read", Kind::Read),
        ("write", Kind::Edit),
        ("edit", Kind::Edit),
        ("find", Kind::Search),
        ("grep", Kind::Search),
        ("ls", Kind::Search),
    ],
    places: plugin::PLACES,
    answer: plugin::answer,
    closed: plugin::closed,
};
