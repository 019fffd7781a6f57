//! Programs that install packages. Each has a time limit, and its output is shown only if it fails.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use acp_chain_system::files::real;

/// How long an installation may take: a slow network and a large package.
const PATIENCE: Duration = Duration::from_mins(20);

/// How often a program is polled.
const TICK: Duration = Duration::from_millis(20);

/// How many bytes of a program's output are kept.
const OUTPUT: u64 = 1 << 20;

/// Where to get Node.
pub const NODE: &str = "install Node from https://nodejs.org";

/// The folder of links that fnm makes for each shell, and removes later.
const OF_SHELL: &str = "fnm_multishells";

/// The path of this program: a `.cmd` on Windows cannot be started without it.
pub fn find(program: &str, next: &'static str) -> Result<PathBuf, Error> {
    let found = which::which(program).map_err(|_| Error::NoProgram {
        program: program.to_owned(),
        next,
    });
    found.map(lasting)
}

/// A path of a program that outlasts the user's shell.
pub fn lasting(program: PathBuf) -> PathBuf {
    let is_of_shell = program.iter().any(|part| part == OF_SHELL);
    let (true, Some(folder), Some(name)) = (is_of_shell, program.parent(), program.file_name())
    else {
        return program;
    };
    real(folder).map_or_else(|_| program.clone(), |folder| folder.join(name))
}

/// Node itself.
pub fn node(folder: &Path) -> Result<PathBuf, Error> {
    let found = find("node", NODE)?;
    Ok(itself(found, &["-p", "process.execPath"], folder))
}

/// The Python at this path itself.
pub fn python(found: PathBuf, folder: &Path) -> PathBuf {
    let prints = ["-I", "-c", "import sys; print(sys.executable)"];
    itself(found, &prints, folder)
}

/// Whether a program is a Python by its name: `python`, `python3`, `python3.13`.
pub fn is_python(name: &str) -> bool {
    let version = name
        .strip_suffix(".exe")
        .unwrap_or(name)
        .strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// An interpreter itself, which prints its path with these arguments. The one in `PATH` may be a stand-in of a version
/// manager, which starts another version in each folder, or none. A link to the interpreter stays: it outlasts the
/// version, as that of Homebrew does.
fn itself(found: PathBuf, prints: &[&str], folder: &Path) -> PathBuf {
    let own = own_path(&found, prints, folder);
    match own.filter(|own| own.is_absolute() && own.is_file()) {
        Some(own) if own.canonicalize().ok() != found.canonicalize().ok() => own,
        _ => found,
    }
}

/// The path that an interpreter reports as its own.
fn own_path(interpreter: &Path, prints: &[&str], folder: &Path) -> Option<PathBuf> {
    let mut command = Command::new(interpreter);
    command.args(prints).env_remove("NODE_OPTIONS");
    let printed = stdout_of(&mut command, folder)?;
    printed.lines().last().map(|path| path.trim().into())
}

/// The standard output of a program, if it succeeds.
pub fn stdout_of(command: &mut Command, folder: &Path) -> Option<String> {
    let (ended, output) = finish(command.current_dir(folder), false).ok()?;
    ended?.success().then_some(output)
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let program = PathBuf::from(command.get_program());
    let shown = shown(command);
    let (ended, output) = finish(command, true).map_err(Error::disk(&program))?;
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
        output,
    })
}

/// Runs a program to its end. Returns how it ended, or `None` if it ran out of time, and its output, with that to
/// standard error if it is wanted.
fn finish(command: &mut Command, with_errors: bool) -> io::Result<(Option<ExitStatus>, String)> {
    let mut output = tempfile::tempfile()?;
    let errors = if with_errors {
        Stdio::from(output.try_clone()?)
    } else {
        Stdio::null()
    };
    command.stdin(Stdio::null()).stderr(errors);
    let mut child = command.stdout(output.try_clone()?).spawn()?;
    Ok((wait(&mut child)?, text_of(&mut output)?))
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

fn text_of(output: &mut File) -> io::Result<String> {
    output.rewind()?;
    let mut text = Vec::new();
    output.take(OUTPUT).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// A command as typed, but without quotes.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = [name].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
