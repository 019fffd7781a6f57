//! Agents that are npm packages. `npm` resolves the version, and the integrity of it and all its dependencies, before
//! anything is fetched; then it installs just that, without running scripts. A package without an integrity is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use super::{Install, Release, UnpackedAgent, launch, spec};
use crate::archive::inside;
use crate::error::Error;
use crate::name::list;
use crate::registry::Package;
use crate::tool::{self, NODE};

/// Scripts that build parts of a package. They are not run.
const INSTALLERS: [&str; 3] = ["preinstall", "install", "postinstall"];

const OWN_WAY: &str = "install it as its publisher describes, and give its command a name: `acp-chain agent add NAME -- COMMAND`";

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, LockEntry>,
}

#[derive(Debug, Deserialize)]
struct LockEntry {
    version: Option<String>,
    integrity: Option<String>,
    /// Whether it is a link to another one.
    #[serde(default)]
    link: bool,
    /// Whether it is in the archive of another one, whose integrity covers it.
    #[serde(default, rename = "inBundle")]
    is_bundled: bool,
    /// Whether it has scripts that build parts of it.
    #[serde(default, rename = "hasInstallScript")]
    has_installers: bool,
}

impl Lock {
    /// A package whose content is not pinned, such as one from a repository.
    fn loose(&self) -> Option<&str> {
        let mut packages = self.packages.iter().filter(|(name, _)| !name.is_empty());
        let loose =
            packages.find(|(_, one)| one.integrity.is_none() && !one.link && !one.is_bundled);
        loose.map(|(name, _)| &**name)
    }

    /// A note about the scripts of installed packages, if there are any.
    fn note(&self, room: &Path) -> Option<String> {
        let packages = self.packages.iter();
        let incomplete =
            packages.filter(|(name, one)| one.has_installers && room.join(name).is_dir());
        let names = incomplete.map(|(name, _)| name.rsplit("node_modules/").next().unwrap_or(name));
        let mut names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
        names.dedup();
        (!names.is_empty()).then(|| {
            format!(
                "scripts that run when a package is installed were not run: those of {}. If the agent lacks something, \
                 {OWN_WAY}",
                names.join(", ")
            )
        })
    }
}

#[derive(Deserialize)]
struct Manifest {
    bin: Option<Bin>,
    #[serde(default)]
    scripts: BTreeMap<String, Value>,
}

impl Manifest {
    /// The end of an error about a program: the script that may build it.
    fn builder(&self) -> String {
        let mut scripts = INSTALLERS.iter().filter_map(|name| {
            let script = self.scripts.get(*name)?.as_str()?;
            Some(format!(
                ". It may be built by the package's script `{name}` (`{script}`), which acp-chain does not run: {OWN_WAY}"
            ))
        });
        scripts.next_back().unwrap_or_default()
    }
}

/// The programs of a package: a single one with its name, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bin {
    One(String),
    Several(BTreeMap<String, String>),
}

/// Fetches a package; `None` if it is the installed one.
pub fn get(
    install: &Install,
    offer: &Package,
    room: &Path,
) -> Result<Option<UnpackedAgent>, Error> {
    let spec = spec::npm(&offer.package).ok_or_else(|| {
        install.wrong(format!(
            "has the package `{}`, which is not a valid npm package",
            offer.package
        ))
    })?;
    tool::find("node", NODE)?;
    let package = room.join("package.json");
    fs::write(&package, "{\"private\":true}\n").map_err(Error::disk(&package))?;
    tool::run(
        npm(room)?
            .args(["--package-lock-only", "--save-exact"])
            .arg(&offer.package),
    )?;
    let wrong = Error::unfit(offer.package.clone());
    let lock = read(room, &wrong)?;
    let locked = lock.packages.get(&format!("node_modules/{}", spec.name));
    let Some(LockEntry {
        version: Some(version),
        integrity: Some(integrity),
        ..
    }) = locked
    else {
        return Err(wrong(
            "npm reports no version or no integrity of it".to_owned(),
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
    let command = |room: &Path| command(room, spec.name, offer.cmd.as_deref(), &wrong);
    if install.is_installed(&release, command)? {
        return Ok(None);
    }
    // Not `npm ci`: it refuses locks that leave out optional packages, and some name builds for platforms that were
    // never published. The packages are checked against the lock anyway.
    tool::run(npm(room)?.args(["--omit", "dev"]))?;
    let after = read(room, &wrong)?;
    let mut before = lock.packages.iter().filter(|(name, _)| !name.is_empty());
    let is_other = |name: &str, locked: &LockEntry| {
        let now = after.packages.get(name);
        now.is_none_or(|now| now.version != locked.version || now.integrity != locked.integrity)
    };
    if let Some((name, _)) = before.find(|(name, locked)| is_other(name, locked)) {
        return Err(wrong(format!(
            "npm installed another `{name}` than it had locked"
        )));
    }
    Ok(Some(UnpackedAgent {
        release,
        command: command(room)?,
        notes: after.note(room).into_iter().collect(),
    }))
}

/// `npm install` in a folder.
fn npm(room: &Path) -> Result<Command, Error> {
    let mut npm = Command::new(tool::find("npm", NODE)?);
    npm.current_dir(room)
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--no-update-notifier", "--package-lock", "--loglevel=error"])
        // To pack a dependency from Git, npm installs the dependencies of that, and runs their scripts. Versions
        // without this option ignore it.
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
    wrong: &impl Fn(String) -> Error,
) -> Result<Vec<String>, Error> {
    let folder = room.join("node_modules").join(name);
    let path = folder.join("package.json");
    let text = fs::read(&path).map_err(Error::disk(&path))?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("its package.json cannot be read: {error}")))?;
    let short = name.rsplit('/').next().unwrap_or(name);
    let programs = match &manifest.bin {
        None => BTreeMap::new(),
        Some(Bin::One(file)) => BTreeMap::from([(short.to_owned(), file.clone())]),
        Some(Bin::Several(programs)) => programs.clone(),
    };
    let only = programs.values().next().filter(|_| programs.len() == 1);
    let file = cmd.map_or_else(|| programs.get(short).or(only), |cmd| programs.get(cmd));
    let file = file.ok_or_else(|| {
        let names: Vec<_> = programs.keys().map(String::as_str).collect();
        let there = list(&names, "none");
        wrong(format!(
            "it has no program `{}`: it has {there}",
            cmd.unwrap_or(short)
        ))
    })?;
    let program = inside(Path::new(file)).map(|file| folder.join(file));
    let program = program.filter(|program| program.is_file());
    let unfit = |how: &str| wrong(format!("its program `{file}` {how}{}", manifest.builder()));
    let program = program.ok_or_else(|| unfit("is not in it"))?;
    launch::command(&program, room, &unfit)
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
