//! The projects in `examples`: each is built as a reader would, from a copy with our SDK.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use acp_chain_author::{Purpose, Toolchains};
use acp_chain_package::Project;
use anyhow::{Context, Result};
use walkdir::WalkDir;

use xtask::fetch::{npm, python, zig};
use xtask::stamp::Stamp;
use xtask::workspace::Workspace;

/// The entries that a build or `acp-chain sdk` leaves in a project.
const MADE: &str = ".zig-cache Cargo.lock build deps node_modules sdk target";

/// The parts of the checkout that all projects contain.
const OURS: &str = "\
    host/author/sdk host/author/src guests/acp-chain-proxy guests/bindings host/acp/src host/powers/src wit";

/// All projects, with their folders. Each project has a chain for trying it.
pub fn all(workspace: &Workspace) -> Vec<(String, PathBuf)> {
    let folders = fs::read_dir(workspace.path("examples"))
        .into_iter()
        .flatten();
    let folders = folders.flatten().map(|entry| entry.path());
    let folders = folders.filter(|folder| folder.join("chain.toml").exists());
    let named =
        folders.filter_map(|folder| Some((Project::read(&folder).ok()?.package.name, folder)));
    named.collect()
}

/// Builds these projects, each into its component, with toolchains of the versions that the checkout pins.
pub fn build(workspace: &Workspace, projects: &[(&PathBuf, PathBuf)]) -> Result<()> {
    if projects.is_empty() {
        return Ok(());
    }
    let path = toolchains(workspace)?;
    let packages = workspace.target("toolchains/javascript-packages");
    npm::install(workspace, &workspace.path("tests/javascript"), &packages)?;
    for (folder, component) in projects {
        let mut stamp = Stamp::new(workspace, component);
        for ours in OURS.split(' ') {
            stamp = stamp.on_path(&workspace.path(ours))?;
        }
        let sources = sources(folder)?;
        for source in &sources {
            stamp = stamp.on_path(&folder.join(source))?;
        }
        if stamp.is_current() {
            continue;
        }
        let name = folder.file_name().unwrap_or_default();
        let copy = workspace.target("xtask/examples").join(name);
        workspace.step(&format!("the example {}", name.display()), |_| {
            for source in sources {
                let to = copy.join(&source);
                fs::create_dir_all(to.with_file_name(""))?;
                fs::copy(folder.join(source), to)?;
            }
            // The checkout's crates and packages are new enough.
            fs::copy(workspace.path("Cargo.lock"), copy.join("Cargo.lock"))?;
            let modules = copy.join("node_modules");
            if !modules.exists() {
                symlink(packages.join("node_modules"), modules)?;
            }
            acp_chain_author::sdk(&copy)?;
            let built = acp_chain_author::build(
                &copy,
                &Toolchains {
                    path: path.clone(),
                    folder: None,
                    install: false,
                    told: &|_| (),
                },
                Purpose::Use,
            )?;
            fs::write(component, built.component).with_context(|| component.display().to_string())
        })?;
        stamp.set()?;
    }
    Ok(())
}

/// Installs the toolchains of authors; returns `PATH` with the folders of their programs in front.
pub fn toolchains(workspace: &Workspace) -> Result<OsString> {
    let go = workspace.path("tests/toolchains/requirements-go.txt");
    let mut all = vec![
        super::javascript::toolchain(workspace)?,
        super::python::toolchain(workspace)?,
        python::install(workspace, &go, &workspace.target("toolchains/go"))?,
        npm::install(
            workspace,
            &workspace.path("tests/toolchains/assemblyscript"),
            &workspace.target("toolchains/assemblyscript"),
        )?,
    ];
    zig::install(workspace)?;
    all.push(workspace.target("toolchains/c/bin"));
    all.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    Ok(env::join_paths(all)?)
}

/// The handwritten files of a folder, by their paths in it.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let walk = WalkDir::new(folder).min_depth(1).into_iter();
    for entry in walk.filter_entry(|entry| !MADE.split(' ').any(|made| entry.file_name() == made)) {
        let entry = entry?;
        if !entry.file_type().is_dir() {
            all.push(entry.path().strip_prefix(folder)?.to_owned());
        }
    }
    all.sort();
    Ok(all)
}
