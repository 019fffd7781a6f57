//! Text that imitates something else for human readers.

use hostile::Mode;

use crate::hostile::aftermath::Aftermath;
use crate::hostile::row::{Fate, Row, withstands};

withstands! {
    it_logs_lines_that_look_like_the_hosts: Row::guest(Mode::LogLines)
        .report(&["all is well"])
        .also(assert_not_forged);

    it_panics_with_such_lines: Row::guest(Mode::PanicLines)
        .fate(Fate::Breaks)
        .report(&["all is well", "hostile::text::panic_lines"])
        .also(assert_not_forged);

    it_fails_with_such_lines: Row::guest(Mode::ReasonLines)
        .fate(Fate::Fails)
        .also(assert_not_forged);
}

/// No line of the log begins with the attacker's text.
fn assert_not_forged(aftermath: &Aftermath) {
    for line in aftermath.log.lines() {
        assert!(!line.starts_with("forged"), "{line}");
        // In the report of a failure, and after the first line of a message that the attacker logged.
        let is_marked = line.starts_with("    | ") || line.contains(": | 20");
        let is_marked = is_marked || line.contains("all is well");
        assert!(!line.contains("ERROR forged") || is_marked, "{line}");
    }
}
