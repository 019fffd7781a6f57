//! From which processes another one descends: `/proc`, on Linux.
//!
//! While this looks, processes end, and their ids are used again. So parents are looked up once more in the end, and
//! what has changed is no answer.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::files::Identity;
use crate::{Ancestor, Descent};

/// Whether this system tells which processes another one descends from.
pub const IS_KNOWN: bool = cfg!(target_os = "linux");

/// How many processes may be between a program and one that it has started, with both.
const DEEPEST: usize = 32;

/// How often to look if parents change meanwhile, as when a launcher ends.
const LOOKS: usize = 3;

/// How much of a process's arguments is read, in bytes. They may have as many as the system allows.
const LONGEST: u64 = 64 * 1024;

/// Programs that run commands.
const SHELLS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "mksh", "nu", "pwsh", "sh", "tcsh", "yash", "zsh",
];

/// What identifies a process, and its parent.
#[derive(Debug, PartialEq, Eq)]
struct Status {
    id: u32,
    parent: u32,
    start: u64,
}

/// How the process with this id is related to `program`, a child of this process that it has not waited for.
/// [`has_command`](Ancestor::has_command) is about `command`.
pub fn descent(process: u32, program: u32, command: &str) -> Descent {
    if !IS_KNOWN || status(std::process::id()).is_none() || is_emulated() {
        return Descent::Unknown;
    }
    for _ in 0..LOOKS {
        let Some(line) = look_up(process, program) else {
            return Descent::Apart;
        };
        let ancestors = line.iter().map(|status| describe(status, command));
        let ancestors = ancestors.collect();
        if look_up(process, program).as_ref() == Some(&line) {
            return Descent::Below(ancestors);
        }
    }
    Descent::Apart
}

/// Whether this process runs in an emulator, which the system then takes for the program of all that it starts. The
/// emulator names our own file if it is asked for, but has no other one there.
fn is_emulated() -> bool {
    let named = std::env::current_exe().ok();
    let named = named.and_then(|path| Identity::of(&path));
    let running = Identity::of(Path::new("/proc/self/exe"));
    // A program that was replaced since it was started has no name.
    named
        .zip(running)
        .is_some_and(|(named, running)| named != running)
}

/// The process, its parent and so on, the program last; `None` if that is not among them.
fn look_up(process: u32, program: u32) -> Option<Vec<Status>> {
    let mut found = Vec::new();
    let mut next = process;
    while found.len() < DEEPEST {
        let status = status(next)?;
        next = status.parent;
        let is_program = status.id == program;
        found.push(status);
        if is_program {
            return Some(found);
        }
    }
    None
}

/// The status of a process; `None` if there is none, or it has ended.
fn status(id: u32) -> Option<Status> {
    let stat = fs::read(format!("/proc/{id}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The fields after the name, which may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<_> = fields.split(' ').collect();
    let has_ended = matches!(*fields.first()?, "Z" | "X");
    let status = Status {
        id,
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    };
    (!has_ended).then_some(status)
}

fn describe(status: &Status, command: &str) -> Ancestor {
    let folder = format!("/proc/{}", status.id);
    let folder = Path::new(&folder);
    let arguments = arguments(folder);
    let file = folder.join("exe");
    let path = fs::read_link(&file).ok();
    let names = path.iter().map(|path| path.to_string_lossy());
    // A shell may be a part of a larger program, and is then known by its first argument.
    let own_word = arguments.first().map(Into::into);
    let is_shell = names.chain(own_word).any(|name| is_shell(&name));
    Ancestor {
        id: status.id,
        start: status.start,
        program: Identity::of(&file),
        is_shell,
        takes_commands: is_shell && takes_commands(&arguments),
        has_command: arguments.iter().any(|argument| argument == command),
    }
}

/// The arguments of a process, its name first; none if they cannot be read.
fn arguments(folder: &Path) -> Vec<String> {
    let mut text = Vec::new();
    let file = File::open(folder.join("cmdline"));
    if let Ok(file) = file {
        let _ = file.take(LONGEST).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    // Each ends with a NUL.
    let arguments = text.split_terminator('\0');
    arguments.map(str::to_owned).collect()
}

/// Whether a program of this path or name is a shell. That of a login shell begins with `-`.
fn is_shell(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.trim_start_matches('-');
    let name = name.strip_suffix(" (deleted)").unwrap_or(name);
    SHELLS.contains(&name)
}

/// Whether a shell with these arguments runs commands that it was given: with `-c`, or on its input.
fn takes_commands(arguments: &[String]) -> bool {
    let is_option = |word: &&String| word.starts_with(['-', '+']);
    let options = arguments.iter().skip(1).take_while(is_option);
    let count = options.clone().count();
    let has_command = |word: &String| !word.starts_with("--") && word.contains('c');
    options.clone().any(has_command) || count + 1 >= arguments.len()
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
