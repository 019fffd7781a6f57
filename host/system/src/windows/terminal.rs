//! Running the agent in our console, and editing lines there.

use std::io;
use std::process::{Command, ExitCode};

/// Runs a program with our console and streams, and waits for it. Both receive the console's events.
pub fn hand_over(mut command: Command) -> io::Result<ExitCode> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Always `false`: the console itself lets its user edit lines.
pub fn needs_editor() -> bool {
    false
}

/// The console, whose modes nothing changes.
pub struct OurTerminal(());

impl OurTerminal {
    /// Not supported.
    pub fn open() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing.
    pub fn restore(&self) -> io::Result<()> {
        Ok(())
    }
}
