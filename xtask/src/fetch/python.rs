//! Python packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::progress::Progress;
use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Makes a virtual environment under `target/` with what a `requirements.txt` of the checkout
/// names. Returns the folder with its programs.
pub fn install(
    workspace: &Workspace,
    progress: &Progress,
    requirements: &Path,
    into: &Path,
) -> Result<PathBuf> {
    let programs = into.join("bin");
    let stamp = Stamp::new(workspace, into).on_path(requirements)?;
    if !stamp.is_current() {
        let name = format!("Python packages in {}", workspace.name_in_target(into));
        progress.step(&name, |step| {
            step.run(
                Command::new("python3")
                    .args(["-m", "venv", "--clear"])
                    .arg(into),
            )?;
            step.run(
                Command::new(programs.join("python"))
                    .args(["-m", "pip", "install", "--disable-pip-version-check"])
                    .arg("--requirement")
                    .arg(requirements),
            )
        })?;
        stamp.set()?;
    }
    Ok(programs)
}
