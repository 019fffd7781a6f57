//! The program for another machine: built with Debian's compiler for that, and never run. What has to run, to compile
//! the extensions and to print the texts, is a program of the same checkout for this machine: the native one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xtask::fetch::{debian, target};
use xtask::platform::Platform;
use xtask::program::{EXTENSIONS, PROGRAM, bundle_for};
use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

use crate::make::{self, BuildScope};

/// Builds the program for this machine, which compiles for others.
pub fn native(workspace: &Workspace, progress: &Progress) -> Result<PathBuf> {
    progress.step("acp-chain, which compiles for other machines", |step| {
        let mut build = cargo();
        build.args([
            "build",
            "--locked",
            "--release",
            "--package",
            "acp-chain-cli",
        ]);
        build.args(["--features", "cross"]);
        step.run(build.current_dir(workspace.path("")))
    })?;
    // The next build for this machine alone replaces it.
    let kept = workspace.target("dist/native");
    fs::create_dir_all(&kept)?;
    let native = kept.join(PROGRAM);
    fs::copy(workspace.target("release").join(PROGRAM), &native)?;
    Ok(native)
}

/// Builds the program for a platform, with its extensions.
pub fn build(
    workspace: &Workspace,
    progress: &Progress,
    platform: Platform,
    native: &Path,
) -> Result<PathBuf> {
    let (triple, gnu) = (platform.triple(), platform.gnu());
    let compiler = debian::installed_from(
        progress,
        &format!("{gnu}-gcc"),
        &[
            &format!("gcc-{}", gnu.replace('_', "-")),
            &format!("libc6-dev-{}-cross", platform.debian),
        ],
    )?;
    let extensions = make::components(workspace, progress, BuildScope::Tests, &EXTENSIONS)?;
    progress.step(
        &format!("acp-chain for {triple}, with the profile dist"),
        |step| {
            target::add(progress, step, &triple)?;
            let mut build = cargo();
            build.args([
                "build",
                "--locked",
                "--profile",
                "dist",
                "--package",
                "acp-chain-cli",
                "--target",
                &triple,
            ]);
            let variable = triple.replace('-', "_");
            build
                .env(
                    format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()),
                    &compiler,
                )
                .env(format!("CC_{variable}"), &compiler);
            step.run(build.current_dir(workspace.path("")))
        },
    )?;
    let folder = workspace.target("dist/bundled").join(&triple);
    fs::create_dir_all(&folder)?;
    let bundled = folder.join(PROGRAM);
    let built = workspace.target(&triple).join("dist").join(PROGRAM);
    bundle_for(native, &built, &triple, &extensions, &bundled)?;
    Ok(bundled)
}
