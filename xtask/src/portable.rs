//! `cargo xtask portable`: checks that the host compiles for Windows and macOS.
//!
//! For macOS, only the crates with code for one kind of Unix are checked: what compiles on Linux and has no such code
//! compiles there, and a test (`checkout`, `layout`) keeps such code in these crates.
//!
//! Rust code is only checked, dependencies included. The dependencies' C code is compiled by Zig, which has the headers
//! of all systems.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use xtask::fetch::target;
use xtask::fetch::zig::{self, Zig};
use xtask::workspace::Workspace;

/// The package of the program.
const PROGRAM: &str = "acp-chain-cli";

/// A system, and what is checked for it with each change.
struct Target {
    triple: &'static str,
    /// Zig's name for it.
    zig: &'static str,
    packages: &'static [&'static str],
}

const TARGETS: [Target; 2] = [
    Target {
        triple: "x86_64-pc-windows-gnu",
        zig: "x86_64-windows-gnu",
        packages: &[PROGRAM],
    },
    Target {
        triple: "aarch64-apple-darwin",
        zig: "aarch64-macos",
        packages: &["acp-chain-system", "acp-chain-live"],
    },
];

/// Checks what each change is checked for, lints included.
pub fn check(workspace: &Workspace) -> Result<()> {
    check_packages(workspace, |target| target.packages)
}

/// Checks the program for all targets, lints included.
pub fn check_program(workspace: &Workspace) -> Result<()> {
    check_packages(workspace, |_| &[PROGRAM])
}

fn check_packages(
    workspace: &Workspace,
    packages: impl Fn(&Target) -> &'static [&'static str],
) -> Result<()> {
    let zig = zig::install(workspace)?;
    let folder = workspace.target("portable");
    fs::create_dir_all(&folder)?;
    let archiver = wrap(&zig, &folder, "ar", "ar")?;
    for target in &TARGETS {
        let Target {
            triple, zig: name, ..
        } = target;
        workspace.step(&format!("host for {triple}"), |step| {
            target::add(workspace, step, triple)?;
            let script = format!("cc-{triple}");
            let compiler = wrap(&zig, &folder, &script, &format!("cc -target {name}"))?;
            let variable = triple.replace('-', "_");
            let words = format!("clippy --lib --bins --locked --target {triple}");
            let mut clippy = workspace.cargo(&words);
            for package in packages(target) {
                clippy.args(["--package", package]);
            }
            clippy
                .args(["--", "-D", "warnings"])
                .env(format!("CC_{variable}"), compiler)
                .env(format!("AR_{variable}"), &archiver);
            step.run(zig.cached(&mut clippy))
        })?;
    }
    Ok(())
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
