//! Agents that are Python packages, each in a virtual environment. `pip` resolves the version, and the hash of it and
//! all its dependencies; then it installs just that. Only wheels: installing anything else would run its code. Code in
//! the user's folder or in `PYTHONPATH` does not run either.

use std::fmt::Write;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use super::{Install, Release, UnpackedAgent, spec, written};
use crate::error::Error;
use crate::name::list;
use crate::registry::Package;
use crate::tool;

const PYTHON: &str = "install Python from https://www.python.org";

/// The minor versions of Python 3 to look for.
const MINORS: RangeInclusive<u8> = 9..=16;

/// The folder of the virtual environment.
const ENVIRONMENT: &str = "venv";

/// The folder of programs in a virtual environment.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// A Python in uv's list.
#[derive(Deserialize)]
struct UvPython {
    path: Option<PathBuf>,
}

/// What pip would install (its *installation report*).
#[derive(Deserialize)]
struct Report {
    install: Vec<Wheel>,
}

#[derive(Deserialize)]
struct Wheel {
    metadata: Metadata,
    download_info: Value,
    #[serde(default)]
    requested: bool,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

impl Wheel {
    fn sha256(&self) -> Option<&str> {
        self.download_info["archive_info"]["hashes"]["sha256"].as_str()
    }
}

/// Fetches a package; `None` if it is the installed one.
pub fn get(
    install: &Install,
    offer: &Package,
    room: &Path,
) -> Result<Option<UnpackedAgent>, Error> {
    let spec = spec::python(&offer.package).ok_or_else(|| {
        install.wrong(format!(
            "has the package `{}`, which is not a valid Python package",
            offer.package
        ))
    })?;
    let environment = room.join(ENVIRONMENT);
    let wanted = match spec.version {
        Some(version) => format!("{}{}=={version}", spec.name, spec.extras),
        None => format!("{}{}", spec.name, spec.extras),
    };
    let wrong = Error::unfit(offer.package.clone());
    let text = resolve(&wanted, room).map_err(|error| {
        let needed = spec
            .version
            .and_then(|version| needed(error.output(), version));
        needed.map_or(error, |needed| wrong(no_python(&needed)))
    })?;
    let all: Report = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("the report of pip cannot be read: {error}")))?;
    let requested = all.install.iter().find(|wheel| wheel.requested);
    let requested =
        requested.ok_or_else(|| wrong("the report of pip does not name it".to_owned()))?;
    let mut requirements = String::new();
    for wheel in &all.install {
        let Metadata { name, version } = &wheel.metadata;
        let hash = wheel.sha256();
        let hash = hash.ok_or_else(|| wrong(format!("pip reports no hash of `{name}`")))?;
        let _ = writeln!(requirements, "{name}=={version} --hash=sha256:{hash}");
    }
    let Metadata { name, version } = &requested.metadata;
    let release = Release {
        version: version.clone(),
        source: format!("{name}=={version}"),
        digest: format!("sha256:{}", requested.sha256().unwrap_or_default()),
    };
    let cmd = offer.cmd.as_deref().unwrap_or(spec.name);
    let command = |room: &Path| written(&program(room, cmd)).map(|program| vec![program]);
    if install.is_installed(&release, command)? {
        return Ok(None);
    }
    let list = room.join("requirements.txt");
    fs::write(&list, requirements).map_err(Error::disk(&list))?;
    let hashed = ["--require-hashes", "--no-deps", "--requirement"];
    tool::run(pip(&environment, room).args(hashed).arg(&list))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let program = program(room, cmd);
    if !cmd.chars().all(is_plain) || !program.is_file() {
        return Err(wrong(format!(
            "it has no program `{cmd}`: it has {}",
            programs(&environment)
        )));
    }
    Ok(Some(UnpackedAgent {
        release,
        command: vec![written(&program)?],
        notes: Vec::new(),
    }))
}

/// pip's report about a requirement, by the first Python with which it can be met, in an environment of that.
fn resolve(wanted: &str, room: &Path) -> Result<Vec<u8>, Error> {
    let usual = tool::find(if cfg!(windows) { "python" } else { "python3" }, PYTHON)?;
    let refused = match resolve_with(&usual, wanted, room) {
        Err(refused) if needs_another(refused.output()) => refused,
        resolved => return resolved,
    };
    let mut tried = vec![usual.canonicalize().unwrap_or(usual)];
    for python in others(room) {
        let itself = python.canonicalize().unwrap_or_else(|_| python.clone());
        if tried.contains(&itself) {
            continue;
        }
        tried.push(itself);
        // Stand-ins of version managers may start nothing.
        if let Ok(report) = resolve_with(&python, wanted, room) {
            return Ok(report);
        }
    }
    Err(refused)
}

