//! Python packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::progress::Progress;
use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Makes a virtual environment under `target/` with the packages in a `requirements.txt` of the checkout. Returns the
/// folder with its programs.
pub fn install(
    workspace: &Workspace,
    progress: &Progress,
    requirements: &Path,
    into: &Path,
) -> Result<PathBuf> {
    install_with(
        workspace,
        progress,
        Path::new("python3"),
        requirements,
        into,
    )
}

/// Like [`install`], with another Python than the system's.
pub fn install_with(
    workspace: &Workspace,
    progress: &Progress,
    python: &Path,
    requirements: &Path,
    into: &Path,
) -> Result<PathBuf> {
    let programs = into.join("bin");
    let stamp = Stamp::new(workspace, into).on_path(requirements)?;
    if !stamp.is_current() {
        let name = format!("Python packages in {}", workspace.name_in_target(into));
        progress.step(&name, |step| {
            step.run(
                Command::new(python)
                    .args(["-m", "venv", "--clear", "--without-pip"])
                    .arg(into),
            )?;
            // Python compiles what is used when it is used, in a fraction of the time that all takes.
            step.run(
                Command::new("python3")
                    .args(["-m", "pip", "--python"])
                    .arg(programs.join("python"))
                    .args(["install", "--disable-pip-version-check", "--no-compile"])
                    .arg("--requirement")
                    .arg(requirements),
            )
        })?;
        stamp.set()?;
    }
    Ok(programs)
}

/// The folder with the unpacked wheel of a package, of exactly this version.
pub fn wheel(
    workspace: &Workspace,
    progress: &Progress,
    name: &str,
    version: &str,
) -> Result<PathBuf> {
    let folder = workspace.target("xtask").join(format!("{name}-{version}"));
    let stamp = Stamp::new(workspace, &folder).on(version);
    if !stamp.is_current() {
        progress.step(&format!("{name} {version}"), |step| {
            let download = folder.with_extension("download");
            step.run(
                Command::new("python3")
                    .args(["-m", "pip", "download", "--disable-pip-version-check"])
                    .args(["--no-deps", "--only-binary", ":all:", "--dest"])
                    .arg(&download)
                    .arg(format!("{name}=={version}")),
            )?;
            for entry in fs::read_dir(&download)? {
                step.run(
                    Command::new("python3")
                        .args(["-m", "zipfile", "--extract"])
                        .arg(entry?.path())
                        .arg(&folder),
                )?;
            }
            fs::remove_dir_all(&download)?;
            Ok(())
        })?;
        stamp.set()?;
    }
    Ok(folder)
}
