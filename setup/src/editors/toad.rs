//! Toad. Its agents come with it, and others are typed: no file of its user's has any.

use super::{Editor, Kind};
use crate::launch::Launch;
use crate::shell::shell_word;

pub(super) const TOAD: Editor = Editor {
    name: "toad",
    title: "Toad",
    kind: Kind::Typed {
        program: "toad",
        line: |launch: &Launch| {
            let words: Vec<_> = launch.words().iter().map(|word| shell_word(word)).collect();
            let line = format!("{} AGENT ARGS…", words.join(" "));
            format!(
                "toad acp \"{}\"",
                line.replace('\\', r"\\").replace('"', "\\\"")
            )
        },
    },
};