fn resolve_with(python: &Path, wanted: &str, room: &Path) -> Result<Vec<u8>, Error> {
    let environment = room.join(ENVIRONMENT);
    tool::run(
        isolated(python, room)
            .args(["-m", "venv", "--clear"])
            .arg(&environment),
    )?;
    let report = room.join("report.json");
    tool::run(
        pip(&environment, room)
            .args(["--dry-run", "--report"])
            .arg(&report)
            .arg(wanted),
    )?;
    fs::read(&report).map_err(Error::disk(&report))
}

/// Other Pythons, new ones first: those in `PATH`, and those that uv has installed.
fn others(room: &Path) -> impl Iterator<Item = PathBuf> {
    let named = MINORS.rev().map(|minor| format!("python3.{minor}"));
    let named = named.filter_map(|name| which::which(name).ok());
    let of_uv = which::which("uv").ok().and_then(|uv| {
        let mut list = Command::new(uv);
        list.args(["python", "list", "--only-installed", "--offline"])
            .args(["--output-format", "json"]);
        serde_json::from_str::<Vec<UvPython>>(&tool::stdout_of(&mut list, room)?).ok()
    });
    let of_uv = of_uv.into_iter().flatten().filter_map(|one| one.path);
    named.chain(of_uv)
}

/// Whether pip reports that a package is for another version of Python.
fn needs_another(output: &str) -> bool {
    output.contains("Requires-Python ") || output.contains("requires a different Python")
}

/// The version of Python that a version of a package needs, from the output of pip.
fn needed(output: &str, version: &str) -> Option<String> {
    let ignored = format!(" {version} Requires-Python ");
    let (_, rest) = output.split_once(&ignored).or_else(|| {
        output
            .split_once("requires a different Python: ")?
            .1
            .split_once(" not in ")
    })?;
    let needed = rest.split([';', '\n']).next()?;
    let needed = needed.trim().trim_matches('\'');
    (!needed.is_empty()).then(|| needed.to_owned())
}

fn no_python(needed: &str) -> String {
    let least = needed.split(',').find_map(|part| {
        let version = part.trim().strip_prefix(">=")?;
        let is_version = version.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_version.then(|| version.to_owned())
    });
    let next = match (which::which("uv"), least) {
        (Ok(_), Some(least)) => format!("`uv python install {least}` installs one"),
        _ => PYTHON.to_owned(),
    };
    format!("it needs Python {needed}, and none is in PATH; {next}")
}

/// Python with nothing but its own modules: otherwise `-m` looks first in the folder in which the user happens to be,
/// perhaps a foreign repository with a `venv.py`.
fn isolated(python: &Path, room: &Path) -> Command {
    let mut python = Command::new(python);
    python.arg("-I").current_dir(room);
    python
}

/// `pip install` in a virtual environment.
fn pip(environment: &Path, room: &Path) -> Command {
    let mut pip = isolated(&environment.join(PROGRAMS).join("python"), room);
    pip.args([
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
    ])
    .args(["--only-binary", ":all:"]);
    pip
}

/// The program of this name, whether or not there is one.
fn program(room: &Path, cmd: &str) -> PathBuf {
    let program = room.join(ENVIRONMENT).join(PROGRAMS).join(cmd);
    if cfg!(windows) {
        program.with_added_extension("exe")
    } else {
        program
    }
}

/// The installed programs of packages.
fn programs(environment: &Path) -> String {
    let folder = fs::read_dir(environment.join(PROGRAMS));
    let entries = folder.into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let own = ["python", "pip", "activate", "Activate"];
    let names = names.filter(|name| !own.iter().any(|own| name.starts_with(own)));
    let mut names: Vec<_> = names.collect();
    names.sort();
    list(&names, "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_that_a_version_needs_is_read_from_the_output_of_pip() {
        // As pip 24 prints it; `--quiet` leaves it.
        let ignored = "ERROR: Ignored the following versions that require a different python version: \
            1.0.0 Requires-Python >=3.12; 1.1.0 Requires-Python <3.14,>=3.13\n\
            ERROR: Could not find a version that satisfies the requirement it==1.1.0 (from versions: none)\n\
            ERROR: No matching distribution found for it==1.1.0";
        assert!(needs_another(ignored));
        assert_eq!(needed(ignored, "1.1.0").as_deref(), Some("<3.14,>=3.13"));
        assert_eq!(needed(ignored, "1.0.0").as_deref(), Some(">=3.12"));
        assert_eq!(needed(ignored, "2.0.0"), None);
        let wheel = "ERROR: Package 'it' requires a different Python: 3.11.7 not in '>=3.13'";
        assert!(needs_another(wheel));
        assert_eq!(needed(wheel, "1.0.0").as_deref(), Some(">=3.13"));
        let missing = "ERROR: No matching distribution found for it==1.1.0";
        assert!(!needs_another(missing));
        assert_eq!(needed(missing, "1.1.0"), None);
    }
}
