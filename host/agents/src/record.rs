//! The record of an installed agent: a file that its user can read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::install::launch;
use crate::kind::Kind;
use crate::name::is_name;
use crate::program;
use crate::tool;

/// An installed agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub name: String,
    pub kind: Kind,
    /// Its version, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The registry that named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// The archive, or the package with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The digest of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The folder with everything installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The command: a program, and perhaps its options and its script, by absolute paths.
    pub command: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables added to our environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

impl Record {
    /// Checks that all files needed for launching exist.
    ///
    /// # Errors
    /// If one is missing.
    pub fn check(&self) -> Result<(), Error> {
        let paths = self.command.iter().map(PathBuf::from);
        let paths = paths.filter(|path| path.is_absolute());
        // The Python of a virtual environment is a link to one of the system.
        let interpreter = self.command.last().and_then(|program| {
            let program::Kind::Script(line) = program::kind(Path::new(program)).ok()? else {
                return None;
            };
            let interpreter = PathBuf::from(line.interpreter);
            let folder = self.folder.as_ref()?;
            interpreter.starts_with(folder).then_some(interpreter)
        });
        let missing = paths.chain(interpreter).find(|path| !path.exists());
        match missing {
            Some(path) => Err(Error::Broken {
                name: self.name.clone(),
                path,
                kind: self.kind,
            }),
            None => Ok(()),
        }
    }

    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.command.iter().chain(&self.args)
    }
}

/// An agent that is the user's own command. The program is looked up now, and what runs it if it is a script, since
/// editors have another `PATH`.
///
/// # Errors
/// If there is no such program, or nothing that runs it, or if the name or a word cannot be recorded.
pub fn own(name: &str, words: &[OsString]) -> Result<Record, Error> {
    if !is_name(name) {
        return Err(Error::Name(name.to_owned()));
    }
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let unknown = || Error::NoCommand(words.first().map(text).unwrap_or_default());
    let written = |word: &OsString| {
        let written = word.to_str().map(str::to_owned);
        written.ok_or_else(|| Error::NotText(text(word)))
    };
    let (program, args) = words.split_first().ok_or_else(unknown)?;
    let program = which::which(program).map_err(|_| unknown())?;
    let program = std::path::absolute(&program).map_err(Error::disk(&program))?;
    let here = std::env::current_dir().unwrap_or_default();
    let file = program.file_name().and_then(|file| file.to_str());
    let is_python = file.is_some_and(tool::is_python);
    let program = match program.file_stem() {
        Some(stem) if stem == "node" => tool::node(&here)?,
        _ if is_python => tool::python(tool::lasting(program), &here),
        _ => tool::lasting(program),
    };
    let command = match program::kind(&program) {
        // Where an editor starts it, `env` would find another interpreter, or none.
        Ok(program::Kind::Script(line)) if !Path::new(&line.interpreter).is_absolute() => {
            let folder = program.parent().unwrap_or(&here);
            launch::command(&program, folder, &|_: &str| unknown())?
        }
        _ => vec![written(&program.into_os_string())?],
    };
    Ok(Record {
        name: name.to_owned(),
        kind: Kind::Command,
        command,
        args: args.iter().map(written).collect::<Result<_, _>>()?,
        ..Record::default()
    })
}

#[cfg(all(test, unix))]
mod tests;
