//! A terminal, with the test as its user.

use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroU16;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};

/// A pseudo-terminal. A program has it open while it runs; the process that started the program has to close it.
#[derive(Debug)]
pub struct Terminal {
    user: File,
    name: std::ffi::CString,
}

impl Terminal {
    /// Opens a new terminal.
    ///
    /// # Errors
    /// If the system cannot open one.
    pub fn open() -> io::Result<Self> {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&user)?;
        unlockpt(&user)?;
        let name = ptsname(&user, Vec::new())?;
        Ok(Self {
            user: user.into(),
            name,
        })
    }

    /// This terminal as one of a program's standard streams.
    ///
    /// # Errors
    /// If the terminal cannot be opened.
    pub fn stream(&self) -> io::Result<Stdio> {
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        Ok(rustix::fs::open(&self.name, flags, Mode::empty())?.into())
    }

    /// Makes this terminal all standard streams of a command.
    ///
    /// # Errors
    /// If the terminal cannot be opened.
    pub fn attach(&self, command: &mut Command) -> io::Result<()> {
        command
            .stdin(self.stream()?)
            .stdout(self.stream()?)
            .stderr(self.stream()?);
        Ok(())
    }

    /// Sets the terminal's size.
    ///
    /// # Errors
    /// If the size cannot be set.
    pub fn resize(&self, rows: u16, columns: u16) -> io::Result<()> {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(&self.user, size)?)
    }

    /// Waits until the terminal shows this. Returns all output read meanwhile.
    ///
    /// # Errors
    /// If no program has the terminal open any more.
    pub fn shows(&mut self, words: &str) -> io::Result<String> {
        let (mut shown, mut bytes) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&shown);
            if text.contains(words) {
                return Ok(text.into_owned());
            }
            match self.user.read(&mut bytes)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => shown.extend_from_slice(&bytes[..count]),
            }
        }
    }

    /// Waits until the screen shows these words. Returns the screen's text.
    ///
    /// A program that redraws its screen writes only the cells that change, so its output need not have the words.
    ///
    /// # Errors
    /// If the terminal has no size, or no program has it open any more.
    pub fn draws(&mut self, words: &str) -> io::Result<String> {
        let size = tcgetwinsize(&self.user)?;
        let cells = |count| NonZeroU16::new(count).ok_or(io::ErrorKind::InvalidInput);
        let mut screen = vt100::Parser::new(cells(size.ws_row)?, cells(size.ws_col)?, 0);
        let mut bytes = [0; 4096];
        loop {
            let text = screen.screen().contents();
            if text.contains(words) {
                return Ok(text);
            }
            match self.user.read(&mut bytes)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => screen.process(&bytes[..count]),
            }
        }
    }

    /// Types this text.
    ///
    /// # Errors
    /// If the text cannot be written.
    pub fn types(&mut self, line: &str) -> io::Result<()> {
        self.user.write_all(line.as_bytes())
    }

    /// Runs a command in this terminal, and types a line. Returns whether the command succeeded, and its output.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn run(mut self, mut command: Command, line: &str) -> io::Result<(bool, String)> {
        self.attach(&mut command)?;
        let mut running = command.spawn()?;
        drop(command);
        self.types(line)?;
        let shown = self.shown();
        Ok((running.wait()?.success(), shown))
    }

    /// All output until no program has the terminal open any more.
    #[must_use]
    pub fn shown(mut self) -> String {
        let mut shown = Vec::new();
        // The end of a terminal that no program has open any more is an error.
        let _ = self.user.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    }
}
