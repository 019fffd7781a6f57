//! The program for another machine: built with Debian's compiler for that, and never run. What has to run, to compile
//! the extensions and to print the texts, is a program of the same checkout for this machine: the native one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xtask::fetch::{debian, target};
use xtask::platform::Platform;
use xtask::program::{EXTENSIONS, PROGRAM, bundle_for};
use xtask::workspace::Workspace;

use crate::make::{self, BuildScope};

/// Builds the program for this machine, which compiles for others.
pub fn native(workspace: &Workspace) -> Result<PathBuf> {
    let words = "build --locked --release --package acp-chain-cli --features cross";
    let name = "acp-chain, which compiles for other machines";
    workspace.run(name, &mut workspace.cargo(words))?;
    // The next build for this machine alone replaces it.
    let kept = workspace.target("dist/native");
    fs::create_dir_all(&kept)?;
    let native = kept.join(PROGRAM);
    fs::copy(workspace.target("release").join(PROGRAM), &native)?;
    Ok(native)
}

/// Builds the program for a platform, with its extensions.
pub fn build(workspace: &Workspace, platform: Platform, native: &Path) -> Result<PathBuf> {
    let (triple, gnu) = (platform.triple(), platform.gnu());
    let (of_gnu, of_debian) = (gnu.replace('_', "-"), platform.debian);
    let packages = format!("gcc-{of_gnu} libc6-dev-{of_debian}-cross");
    let compiler = debian::installed(workspace, &format!("{gnu}-gcc"), &packages)?;
    let extensions = make::components(workspace, BuildScope::Tests, &EXTENSIONS)?;
    let name = format!("acp-chain for {triple}, with the profile dist");
    workspace.step(&name, |step| {
        target::add(workspace, step, &triple)?;
        let words = "build --locked --profile dist --package acp-chain-cli";
        let mut build = workspace.cargo(words);
        step.run(target::compile_for(&mut build, &triple, &compiler))
    })?;
    let folder = workspace.target("dist/bundled").join(&triple);
    fs::create_dir_all(&folder)?;
    let bundled = folder.join(PROGRAM);
    let built = workspace.target(&triple).join("dist").join(PROGRAM);
    bundle_for(native, &built, &triple, &extensions, &bundled)?;
    Ok(bundled)
}
