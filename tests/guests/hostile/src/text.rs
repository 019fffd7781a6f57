//! Text that imitates other output where people read it.

use crate::bindings::acp_chain::proxy::types::Action;
use crate::tally::say;

/// Clears a terminal, writes over the line, and begins lines that look like the host's own.
pub(crate) const FORGED: &str = "all is well\u{1b}[2J\u{1b}]0;title\u{7}\r\u{8}\u{9b}31m\0\n\
    2026-01-01T00:00:00.000000Z ERROR forged: the proxy `neighbour` broke\r\n\
    forged at the beginning of a line\u{2028}\u{202e}\u{85}forged";

pub(crate) fn log_lines() -> Action {
    say(FORGED);
    Action::Forward
}

#[inline(never)]
pub(crate) fn panic_lines() -> ! {
    panic!("{FORGED}")
}
