//! Debian packages, unpacked outside the system where possible, and otherwise installed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::stamp::Stamp;
use crate::workspace::Workspace;

/// Unpacks packages, and makes a script that runs a program of theirs with their libraries. Spaces separate the names
/// of packages.
pub fn install(workspace: &Workspace, packages: &str, program: &str, product: &Path) -> Result<()> {
    let stamp = Stamp::new(workspace, product).on(packages);
    if stamp.is_current() {
        return Ok(());
    }
    let folder = workspace.target("peers/debian").join(program);
    workspace.step(program, |step| {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let download = || {
            let mut download = apt_get();
            download.arg("download").args(packages.split(' '));
            step.run(download.current_dir(&folder))
        };
        // This needs no rights, but the package lists. A new machine lacks them, and fetching them needs root.
        if download().is_err() {
            step.run(apt_get().arg("update"))
                .context("the package lists are missing, and only root can fetch them")?;
            download()?;
        }
        for entry in fs::read_dir(&folder)? {
            let mut unpack = Command::new("dpkg-deb");
            step.run(unpack.arg("-x").arg(entry?.path()).arg(folder.join("root")))?;
        }
        Ok(())
    })?;
    let root = folder.join("root");
    // Shells may be in `bin`, and servers in `usr/sbin`; those of PostgreSQL find its other files from where they are.
    let folders = ["usr/bin", "bin", "usr/sbin", "usr/lib/postgresql/15/bin"];
    let places = folders.map(|folder| root.join(folder).join(program));
    let found = places.iter().find(|place| place.exists());
    let found = found.with_context(|| format!("{packages} have no {program}"))?;
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH=$(echo '{0}'/usr/lib/*-linux-gnu):$(echo '{0}'/lib/*-linux-gnu) exec '{1}' \"$@\"\n",
        root.display(),
        found.display()
    );
    fs::write(product, script)?;
    fs::set_permissions(product, Permissions::from_mode(0o755))?;
    stamp.set()
}

/// A program of the system. If it is missing, these packages are installed, which needs root. Spaces separate the names
/// of packages.
pub fn installed(workspace: &Workspace, program: &str, packages: &str) -> Result<PathBuf> {
    if let Some(found) = in_path(program) {
        return Ok(found);
    }
    workspace.step(program, |step| {
        let install = || {
            let mut install = apt_get();
            install.args(["install", "--yes", "--no-install-recommends"]);
            step.run(install.args(packages.split(' ')))
        };
        if install().is_ok() {
            return Ok(());
        }
        step.run(apt_get().arg("update"))?;
        install()
    })
    .with_context(|| {
        format!(
            "{program} is not installed, and apt-get cannot install it; on Debian: `sudo apt-get install {packages}`; \
             elsewhere, install it so that `{program}` is in PATH"
        )
    })?;
    in_path(program).with_context(|| format!("{program} was installed, but is not in PATH"))
}

/// With these options, it gives up on a stalled server before minutes have passed.
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
