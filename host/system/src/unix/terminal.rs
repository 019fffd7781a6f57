//! Running the agent in our terminal, and the modes of that.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetsid, tcsetattr};

/// Ends the marks around pasted text, which an editor of lines asks for.
const NO_PASTE_MARKS: &[u8] = b"\x1b[?2004l";

/// Replaces our process with a program (`exec`). Returns only on failure.
pub fn hand_over(mut command: Command) -> io::Result<ExitCode> {
    Err(command.exec())
}

/// Whether our standard input is the terminal of our session, so that only a program can let its user edit lines.
pub fn needs_editor() -> bool {
    tcgetsid(io::stdin()).is_ok()
}

/// The terminal of our session, with its present modes.
pub struct OurTerminal {
    terminal: File,
    modes: Termios,
}

impl OurTerminal {
    /// Opens it. An error if our session has none.
    pub fn open() -> io::Result<Self> {
        let terminal = File::options().read(true).write(true).open("/dev/tty")?;
        let modes = tcgetattr(&terminal)?;
        Ok(Self { terminal, modes })
    }

    /// Gives it the modes that it had when it was opened.
    pub fn restore(&self) -> io::Result<()> {
        (&self.terminal).write_all(NO_PASTE_MARKS)?;
        Ok(tcsetattr(
            &self.terminal,
            OptionalActions::Drain,
            &self.modes,
        )?)
    }
}
