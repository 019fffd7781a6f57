//! `cargo xtask reproducible`: checks that the program's extensions, or the program, have the same bytes, wherever the
//! checkout is.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use walkdir::{DirEntry, WalkDir};

use crate::guests;
use xtask::program::{EXTENSIONS, build_to_distribute};
use xtask::workspace::Workspace;

/// The entries that are not sources.
const LEFT_OUT: [&str; 3] = [".git", "target", "node_modules"];

/// Builds these extensions, or all, here and from a copy of the checkout in another folder, and compares the bytes.
pub fn check(workspace: &Workspace, names: &[String]) -> Result<()> {
    let names = match names {
        [] => &EXTENSIONS.map(str::to_owned),
        names => names,
    };
    guests::build_with(workspace, names)?;
    let elsewhere = elsewhere(workspace)?;
    guests::build_with(&elsewhere, names)?;
    for name in names {
        let file = Path::new("components").join(name).with_extension("wasm");
        compare(&workspace.target(&file), &elsewhere.target(&file))?;
    }
    Ok(())
}

/// Builds the program without extensions here and from a copy of the checkout, with the profile `dist`, and compares
/// the bytes.
pub fn check_program(workspace: &Workspace) -> Result<()> {
    let own = build_to_distribute(workspace)?;
    let copy = build_to_distribute(&elsewhere(workspace)?)?;
    compare(&own, &copy)
}

/// A copy of the checkout in another folder.
fn elsewhere(workspace: &Workspace) -> Result<Workspace> {
    let elsewhere = workspace.target("xtask/elsewhere/a copy of the checkout");
    copy(&workspace.path(""), &elsewhere)?;
    Workspace::at(&elsewhere)
}

/// Fails unless two files have the same bytes.
fn compare(own: &Path, copy: &Path) -> Result<()> {
    let read =
        |path: &Path| fs::read(path).with_context(|| format!("{} cannot be read", path.display()));
    ensure!(
        read(own)? == read(copy)?,
        "{} and {} are built from the same source, but differ",
        own.display(),
        copy.display()
    );
    Ok(())
}

/// Copies a folder. Files that are the same keep their time, so that cargo sees no change.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let is_left_out = |entry: &DirEntry| LEFT_OUT.iter().any(|name| entry.file_name() == *name);
    let walk = WalkDir::new(from).follow_links(true).min_depth(1);
    for entry in walk.into_iter().filter_entry(|entry| !is_left_out(entry)) {
        let entry = entry?;
        let beside = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(beside)?;
        } else {
            let content = fs::read(entry.path())?;
            if fs::read(&beside).ok().as_ref() != Some(&content) {
                fs::write(&beside, content)?;
            }
        }
    }
    Ok(())
}
