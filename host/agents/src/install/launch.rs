//! The command that launches a program: the program itself, or the interpreter of its first line, with the options
//! there. The interpreter is looked up now, since editors have another `PATH`.

use std::path::{Path, PathBuf};

use super::written;
use crate::error::Error;
use crate::program::{self, Kind, Line};
use crate::{system, tool};

/// How many scripts may be run by scripts.
const NESTING: usize = 3;

/// Where to get interpreters of scripts.
const SOURCES: [(&str, &str); 3] = [
    ("bun", "install Bun from https://bun.sh"),
    ("deno", "install Deno from https://deno.com"),
    ("uv", "install uv from https://docs.astral.sh/uv"),
];

/// The command of a program in the folder of an agent. Its interpreter is among the packages there, or in `PATH`.
/// `wrong` is an error about the program.
pub fn command(
    program: &Path,
    room: &Path,
    wrong: &impl Fn(&str) -> Error,
) -> Result<Vec<String>, Error> {
    nested(program, room, wrong, NESTING)
}

fn nested(
    program: &Path,
    room: &Path,
    wrong: &impl Fn(&str) -> Error,
    nesting: usize,
) -> Result<Vec<String>, Error> {
    let kind = program::kind(program).map_err(Error::disk(program))?;
    let script = written(program)?;
    match kind {
        Kind::Script(line) if is_node(&line) => {
            let mut command = set(&line)?;
            command.push(written(&tool::node(room)?)?);
            command.extend(line.options);
            command.push(script);
            Ok(command)
        }
        Kind::JavaScript => Ok(vec![written(&tool::node(room)?)?, script]),
        Kind::Script(line) => {
            let is_there = Path::new(&line.interpreter).is_absolute()
                && Path::new(&line.interpreter).is_file();
            if is_there {
                return itself(program, script);
            }
            let mut command = set(&line)?;
            let beside = room.join("node_modules/.bin").join(line.name());
            match beside.canonicalize() {
                Ok(beside) if nesting > 0 => {
                    command.extend(nested(&beside, room, wrong, nesting - 1)?);
                }
                _ => {
                    let found = find(line.name())?;
                    let interpreter = if tool::is_python(line.name()) {
                        tool::python(found, room)
                    } else {
                        found
                    };
                    command.push(written(&interpreter)?);
                }
            }
            command.extend(line.options);
            command.push(script);
            Ok(command)
        }
        Kind::Native => itself(program, script),
        // Windows has more kinds of programs.
        Kind::Unknown if cfg!(windows) => itself(program, script),
        Kind::Unknown => Err(wrong("is neither a program nor a script")),
    }
}

fn itself(program: &Path, script: String) -> Result<Vec<String>, Error> {
    system::make_executable(program).map_err(Error::disk(program))?;
    Ok(vec![script])
}

fn is_node(line: &Line) -> bool {
    matches!(line.name(), "node" | "nodejs" | "node.exe")
}

/// The beginning of a command that sets variables.
fn set(line: &Line) -> Result<Vec<String>, Error> {
    if line.variables.is_empty() {
        return Ok(Vec::new());
    }
    let env = written(&find("env")?)?;
    Ok([env].into_iter().chain(line.variables.clone()).collect())
}

fn find(name: &str) -> Result<PathBuf, Error> {
    let known = SOURCES.iter().find(|(known, _)| *known == name);
    let next = known.map_or("install it, or let PATH name its folder", |(_, next)| *next);
    tool::find(name, next)
}
