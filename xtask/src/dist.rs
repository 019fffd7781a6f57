//! `cargo xtask dist`: builds the program for distribution with its extensions, and packs it with `xtask-dist`.
//! `cargo xtask release-files` is a part of that program, too.

mod cross;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::Result;
use xtask::platform::Platform;
use xtask::program::{EXTENSIONS, PROGRAM, build_to_distribute, bundle_for};
use xtask::workspace::Workspace;

use crate::make::{self, BuildScope};

#[derive(clap::Args, Default)]
pub struct Options {
    /// Pack this program unchanged, instead of a new build.
    #[arg(long, value_name = "PROGRAM")]
    pub from: Option<PathBuf>,
    /// The folder for the packages, instead of `target/dist/packages`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Pack for this target, as Rust names it, instead of for this machine; the program is never run.
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
}

/// Builds the program unless one is given, and packs it in all formats. Returns the packed program.
pub fn run(workspace: &Workspace, options: Options) -> Result<PathBuf> {
    let target = options.target.as_deref().map(Platform::of).transpose()?;
    let platform = target.map_or_else(Platform::here, Ok)?;
    let from = options.from.map(absolute).transpose()?;
    let out = options.out.map(absolute).transpose()?;
    let out = out.unwrap_or_else(|| workspace.target("dist/packages"));
    let (program, native) = match (from, target) {
        (Some(program), None) => (program.clone(), program),
        (None, None) => {
            let program = build(workspace, platform)?;
            (program.clone(), program)
        }
        (from, Some(platform)) => {
            let native = cross::native(workspace)?;
            let built = || cross::build(workspace, platform, &native);
            (from.map_or_else(built, Ok)?, native)
        }
    };
    pack(workspace, platform, &program, &native, &out)?;
    Ok(program)
}

/// Builds the program with its extensions, which are compiled for any processor of this platform: for that of the
/// builder, users with an older one would compile them, and each builder would pack other bytes.
fn build(workspace: &Workspace, platform: Platform) -> Result<PathBuf> {
    let extensions = make::components(workspace, BuildScope::Tests, &EXTENSIONS)?;
    let built = build_to_distribute(workspace)?;
    let folder = workspace.target("dist/bundled");
    fs::create_dir_all(&folder)?;
    let program = folder.join(PROGRAM);
    bundle_for(&built, &built, &platform.triple(), &extensions, &program)?;
    Ok(program)
}

/// Packs a program of this platform. `native` is one of the same version that runs here.
fn pack(
    workspace: &Workspace,
    platform: Platform,
    program: &Path,
    native: &Path,
    out: &Path,
) -> Result<()> {
    let triple = platform.triple();
    let args: [&OsStr; 8] = [
        "pack".as_ref(),
        program.as_ref(),
        "--target".as_ref(),
        triple.as_ref(),
        "--native".as_ref(),
        native.as_ref(),
        "--out".as_ref(),
        out.as_ref(),
    ];
    make::run_dist(workspace, args)
}

/// Writes what a release has beside its packages, with these options of `xtask-dist`.
pub fn release_files(workspace: &Workspace, options: &[String]) -> Result<()> {
    let args = ["release-files"].into_iter();
    let args = args.chain(options.iter().map(String::as_str));
    make::run_dist(workspace, args)
}
