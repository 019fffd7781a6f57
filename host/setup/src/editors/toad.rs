//! Toad. Its agents are built in, or given on its command line: no file of the user contains any.

use super::editor::{Editor, Kind};
use super::quoted;
use crate::launch::Launch;
use crate::shell::shell_line;

pub(super) const TOAD: Editor = Editor {
    name: "toad",
    title: "Toad",
    kind: Kind::Typed {
        program: "toad",
        line: |launch: &Launch, installed: Option<&str>| {
            let (words, agent) = match installed {
                Some(name) => (launch.installed(name), ""),
                None => (launch.before_command(), " AGENT ARGS…"),
            };
            format!("toad acp {}", quoted(&(shell_line(&words) + agent)))
        },
    },
};
