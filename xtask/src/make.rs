//! Builds and starts the programs with more dependencies than this one: `xtask-make`, which compiles components, and
//! `xtask-dist`, which packs programs. Each is built together with the workspace or the program, whichever is needed
//! next, so that they share their dependencies.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use xtask::fetch::target;
use xtask::workspace::Workspace;

/// What `xtask-make` is built together with.
#[derive(Clone, Copy)]
pub enum BuildScope {
    /// The tests, with the features of the whole workspace.
    Tests,
    /// The program for users, with the profile `release`.
    Program,
}

impl BuildScope {
    /// The folder of the build within the target folder.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Tests => "debug",
            Self::Program => "release",
        }
    }
}

/// Builds `xtask-make`, and runs it with these arguments.
pub fn run<'a>(
    workspace: &Workspace,
    scope: BuildScope,
    args: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    match scope {
        BuildScope::Tests => build_with_tests(workspace, "xtask-make")?,
        BuildScope::Program => {
            let mut build = workspace.cargo("build --locked --release");
            workspace.run("acp-chain and xtask-make", &mut build)?;
        }
    }
    let mut make = Command::new(workspace.target(scope.profile()).join("xtask-make"));
    make.env("ZIG_GLOBAL_CACHE_DIR", workspace.compiled("zig"))
        .env("GOCACHE", workspace.compiled("go"));
    make.args(args).current_dir(workspace.path(""));
    workspace.progress.follow(&mut make)
}

/// Builds `xtask-dist`, and runs it with these arguments. Its scope is always that of the tests, which start it, too:
/// built together with the program, it could change the features of what both use.
pub fn run_dist<A: AsRef<OsStr>>(
    workspace: &Workspace,
    args: impl IntoIterator<Item = A>,
) -> Result<()> {
    build_with_tests(workspace, "xtask-dist")?;
    let folder = workspace.target(BuildScope::Tests.profile());
    let mut dist = Command::new(folder.join("xtask-dist"));
    dist.args(args).current_dir(workspace.path(""));
    workspace.progress.follow(&mut dist)
}

/// Builds a program with the features of the whole workspace, so that the tests' build has it already.
fn build_with_tests(workspace: &Workspace, name: &str) -> Result<()> {
    let mut build = workspace.cargo("build --locked --workspace --bin");
    workspace.run(name, build.arg(name))
}

/// Builds the components with these names, or all if there are none. Returns the files of the named ones.
pub fn components(
    workspace: &Workspace,
    scope: BuildScope,
    names: &[&str],
) -> Result<Vec<PathBuf>> {
    add_targets(workspace, names)?;
    let args = ["guests"].into_iter().chain(names.iter().copied());
    run(workspace, scope, args)?;
    let folder = workspace.target("components");
    let files = names
        .iter()
        .map(|name| folder.join(name).with_extension("wasm"));
    Ok(files.collect())
}

/// Installs the targets of the proxies in Rust. This comes first, so that a failure is reported before minutes of
/// compiling.
fn add_targets(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let guests = workspace.guest_crates().into_iter();
    let guests = guests.filter(|guest| names.is_empty() || names.contains(&&*guest.package));
    let targets: BTreeSet<_> = guests.map(|guest| guest.target).collect();
    workspace.step("targets of the proxies in Rust", |step| {
        let mut targets = targets.iter();
        targets.try_for_each(|triple| target::add(workspace, step, triple))
    })
}
