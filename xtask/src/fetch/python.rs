//! Python packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Makes a virtual environment under `target/` with the packages in a `requirements.txt` of the checkout. Returns the
/// folder with its programs.
pub fn install(workspace: &Workspace, requirements: &Path, into: &Path) -> Result<PathBuf> {
    install_with(workspace, Path::new("python3"), requirements, into)
}

/// Like [`install`], with another Python than the system's.
pub fn install_with(
    workspace: &Workspace,
    python: &Path,
    requirements: &Path,
    into: &Path,
) -> Result<PathBuf> {
    let programs = into.join("bin");
    let stamp = Stamp::new(workspace, into).on_path(requirements)?;
    if !stamp.is_current() {
        let name = format!("Python packages in {}", workspace.name_in_target(into));
        workspace.step(&name, |step| {
            let mut venv = Command::new(python);
            step.run(
                venv.args(["-m", "venv", "--clear", "--without-pip"])
                    .arg(into),
            )?;
            // Python compiles what is used when it is used, in a fraction of the time that all takes.
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "--python"])
                .arg(programs.join("python"));
            pip.args(["install", "--disable-pip-version-check", "--no-compile"]);
            step.run(pip.arg("--requirement").arg(requirements))
        })?;
        stamp.set()?;
    }
    Ok(programs)
}

/// The folder with the unpacked wheel of a package, of exactly this version.
pub fn wheel(workspace: &Workspace, name: &str, version: &str) -> Result<PathBuf> {
    let folder = workspace.target("xtask").join(format!("{name}-{version}"));
    let stamp = Stamp::new(workspace, &folder).on(version);
    if !stamp.is_current() {
        workspace.step(&format!("{name} {version}"), |step| {
            let download = folder.with_extension("download");
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "download", "--disable-pip-version-check"]);
            pip.args(["--no-deps", "--only-binary", ":all:", "--dest"]);
            step.run(pip.arg(&download).arg(format!("{name}=={version}")))?;
            for entry in fs::read_dir(&download)? {
                let mut unpack = Command::new("python3");
                unpack.args(["-m", "zipfile", "--extract"]);
                step.run(unpack.arg(entry?.path()).arg(&folder))?;
            }
            fs::remove_dir_all(&download)?;
            Ok(())
        })?;
        stamp.set()?;
    }
    Ok(folder)
}
