//! Packages of Debian, unpacked beside the system where they can be, and else installed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::progress::Progress;
use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Unpacks packages, and makes a program of theirs that finds its libraries among them.
pub fn install(
    workspace: &Workspace,
    progress: &Progress,
    packages: &[&str],
    program: &str,
    product: &Path,
) -> Result<()> {
    let stamp = Stamp::new(workspace, product).on(packages);
    if stamp.is_current() {
        return Ok(());
    }
    let folder = workspace.target("peers/debian").join(program);
    progress.step(program, |step| {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let download = || {
            let mut download = apt_get();
            download.arg("download").args(packages);
            step.run(download.current_dir(&folder))
        };
        // It takes no rights, but lists of packages, which a new machine has not: to get them does.
        if download().is_err() {
            step.run(apt_get().arg("update"))
                .context("the lists of packages are missing, and only root gets them")?;
            download()?;
        }
        for entry in fs::read_dir(&folder)? {
            let mut unpack = Command::new("dpkg-deb");
            step.run(unpack.arg("-x").arg(entry?.path()).arg(folder.join("root")))?;
        }
        Ok(())
    })?;
    let root = folder.join("root");
    // Shells are where the system is begun from, and servers where only root looks.
    let places = ["usr/bin", "bin", "usr/sbin"].map(|folder| root.join(folder).join(program));
    let found = places.iter().find(|place| place.exists());
    let found = found.with_context(|| format!("{packages:?} have no {program}"))?;
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH=$(echo '{}'/usr/lib/*-linux-gnu) exec '{}' \"$@\"\n",
        root.display(),
        found.display()
    );
    fs::write(product, script)?;
    fs::set_permissions(product, Permissions::from_mode(0o755))?;
    stamp.set()
}

/// A program that the system has, by the name of its package. Where it is not there, it is installed, which only root
/// may.
pub fn installed(progress: &Progress, program: &str) -> Result<PathBuf> {
    if let Some(found) = in_path(program) {
        return Ok(found);
    }
    progress.step(program, |step| {
        let install = || {
            let mut install = apt_get();
            install.args(["install", "--yes", "--no-install-recommends", program]);
            step.run(&mut install)
        };
        if install().is_ok() {
            return Ok(());
        }
        step.run(apt_get().arg("update"))?;
        install()
    })
    .with_context(|| {
        format!(
            "{program} is not installed, and apt-get does not install it; with Debian: `sudo apt-get install {program}`; \
             elsewhere, install it, and have `{program}` in PATH"
        )
    })?;
    in_path(program).with_context(|| format!("{program} was installed, but is not in PATH"))
}

/// It gives up a server that stalls, which it would not for minutes.
fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    for option in ["http::Timeout=30", "https::Timeout=30", "Retries=2"] {
        command.args(["-o", &format!("Acquire::{option}")]);
    }
    command
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file())
}
