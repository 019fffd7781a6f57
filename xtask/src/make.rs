//! Starts `xtask-make`, which compiles components and packs programs. It is built first, together with the rest of the
//! workspace or with the program, whichever comes next: then they share their dependencies.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use xtask::fetch::target;
use xtask::progress::Progress;
use xtask::workspace::{Workspace, cargo};

/// What else is built.
#[derive(Clone, Copy)]
pub enum Beside {
    /// The tests, with the features that the whole workspace asks for.
    Tests,
    /// The program that people use, by the profile `release`.
    Program,
}

impl Beside {
    /// The folder of what is built, within the target folder.
    pub fn profile(self) -> &'static str {
        match self {
            Self::Tests => "debug",
            Self::Program => "release",
        }
    }
}

/// Builds it, and has it carry out a command of this name with these arguments.
pub fn run<'a>(
    workspace: &Workspace,
    progress: &Progress,
    beside: Beside,
    args: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    let name = match beside {
        Beside::Tests => "what makes components",
        Beside::Program => "acp-chain, and what makes components",
    };
    progress.step(name, |step| {
        let mut build = cargo();
        build.args(["build", "--locked"]);
        match beside {
            Beside::Tests => build.args(["--workspace", "--bin", "xtask-make"]),
            Beside::Program => build.args([
                "--release",
                "--package",
                "acp-chain-cli",
                "--package",
                "xtask-make",
            ]),
        };
        step.run(build.current_dir(workspace.path("")))
    })?;
    let mut make = Command::new(workspace.target(beside.profile()).join("xtask-make"));
    make.env("ZIG_GLOBAL_CACHE_DIR", workspace.compiled("zig"))
        .env("GOCACHE", workspace.compiled("go"));
    progress.follow(make.args(args).current_dir(workspace.path("")))
}

/// Builds components of these names; all there are, if there is none. Returns the files of those that are named.
pub fn components(
    workspace: &Workspace,
    progress: &Progress,
    beside: Beside,
    names: &[&str],
) -> Result<Vec<PathBuf>> {
    add_targets(workspace, progress, names)?;
    let args = ["guests"].into_iter().chain(names.iter().copied());
    run(workspace, progress, beside, args)?;
    let folder = workspace.target("components");
    let files = names
        .iter()
        .map(|name| folder.join(name).with_extension("wasm"));
    Ok(files.collect())
}

/// Installs what the proxies in Rust are compiled for. A machine on which that fails is to say so before it has compiled for
/// minutes.
fn add_targets(workspace: &Workspace, progress: &Progress, names: &[&str]) -> Result<()> {
    let guests = workspace.guest_crates().into_iter();
    let guests = guests.filter(|guest| names.is_empty() || names.contains(&&*guest.package));
    let targets: BTreeSet<_> = guests.map(|guest| guest.target).collect();
    progress.step("targets of the proxies in Rust", |step| {
        let mut targets = targets.iter();
        targets.try_for_each(|triple| target::add(progress, step, triple))
    })
}
