//! What an editor is, and where its configuration may be.

use std::path::{Path, PathBuf};

use crate::agents::{self, Dialect};
use crate::error::Malformed;
use crate::file::read;
use crate::launch::Launch;
use crate::places::Folders;

/// An editor that launches agents.
#[derive(Debug)]
pub struct Editor {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// The kind of its configuration.
    pub(crate) kind: Kind,
}

/// The ways to configure editors.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Agents in a JSON file, which may be in one of several places.
    Agents {
        files: fn(&Folders) -> Vec<PathBuf>,
        /// Files that matter only if there are agents in them, and are changed only by name.
        further: fn(&Folders) -> Vec<PathBuf>,
        dialect: Dialect,
        /// The agents that it launches without an entry.
        alone: Option<&'static str>,
    },
    /// Code, to which ours is added.
    Code(Code),
    /// The command line: there is nothing to change.
    Typed {
        program: &'static str,
        /// What to type for an agent that is launched by this line of a shell.
        line: fn(&str) -> String,
    },
}

/// Checks a text for errors.
type Check = fn(&str) -> Result<(), Malformed>;

/// Code added to a configuration.
#[derive(Debug)]
pub(crate) struct Code {
    /// The files to which it may be added, the editor's preferred one first.
    pub files: fn(&Folders) -> Vec<PathBuf>,
    /// Whether the file is entirely ours, in a folder from which the editor reads every file.
    pub is_own: bool,
    /// The beginning of a comment.
    pub comment: &'static str,
    /// Intercepts the agents with these programs, or all if none are named.
    pub text: fn(&Launch, &[String]) -> String,
    /// Rejects files to which nothing can be added.
    pub check: Option<Check>,
    /// The agents that it does not intercept.
    pub others: &'static str,
}

impl Editor {
    /// The places where its configuration may be.
    pub fn files(&self, places: &Folders) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Agents { files, .. } | Kind::Code(Code { files, .. }) => files(places),
            Kind::Typed { .. } => Vec::new(),
        }
    }

    /// The places that show whether the editor is there: of our own file, the folder of the editor.
    pub(crate) fn looked(&self, places: &Folders) -> Vec<PathBuf> {
        let files = self.files(places);
        let shown = |file: &PathBuf| self.shown_by(file).unwrap_or(file).to_owned();
        files.iter().map(shown).collect()
    }

    /// What is there if a configuration is, or can be created.
    fn shown_by<'f>(&self, file: &'f Path) -> Option<&'f Path> {
        match &self.kind {
            // Our own file is created in a folder that the editor has.
            Kind::Code(code) if code.is_own => file.ancestors().nth(2),
            _ => Some(file),
        }
    }

    /// The existing configurations.
    pub fn found(&self, places: &Folders) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for file in self.files(places) {
            let there = self.shown_by(&file);
            let is_there = there.is_some_and(|there| there.symlink_metadata().is_ok());
            let same = |other: &PathBuf| other.canonicalize().ok() == file.canonicalize().ok();
            let is_known = file.exists() && found.iter().any(same);
            if is_there && !is_known {
                found.push(file);
            }
        }
        match &self.kind {
            // Only the first one is read.
            Kind::Code(code) if !code.is_own => found.into_iter().take(1).collect(),
            _ => found,
        }
    }

    /// Further files with agents, which are changed only if they are named: of a profile, or for windows of other
    /// machines that are connected to this one.
    pub fn further(&self, places: &Folders) -> Vec<PathBuf> {
        let Kind::Agents {
            further, dialect, ..
        } = &self.kind
        else {
            return Vec::new();
        };
        let has_agents = |file: &PathBuf| {
            let text = read(file).ok().flatten().unwrap_or_default();
            agents::read(&text, *dialect).is_ok_and(|agents| !agents.is_empty())
        };
        further(places).into_iter().filter(has_agents).collect()
    }

    /// All files with agents, and the existing configurations.
    pub fn everywhere(&self, places: &Folders) -> Vec<PathBuf> {
        let mut files = self.found(places);
        files.extend(self.further(places));
        files
    }

    /// All files that may have been changed.
    pub(crate) fn changeable(&self, places: &Folders) -> Vec<PathBuf> {
        let mut files = self.files(places);
        if let Kind::Agents { further, .. } = &self.kind {
            files.extend(further(places));
        }
        files
    }

    /// The path of a new configuration: in the only existing folder, or the only possible path.
    pub(crate) fn place(&self, places: &Folders) -> Option<PathBuf> {
        let mut files = self.files(places);
        if files.len() > 1 {
            // Where names of folders differ only in case, two places may be one.
            let mut known = Vec::new();
            files.retain(|file| {
                let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
                let is_new = folder.as_deref().is_some_and(Path::is_dir);
                let is_new = is_new && !known.contains(&folder);
                known.push(folder);
                is_new
            });
        }
        let only = files.pop();
        only.filter(|_| files.is_empty())
    }

    /// Whether its configuration is code, which does not name its agents.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, Kind::Code(_))
    }

    /// The program with its configuration on the command line, for such editors, if it exists.
    pub fn program(&self) -> Option<PathBuf> {
        match &self.kind {
            Kind::Typed { program, .. } => which::which(program).ok(),
            Kind::Agents { .. } | Kind::Code(_) => None,
        }
    }
}
