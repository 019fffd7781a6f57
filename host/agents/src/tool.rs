//! Programs that install packages. Each has a time limit, and its output is shown only if it fails.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;

/// How long an installation may take: a slow network and a large package.
const PATIENCE: Duration = Duration::from_mins(20);

/// How often a program is polled.
const TICK: Duration = Duration::from_millis(20);

/// How many bytes of a program's output are kept.
const SAID: u64 = 1 << 20;

/// The path of this program: a `.cmd` on Windows cannot be started without it.
pub fn find(program: &'static str, next: &'static str) -> Result<PathBuf, Error> {
    which::which(program).map_err(|_| Error::NoProgram { program, next })
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let program = PathBuf::from(command.get_program());
    let shown = shown(command);
    let mut start = || {
        let output = tempfile::tempfile()?;
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?);
        Ok((command.spawn()?, output))
    };
    let (mut child, mut output) = start().map_err(Error::disk(&program))?;
    let ended = wait(&mut child).map_err(Error::disk(&program))?;
    let how = match ended {
        Some(status) if status.success() => return Ok(()),
        Some(status) => format!("failed ({status})"),
        None => format!(
            "was ended, as it took over {} minutes",
            PATIENCE.as_secs() / 60
        ),
    };
    Err(Error::Tool {
        command: shown,
        how,
        said: said(&mut output).unwrap_or_default(),
    })
}

/// How a program ended, or `None` if it ran out of time.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(TICK);
    }
}

fn said(output: &mut File) -> io::Result<String> {
    output.rewind()?;
    let mut said = Vec::new();
    output.take(SAID).read_to_end(&mut said)?;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

/// A command as typed, but without quotes.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = [name].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
