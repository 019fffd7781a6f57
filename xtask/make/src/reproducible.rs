//! `cargo xtask reproducible`: the extensions that come with the program have the same bytes, wherever their checkout is.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::guests;
use xtask::program::EXTENSIONS;
use xtask::progress::Progress;
use xtask::workspace::Workspace;

/// What is not a source.
const LEFT_OUT: [&str; 3] = [".git", "target", "node_modules"];

/// Builds these, or all, here, and once more from a copy of the checkout in another folder, and compares.
pub fn check(workspace: &Workspace, names: &[String]) -> Result<()> {
    let progress = &Progress::new(workspace);
    let names = match names {
        [] => &EXTENSIONS.map(str::to_owned),
        names => names,
    };
    guests::build_with(workspace, progress, names)?;
    let elsewhere = workspace.target("xtask/elsewhere/a copy of the checkout");
    copy(&workspace.path(""), &elsewhere)?;
    let elsewhere = Workspace::at(&elsewhere)?;
    guests::build_with(&elsewhere, progress, names)?;
    for name in names {
        let file = Path::new("components").join(name).with_extension("wasm");
        let (own, copy) = (workspace.target(&file), elsewhere.target(&file));
        let read = |path: &Path| {
            fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
        };
        ensure!(
            read(&own)? == read(&copy)?,
            "{} and {} are built from the same source, and differ",
            own.display(),
            copy.display()
        );
    }
    Ok(())
}

/// Copies a folder. What is the same already keeps its time, so that cargo sees that nothing changed.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        let beside = to.join(&name);
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        // Of a link, what it leads to.
        if path.is_dir() {
            copy(&path, &beside)?;
        } else {
            let content = fs::read(&path)?;
            if fs::read(&beside).ok().as_ref() != Some(&content) {
                fs::write(&beside, content)?;
            }
        }
    }
    Ok(())
}
