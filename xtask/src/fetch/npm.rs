//! npm packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Installs the packages in the lock file of a folder of the checkout under `target/`. Returns the folder with the
/// programs.
pub fn install(workspace: &Workspace, locked_in: &Path, into: &Path) -> Result<PathBuf> {
    let modules = into.join("node_modules");
    let (package, lock) = ("package.json", "package-lock.json");
    let stamp = Stamp::new(workspace, &modules)
        .on_path(&locked_in.join(package))?
        .on_path(&locked_in.join(lock))?;
    if !stamp.is_current() {
        // Not `npm ci`: it rejects a lock file without optional packages, and some packages name builds for platforms
        // that were never published.
        fs::create_dir_all(into)?;
        fs::copy(locked_in.join(package), into.join(package))?;
        fs::copy(locked_in.join(lock), into.join(lock))?;
        let name = format!("npm packages in {}", workspace.name_in_target(into));
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund"]);
        // Give up on a stalled registry before the default of five minutes per try.
        npm.args(["--fetch-timeout=60000", "--fetch-retries=2"]);
        workspace.run(&name, npm.current_dir(into))?;
        stamp.set()?;
    }
    Ok(modules.join(".bin"))
}
