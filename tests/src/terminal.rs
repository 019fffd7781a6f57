//! A terminal, with the test in front of it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A pseudo-terminal. A program has it as long as it runs; what started the program has to let go of it.
#[derive(Debug)]
pub struct Terminal {
    user: File,
    name: std::ffi::CString,
}

impl Terminal {
    /// A new one.
    ///
    /// # Errors
    /// If the system gives none.
    pub fn open() -> io::Result<Self> {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&user)?;
        unlockpt(&user)?;
        let name = ptsname(&user, Vec::new())?;
        Ok(Self {
            user: user.into(),
            name,
        })
    }

    /// What a program has for one of its standard streams.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn stream(&self) -> io::Result<Stdio> {
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        Ok(rustix::fs::open(&self.name, flags, Mode::empty())?.into())
    }

    /// Makes this all that a command has.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn attach(&self, command: &mut Command) -> io::Result<()> {
        command
            .stdin(self.stream()?)
            .stdout(self.stream()?)
            .stderr(self.stream()?);
        Ok(())
    }

    /// Makes it this large.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn resize(&self, rows: u16, columns: u16) -> io::Result<()> {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(&self.user, size)?)
    }

    /// Waits until it shows this. Gives all that it has shown.
    ///
    /// # Errors
    /// If nobody has it any more.
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

    /// Types this.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn types(&mut self, line: &str) -> io::Result<()> {
        self.user.write_all(line.as_bytes())
    }

    /// Runs a command of which this is all that there is, and types a line. Gives whether it did what it should, and
    /// what is shown.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(mut self, mut command: Command, line: &str) -> io::Result<(bool, String)> {
        self.attach(&mut command)?;
        let mut running = command.spawn()?;
        drop(command);
        self.types(line)?;
        let shown = self.shown();
        Ok((running.wait()?.success(), shown))
    }

    /// All that is shown, once no program has it any more.
    #[must_use]
    pub fn shown(mut self) -> String {
        let mut shown = Vec::new();
        // The end of a terminal that nobody has open any more is an error.
        let _ = self.user.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    }
}
