//! The table of languages, with a file for each language's specifics.
//!
//! To add a language, add a row, a file with the items that it names, and a folder of templates.

mod assemblyscript;
pub mod c;
mod cpp;
mod go;
pub mod javascript;
pub mod python;
mod rust;
mod zig;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use acp_chain_package::Project;
use include_dir::Dir;

use crate::component::{Imports, WIT};
use crate::{Error, Purpose, Toolchains};

/// The folder of a project for build results, finally `NAME.wasm`.
pub const BUILD: &str = "build";

/// Files of a project by their paths in it.
pub(crate) type Files = BTreeMap<PathBuf, Cow<'static, [u8]>>;

/// A language in which proxies are written.
pub struct Language {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its other names there.
    pub aliases: &'static [&'static str],
    /// Its display name.
    pub title: &'static str,
    /// The file with a project's metadata.
    manifest: &'static str,
    /// The source file that distinguishes it from other languages with the same manifest.
    entry: &'static str,
    /// Names that no project can have, with `_` for `-`: keywords of the language, and names that a project uses.
    reserved: &'static str,
    /// The folders of its templates. Files of later ones replace those of earlier ones.
    pub(crate) layers: &'static [&'static str],
    /// Adds the SDK, in the folder `sdk`, and the interface.
    pub(crate) sdk: fn(&mut Files),
    /// The programs that build its components.
    tools: &'static [&'static crate::toolchain::Tool],
    /// The imports of its components.
    imports: Imports,
    /// Whether it has a faster build with a slower result.
    pub(crate) has_drafts: bool,
    /// Builds the component.
    make: fn(&Site) -> Result<Vec<u8>, Error>,
}

/// All languages.
pub static LANGUAGES: &[&Language] = &[
    &rust::RUST,
    &javascript::JAVASCRIPT,
    &javascript::TYPESCRIPT,
    &python::PYTHON,
    &c::C,
    &cpp::CPP,
    &zig::ZIG,
    &go::GO,
    &assemblyscript::ASSEMBLYSCRIPT,
];

/// The inputs of a build.
pub(crate) struct Site<'a> {
    pub language: &'static Language,
    /// The project's folder.
    pub folder: &'a Path,
    /// The folder for build results. Intermediate files have names with a leading `_`, which extensions cannot have.
    pub made: &'a Path,
    pub toolchains: &'a Toolchains<'a>,
    pub purpose: Purpose,
}

impl Language {
    /// The language of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        let is = |one: &&Self| one.name == name || one.aliases.contains(&name);
        LANGUAGES.iter().copied().find(is)
    }

    /// The programs that build its components, each with the oldest version known to work.
    pub fn toolchain(&self) -> String {
        let tools = self.tools.iter();
        let tools = tools.map(|tool| format!("{} {}", tool.names[0], tool.lowest));
        tools.collect::<Vec<_>>().join(", ")
    }

    /// The language of a project.
    pub(crate) fn of(project: &Project, folder: &Path) -> Result<&'static Self, Error> {
        let could_be = LANGUAGES.iter().copied();
        let could_be = could_be.filter(|one| project.file.ends_with(one.manifest));
        let could_be: Vec<_> = could_be.collect();
        let has_source = |one: &&&Self| folder.join(one.entry).exists();
        let mut found = could_be.iter().filter(has_source);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (Some(one), Some(other)) => {
                let [first, second] = [one, other].map(|language| folder.join(language.entry));
                let (first, second) = (first.display(), second.display());
                Err(Error::new(format_args!(
                    "{first} and {second} are two proxies, and a project has one; remove one of them"
                )))
            }
            (None, _) => {
                let entries: Vec<_> = could_be.iter().map(|one| one.entry).collect();
                let (manifest, entries) = (project.file.display(), entries.join(", "));
                let none =
                    format!("no source found; a project with {manifest} has one of {entries}");
                Err(Error::at(folder, none))
            }
        }
    }

    /// Rejects a name that is invalid for extensions, or for packages of this language.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), Error> {
        let wrong = |wrong: &str| {
            let language = self.title;
            Err(Error::new(format_args!(
                "{name:?} cannot be the name of a project in {language}: {wrong}"
            )))
        };
        let is_plain =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if !acp_chain_package::is_name(name)
            || !name.starts_with(|c: char| c.is_ascii_lowercase())
            || !name.chars().all(is_plain)
        {
            return wrong(
                "that is 1 to 64 lower-case letters, digits, `-` or `_`, a letter first, and neither `client` nor \
                 `agent`",
            );
        }
        let name = name.replace('-', "_");
        if self.reserved.split(' ').any(|reserved| reserved == name) {
            wrong("it is reserved by the language or used in a project")
        } else {
            Ok(())
        }
    }

    pub(crate) fn make(&self, site: &Site) -> Result<Vec<u8>, Error> {
        let component = (self.make)(site)?;
        crate::component::check(&component, self.imports)?;
        Ok(component)
    }
}

impl Site<'_> {
    fn tool(&self, tool: &crate::toolchain::Tool) -> Result<PathBuf, Error> {
        let language = self.language.title;
        self.toolchains.find(language, tool, self.folder)
    }

    /// The folder with the project's WIT, and the name of its world.
    fn wit(&self) -> Result<(PathBuf, String), Error> {
        let wit = self.folder.join("wit");
        let world = crate::component::world(&wit)?;
        Ok((wit, world))
    }
}

/// Adds an SDK, and the interface beside it, for projects whose toolchain reads that.
fn add_sdk(files: &mut Files, to: &str, from: &'static Dir<'static>) {
    let place = "wit/deps/acp-chain-proxy/proxy.wit";
    files.insert(place.into(), WIT.as_bytes().into());
    add(files, Path::new(to), from);
}

/// Adds all files of a folder and its subfolders.
pub(crate) fn add(files: &mut Files, to: &Path, from: &'static Dir<'static>) {
    let mut folders = vec![from];
    while let Some(folder) = folders.pop() {
        for file in folder.files() {
            let below = file.path().strip_prefix(from.path());
            let path = to.join(below.unwrap_or(file.path()));
            files.insert(path, file.contents().into());
        }
        folders.extend(folder.dirs());
    }
}
