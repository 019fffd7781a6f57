//! Agents that are npm packages. `npm` resolves the version, and the integrity of it and all its dependencies, before
//! anything is fetched; then it installs just that, without running scripts. A package without an integrity is refused.

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

#[derive(Debug, Deserialize)]
struct Locked {
    version: Option<String>,
    integrity: Option<String>,
    /// Whether it is a link to another one.
    #[serde(default)]
    link: bool,
    /// Whether it comes in the archive of another one, whose integrity covers it.
    #[serde(default, rename = "inBundle")]
    is_bundled: bool,
}

impl Lock {
    /// A package that may be anything by the time it is fetched, such as one from a repository.
    fn loose(&self) -> Option<&str> {
        let mut packages = self.packages.iter().filter(|(name, _)| !name.is_empty());
        let loose =
            packages.find(|(_, one)| one.integrity.is_none() && !one.link && !one.is_bundled);
        loose.map(|(name, _)| &**name)
    }
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
        ..
    }) = locked
    else {
        return Err(wrong(
            "npm says no version and no integrity of it".to_owned(),
        ));
    };
    if let Some(name) = lock.loose() {
        return Err(wrong(format!(
            "its dependency `{name}` has no integrity: it is not from a registry of packages"
        )));
    }
    let release = Release {
        version: version.clone(),
        source: format!("{}@{version}", spec.name),
        digest: integrity.clone(),
    };
    let command = |room: &Path| command(room, spec.name, offer.cmd.as_deref(), &node, &wrong);
    if install.is_installed(&release, command)? {
        return Ok(Found::Same);
    }
    // Not `npm ci`: it refuses locks that leave out optional packages, and some name builds for platforms that were
    // never published. The packages are checked against the lock anyway.
    tool::run(npm(room)?.args(["--omit", "dev"]))?;
    let after = read(room, &wrong)?.packages;
    let mut before = lock.packages.iter().filter(|(name, _)| !name.is_empty());
    let is_other = |name: &str, locked: &Locked| {
        let now = after.get(name);
        now.is_none_or(|now| now.version != locked.version || now.integrity != locked.integrity)
    };
    if let Some((name, _)) = before.find(|(name, locked)| is_other(name, locked)) {
        return Err(wrong(format!(
            "what npm installed as `{name}` is not what was locked"
        )));
    }
    Ok(Found::Other(release, command(room)?))
}

/// `npm install` in a folder.
fn npm(room: &Path) -> Result<Command, Error> {
    let mut npm = Command::new(tool::find("npm", NODE)?);
    npm.current_dir(room)
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--no-update-notifier", "--package-lock", "--loglevel=error"])
        // To pack one from Git, npm installs what that needs, with scripts. Versions without this option ignore it.
        .arg("--allow-git=none");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_an_integrity_is_found() {
        let loose = |packages: &str| {
            let lock: Lock = serde_json::from_str(&format!("{{\"packages\":{packages}}}")).unwrap();
            lock.loose().map(str::to_owned)
        };
        let whole = r#"
            "": { "dependencies": { "a": "1.0.0" } },
            "node_modules/a": { "version": "1.0.0", "integrity": "sha512-x" },
            "node_modules/a/node_modules/b": { "version": "1.0.0", "inBundle": true },
            "node_modules/c": { "resolved": "node_modules/a", "link": true }"#;
        assert_eq!(loose(&format!("{{{whole}}}")), None);
        let git =
            r#""node_modules/d": { "version": "1.0.0", "resolved": "git+ssh://git@host/d.git#0" }"#;
        let found = loose(&format!("{{{whole},{git}}}"));
        assert_eq!(found.as_deref(), Some("node_modules/d"));
    }
}
