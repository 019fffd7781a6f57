//! The hooks of opencode and of kilo, which is made of it, by a plugin of ours.

use super::{Dialect, plugin};
use crate::Kind;

pub(super) static OPENCODE: Dialect = of("opencode");
pub(super) static KILO: Dialect = of("kilo");

const fn of(name: &'static str) -> Dialect {
    Dialect {
        name,
        changes_input: true,
        changes_output: true,
        changes_failures: true,
        events: plugin::EVENTS,
        tools: &[
            ("bash", Kind::Execute),
            ("read", Kind::Read),
            ("write", Kind::Edit),
            ("edit", Kind::Edit),
            ("multiedit", Kind::Edit),
            ("patch", Kind::Edit),
            ("apply_patch", Kind::Edit),
            ("glob", Kind::Search),
            ("grep", Kind::Search),
            ("list", Kind::Search),
            ("webfetch", Kind::Fetch),
            ("websearch", Kind::Fetch),
            ("codesearch", Kind::Fetch),
            ("task", Kind::Think),
            ("todoread", Kind::Think),
            ("todowrite", Kind::Think),
            ("plan_exit", Kind::SwitchMode),
        ],
        places: plugin::PLACES,
        answer: plugin::answer,
        closed: plugin::closed,
    }
}
