//! A folder that is named instead of an extension, and an extension that is not built yet: the next step is the file that
//! is meant, or the command that makes it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use acp_chain_app::shell::{self, word};
use acp_chain_author::output;
use acp_chain_package::Project;
use acp_chain_project::MANIFEST;
use acp_chain_rpc::untrusted::Untrusted;

/// How many files of a folder are named.
const MOST: usize = 5;

/// An error about a folder, with the extension in it, or about the extension of a project that is not built yet.
pub fn check_file(path: &Path) -> Result<()> {
    let shown = Untrusted::new(path.display());
    if path.is_dir() {
        return Err(wrong!(
            "{shown}: it is a folder, and an extension is one file; {}",
            instead(path)
        ));
    }
    match unbuilt(path) {
        Some(folder) => Err(wrong!(
            "{shown} is not there yet: `acp-chain build {}` makes it",
            word(&folder)
        )),
        None => Ok(()),
    }
}

/// What an unknown name of an extension may mean instead, a file or a folder that is here: a sentence, with the period
/// before it.
pub fn meant(name: &str) -> String {
    let here = Path::new(".").join(name);
    if here.is_dir() {
        return format!(
            ". {} is a folder, and an extension is one file; {}",
            word(&here),
            instead(&here)
        );
    }
    if here.is_file() {
        return format!(". The file of that name is {}", word(&here));
    }
    String::new()
}

/// The folder of the project whose extension a missing file would be.
fn unbuilt(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let folder = path.parent()?.parent()?;
    let is_its = !path.exists() && output(&Project::read(folder).ok()?) == path;
    is_its.then(|| folder.to_owned())
}

/// The extension in a folder, or how to get one.
pub fn instead(folder: &Path) -> String {
    if let Ok(project) = Project::read(folder) {
        let made = output(&project);
        let shown = word(&made);
        return if made.is_file() {
            format!("that of this project is {shown}")
        } else {
            format!("`acp-chain build {}` makes {shown}", word(folder))
        };
    }
    let mut found: Vec<_> = components(folder).take(MOST).collect();
    found.sort();
    let words: Vec<_> = found.iter().map(|path| word(path)).collect();
    match &*words {
        [] if folder.join(MANIFEST).is_file() => format!(
            "in a project, the proxies of its {MANIFEST} run once you agree to them: {}",
            shell::trust(folder)
        ),
        [] => "there is none in it, neither a `.wasm` file nor a project that `acp-chain build` builds"
            .to_owned(),
        [only] => format!("there is {only}"),
        several => format!("there are {}", several.join(", ")),
    }
}

/// The files in a folder that could be extensions.
pub fn components(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "wasm") && path.is_file())
}
