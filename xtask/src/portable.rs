//! `cargo xtask portable`: checks that the host compiles for Windows and macOS.
//!
//! Rust code is only checked, dependencies included. The dependencies' C code is compiled by Zig, which has the headers
//! of all systems.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use xtask::fetch::target;
use xtask::fetch::zig::{self, Zig};
use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

/// The targets, each with Zig's name for it.
const TARGETS: [(&str, &str); 2] = [
    ("x86_64-pc-windows-gnu", "x86_64-windows-gnu"),
    ("aarch64-apple-darwin", "aarch64-macos"),
];

/// Checks the host for all targets, lints included.
pub fn check(workspace: &Workspace) -> Result<()> {
    let progress = Progress::new(workspace);
    let zig = zig::install(workspace, &progress)?;
    let folder = workspace.target("portable");
    progress.step("host for other systems", |step| {
        let mut clippy = cargo();
        clippy
            .args(["clippy", "--package", "acp-chain-cli", "--lib", "--bins"])
            .arg("--locked")
            .current_dir(workspace.path(""));
        fs::create_dir_all(&folder)?;
        let archiver = wrap(&zig, &folder, "ar", "ar")?;
        for (triple, name) in TARGETS {
            target::add(&progress, step, triple)?;
            let compiler = wrap(
                &zig,
                &folder,
                &format!("cc-{triple}"),
                &format!("cc -target {name}"),
            )?;
            let variable = triple.replace('-', "_");
            clippy
                .args(["--target", triple])
                .env(format!("CC_{variable}"), compiler)
                .env(format!("AR_{variable}"), &archiver);
        }
        clippy.args(["--", "-D", "warnings"]);
        step.run(zig.cached(&mut clippy))
    })
}

/// Writes a program that runs Zig with these arguments: build scripts expect a command without any.
fn wrap(zig: &Zig, folder: &Path, name: &str, args: &str) -> Result<PathBuf> {
    let file = folder.join(name);
    let python = zig.python.display();
    // Build scripts pass LLVM's name of the target, which Zig does not know.
    let script = format!(
        r#"#!/bin/sh
for argument do
  shift
  case $argument in --target=*) ;; *) set -- "$@" "$argument" ;; esac
done
exec '{python}' -m ziglang {args} "$@"
"#
    );
    fs::write(&file, script)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    Ok(file)
}
