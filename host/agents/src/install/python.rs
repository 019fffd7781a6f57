//! Agents that are Python packages, each in a virtual environment. `pip` resolves the version, and the hash of it and
//! all its dependencies; then it installs just that. Only wheels: installing anything else would run its code. Nor does
//! code in the user's folder or in `PYTHONPATH` run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::{Found, Install, Release, spec, written};
use crate::error::Error;
use crate::registry::Package;
use crate::tool;

const PYTHON: &str = "install Python from https://www.python.org";

/// The folder of the virtual environment.
const ENVIRONMENT: &str = "venv";

/// The folder of programs in a virtual environment.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// What pip would install (its *installation report*).
#[derive(Deserialize)]
struct Report {
    install: Vec<Wheel>,
}

#[derive(Deserialize)]
struct Wheel {
    metadata: Metadata,
    download_info: Download,
    #[serde(default)]
    requested: bool,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Download {
    archive_info: Option<Archive>,
}

#[derive(Deserialize)]
struct Archive {
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

impl Wheel {
    fn sha256(&self) -> Option<&String> {
        self.download_info
            .archive_info
            .as_ref()?
            .hashes
            .get("sha256")
    }
}

/// Fetches a package, if it differs from the installed one.
pub fn get(install: &Install, offer: &Package, room: &Path) -> Result<Found, Error> {
    let spec = spec::python(&offer.package).ok_or_else(|| {
        install.wrong(format!(
            "has the package `{}`, which Python cannot have",
            offer.package
        ))
    })?;
    let python = tool::find(if cfg!(windows) { "python" } else { "python3" }, PYTHON)?;
    let environment = room.join(ENVIRONMENT);
    tool::run(
        isolated(&python, room)
            .args(["-m", "venv"])
            .arg(&environment),
    )?;
    let wanted = match spec.version {
        Some(version) => format!("{}{}=={version}", spec.name, spec.extras),
        None => format!("{}{}", spec.name, spec.extras),
    };
    let report = room.join("report.json");
    tool::run(
        pip(&environment, room)
            .args(["--dry-run", "--report"])
            .arg(&report)
            .arg(&wanted),
    )?;
    let wrong = |wrong: String| Error::Package {
        package: offer.package.clone(),
        wrong,
    };
    let text = fs::read(&report).map_err(Error::disk(&report))?;
    let all: Report = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("what pip says of it cannot be read: {error}")))?;
    let requested = all.install.iter().find(|wheel| wheel.requested);
    let requested = requested.ok_or_else(|| wrong("pip does not say what it is".to_owned()))?;
    let mut requirements = String::new();
    for wheel in &all.install {
        let Metadata { name, version } = &wheel.metadata;
        let hash = wheel.sha256();
        let hash = hash.ok_or_else(|| wrong(format!("pip says no hash of `{name}`")))?;
        let _ = writeln!(requirements, "{name}=={version} --hash=sha256:{hash}");
    }
    let Metadata { name, version } = &requested.metadata;
    let release = Release {
        version: version.clone(),
        source: format!("{name}=={version}"),
        digest: format!("sha256:{}", requested.sha256().map_or("", String::as_str)),
    };
    let cmd = offer.cmd.as_deref().unwrap_or(spec.name);
    let command = |room: &Path| written(&program(room, cmd)).map(|program| vec![program]);
    if install.is_installed(&release, command)? {
        return Ok(Found::Same);
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
    Ok(Found::Other(release, vec![written(&program)?]))
}

/// Python with nothing but its own modules: otherwise `-m` looks first in the folder in which the user happens to be,
/// perhaps a repository of somebody else with a `venv.py`.
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
    match cfg!(windows) {
        true => program.with_added_extension("exe"),
        false => program,
    }
}

/// The installed programs of packages.
fn programs(environment: &Path) -> String {
    let entries = fs::read_dir(environment.join(PROGRAMS))
        .into_iter()
        .flatten();
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let own = ["python", "pip", "activate", "Activate"];
    let names = names.filter(|name| !own.iter().any(|own| name.starts_with(own)));
    let mut names: Vec<_> = names.collect();
    names.sort();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}
