//! Agents that are npm packages. `npm` resolves the version, and the integrity of it and all its dependencies, before
//! anything is fetched; then it installs just that, without running scripts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::{Found, Install, Release, spec, written};
use crate::archive::inside;
use crate::error::Error;
use crate::registry::Package;
use crate::{system, tool};

const NODE: &str = "install Node from https://nodejs.org";

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Locked>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Locked {
    version: Option<String>,
    integrity: Option<String>,
}

#[derive(Deserialize)]
struct Manifest {
    bin: Option<Bin>,
}

/// The programs of a package: a single one with its name, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bin {
    One(String),
    Several(BTreeMap<String, String>),
}

/// Fetches a package, if it differs from the installed one.
pub fn get(install: &Install, offer: &Package, room: &Path) -> Result<Found, Error> {
    let spec = spec::npm(&offer.package).ok_or_else(|| {
        install.wrong(format!(
            "has the package `{}`, which npm cannot have",
            offer.package
        ))
    })?;
    let node = tool::find("node", NODE)?;
    let package = room.join("package.json");
    fs::write(&package, "{\"private\":true}\n").map_err(Error::disk(&package))?;
    tool::run(
        npm(room)?
            .args(["--package-lock-only", "--save-exact"])
            .arg(&offer.package),
    )?;
    let wrong = |wrong: String| Error::Package {
        package: offer.package.clone(),
        wrong,
    };
    let lock = read(room, &wrong)?;
    let locked = lock.packages.get(&format!("node_modules/{}", spec.name));
    let Some(Locked {
        version: Some(version),
        integrity: Some(integrity),
    }) = locked
    else {
        return Err(wrong(
            "npm says no version and no integrity of it".to_owned(),
        ));
    };
    let release = Release {
        version: version.clone(),
        source: format!("{}@{version}", spec.name),
        digest: integrity.clone(),
    };
    if install.is_installed(&release)? {
        return Ok(Found::Same);
    }
    // Not `npm ci`: it refuses locks that leave out optional packages, and some name builds for platforms that were
    // never published. The packages are checked against the lock anyway.
    tool::run(npm(room)?.args(["--omit", "dev"]))?;
    let after = read(room, &wrong)?.packages;
    let mut before = lock.packages.iter().filter(|(name, _)| !name.is_empty());
    if let Some((name, _)) = before.find(|(name, one)| after.get(*name) != Some(one)) {
        return Err(wrong(format!(
            "what npm installed as `{name}` is not what was locked"
        )));
    }
    let command = command(room, spec.name, offer.cmd.as_deref(), &node, &wrong)?;
    Ok(Found::Other(release, command))
}

/// `npm install` in a folder.
fn npm(room: &Path) -> Result<Command, Error> {
    let mut npm = Command::new(tool::find("npm", NODE)?);
    npm.current_dir(room)
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--no-update-notifier", "--package-lock", "--loglevel=error"]);
    Ok(npm)
}

fn read(room: &Path, wrong: &impl Fn(String) -> Error) -> Result<Lock, Error> {
    let path = room.join("package-lock.json");
    let text = fs::read(&path).map_err(Error::disk(&path))?;
    let lock = serde_json::from_slice(&text);
    lock.map_err(|error| wrong(format!("the lock that npm wrote cannot be read: {error}")))
}

/// The command of the package's program: the named one, the only one, or the one with the package's name.
fn command(
    room: &Path,
    name: &str,
    cmd: Option<&str>,
    node: &Path,
    wrong: &impl Fn(String) -> Error,
) -> Result<Vec<String>, Error> {
    let folder = room.join("node_modules").join(name);
    let path = folder.join("package.json");
    let text = fs::read(&path).map_err(Error::disk(&path))?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("its package.json cannot be read: {error}")))?;
    let short = name.rsplit('/').next().unwrap_or(name);
    let programs = match manifest.bin {
        None => BTreeMap::new(),
        Some(Bin::One(file)) => BTreeMap::from([(short.to_owned(), file)]),
        Some(Bin::Several(programs)) => programs,
    };
    let only = (programs.len() == 1)
        .then(|| programs.values().next())
        .flatten();
    let file = match cmd {
        Some(cmd) => programs.get(cmd),
        None => programs.get(short).or(only),
    };
    let file = file.ok_or_else(|| {
        let names: Vec<_> = programs.keys().map(String::as_str).collect();
        let there = match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        };
        wrong(format!(
            "it has no program `{}`: it has {there}",
            cmd.unwrap_or(short)
        ))
    })?;
    let program = inside(Path::new(file)).map(|file| folder.join(file));
    let program = program.filter(|program| program.is_file());
    let program = program.ok_or_else(|| wrong(format!("its program `{file}` is not in it")))?;
    match is_script_of_node(&program) {
        true => Ok(vec![written(node)?, written(&program)?]),
        false => {
            system::make_executable(&program).map_err(Error::disk(&program))?;
            Ok(vec![written(&program)?])
        }
    }
}

/// Whether a file is run by Node, and not by the system itself.
fn is_script_of_node(program: &PathBuf) -> bool {
    let is_named_so = program
        .extension()
        .is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|one| ending == *one));
    let first = || {
        let mut line = String::new();
        let file = File::open(program)?.take(256);
        BufReader::new(file).read_line(&mut line).map(|_| line)
    };
    is_named_so || first().is_ok_and(|line| line.starts_with("#!") && line.contains("node"))
}
