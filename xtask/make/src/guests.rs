//! `cargo xtask guests`: proxies in all languages, each a component in `target/components`.
//!
//! The proxies in Rust are the workspace's members with a `cdylib`. The example proxies in other languages are single
//! sources in `tests/examples/LANGUAGE`, and the projects in `examples` are built as their authors would. Every
//! component except those in `tests/guests` is checked when it is made: it imports the channel and, if its language has
//! a runtime, WASI, and exports the handler. Then its project's description is written into it, which makes it an
//! extension.

mod c;
mod javascript;
pub mod projects;
mod python;
mod rust;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use acp_chain_author::component::{self, Imports};
use acp_chain_package::Project;
use anyhow::{Context, Result, anyhow, bail};

use xtask::stamp::Stamp;
use xtask::workspace::{GuestCrate, Workspace};

/// Builds the component of an example unless it is up to date.
type Build = fn(&Workspace, &Example, &Path) -> Result<()>;

/// The languages other than Rust.
const LANGUAGES: [(&str, Build); 3] = [
    ("javascript", javascript::build),
    ("python", python::build),
    ("c", c::build),
];

/// The proxies that are written in each of these languages, with their worlds.
const EXAMPLES: [(&str, &str); 2] = [("shout", "proxy"), ("words", "tool-proxy")];

/// A proxy in a language other than Rust.
struct Example {
    /// The name of its source, without the extension.
    name: &'static str,
    world: &'static str,
    /// The folder with its source and the files for its toolchain.
    folder: PathBuf,
    /// The file with its description, the same in all languages.
    project: PathBuf,
}

impl Example {
    /// The inputs of its component in every language.
    fn stamp(&self, workspace: &Workspace, component: &Path) -> Result<Stamp> {
        let package = Project::read(&self.project)?.package;
        Ok(Stamp::new(workspace, component).on((self.world, format!("{package:?}"))))
    }
}

/// What a component is made from.
enum Source {
    Rust(GuestCrate),
    Other(Build, Example),
    /// A project, in this folder.
    Project(PathBuf),
}

/// Checks a component, and writes the description of the project at `path` into it.
fn package(component: &Path, imports: Imports, path: &Path) -> Result<()> {
    let bytes = fs::read(component)?;
    let shown = || component.display().to_string();
    component::check(&bytes, imports).with_context(shown)?;
    let project = Project::read(path)?;
    let written = project.package.write(&bytes);
    let written = written.with_context(|| format!("{}", project.file.display()))?;
    fs::write(component, written)?;
    Ok(())
}

/// Turns a core module into a component.
fn encode(module: &Path, component: &Path) -> Result<()> {
    let bytes = fs::read(module).with_context(|| format!("{} is missing", module.display()))?;
    let encoded = component::encode(&bytes);
    fs::write(
        component,
        encoded.with_context(|| module.display().to_string())?,
    )?;
    Ok(())
}

/// Builds the components with these names, or all, and lists them.
pub fn build(workspace: &Workspace, names: &[String]) -> Result<()> {
    for component in build_with(workspace, names)? {
        let size = fs::metadata(&component)?.len().div_ceil(1024);
        println!("{size:>7} KiB  {}", component.display());
    }
    Ok(())
}

/// Like [`build`], as a part of a larger command. Returns the files.
pub fn build_with(workspace: &Workspace, names: &[String]) -> Result<Vec<PathBuf>> {
    let mut sources = sources(workspace);
    if let Some(unknown) = names.iter().find(|name| !sources.contains_key(*name)) {
        let known: Vec<&str> = sources.keys().map(String::as_str).collect();
        bail!(
            "there is no proxy called {unknown}; there are {}",
            known.join(", ")
        );
    }
    sources.retain(|name, _| names.is_empty() || names.contains(name));
    let folder = workspace.target("components");
    fs::create_dir_all(&folder)?;
    let (mut crates, mut others, mut projects) = (Vec::new(), Vec::new(), Vec::new());
    let mut components = Vec::new();
    for (name, source) in &sources {
        let file = folder.join(name).with_extension("wasm");
        components.push(file.clone());
        match source {
            Source::Rust(guest) => crates.push((guest, file)),
            Source::Other(build, example) => others.push((build, example, file)),
            Source::Project(folder) => projects.push((folder, file)),
        }
    }

    // Cargo compiles several crates at once; meanwhile, the others are built one by one.
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            others
                .iter()
                .try_for_each(|(build, example, file)| build(workspace, example, file))
        });
        let crates = rust::build(workspace, &crates);
        let others = others.join().map_err(|_| anyhow!("a build panicked"))?;
        crates.and(others)
    })?;
    projects::build(workspace, &projects)?;
    Ok(components)
}

/// All sources by the name of the component: a project's own, and in `tests/examples` the proxy's with its language.
fn sources(workspace: &Workspace) -> BTreeMap<String, Source> {
    let examples = workspace.path("tests/examples");
    let crates = workspace.guest_crates().into_iter().map(|guest| {
        let name = match guest.folder.strip_prefix(&examples) {
            Ok(language) => format!("{}-{}", guest.package, language.display()),
            Err(_) => guest.package.clone(),
        };
        (name, Source::Rust(guest))
    });
    let others = LANGUAGES.iter().flat_map(|(language, build)| {
        let (examples, folder) = (&examples, examples.join(language));
        EXAMPLES.iter().map(move |(name, world)| {
            let example = Example {
                name,
                world,
                folder: folder.clone(),
                project: examples.join(name).with_extension("toml"),
            };
            (format!("{name}-{language}"), Source::Other(*build, example))
        })
    });
    let projects = projects::all(workspace).into_iter();
    let projects = projects.map(|(name, folder)| (name, Source::Project(folder)));
    crates.chain(others).chain(projects).collect()
}
