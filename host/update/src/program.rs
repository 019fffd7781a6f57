//! The running program's file, and its replacement.
//!
//! A new file is written beside the program and synced. Then the program is copied beside itself, to be put back if the
//! new one is no good, and the new file is renamed to it. Running processes keep the old one.

use std::env;
use std::env::consts::EXE_SUFFIX;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use acp_chain_system::files;
use tempfile::{Builder, NamedTempFile};

use crate::error::UpdateError;
use crate::manager::Manager;
use crate::release::Release;

/// The prefix of temporary files.
const UNFINISHED: &str = ".unfinished-";

/// The running program.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
}

/// A file beside the program that may replace it. It is removed when dropped.
#[derive(Debug)]
pub struct Staged {
    file: NamedTempFile,
    program: PathBuf,
}

impl Program {
    /// The running program, by its path without links.
    pub fn running() -> Result<Self, UpdateError> {
        let path = env::current_exe().and_then(|path| files::real(&path));
        let path = path.map_err(UpdateError::Moved)?;
        Ok(Self { path })
    }

    /// The path of its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the program that the last update replaced.
    #[must_use]
    pub fn previous(&self) -> PathBuf {
        previous(&self.path)
    }

    /// What has installed it, if that is not the user.
    #[must_use]
    pub fn manager(&self) -> Option<Manager> {
        Manager::of(&self.path)
    }

    /// An error if a package manager has installed it.
    pub fn check_unmanaged(&self) -> Result<(), UpdateError> {
        let managed = |manager| Err(UpdateError::Managed(self.path.clone(), manager));
        self.manager().map_or(Ok(()), managed)
    }

    /// An empty file beside it, with its permissions.
    pub fn stage(&self) -> Result<Staged, UpdateError> {
        Ok(Staged {
            file: beside(&self.path)?,
            program: self.path.clone(),
        })
    }

    /// A copy of the program that the last update replaced. No signature says what it is, so no other user may have
    /// put it there, as in `/tmp`.
    pub fn stage_previous(&self) -> Result<Staged, UpdateError> {
        let previous = self.previous();
        // Checked first: opening a pipe would wait for a writer. An update leaves no link.
        let is_file = fs::symlink_metadata(&previous).is_ok_and(|about| about.is_file());
        if !is_file {
            return Err(UpdateError::NoPrevious(previous));
        }
        files::check_owner(&previous).map_err(|why| UpdateError::Exposed(why.to_string()))?;
        let mut staged = self.stage()?;
        let copied = File::open(&previous)
            .and_then(|mut file| io::copy(&mut file, staged.file.as_file_mut()));
        copied.map_err(|cause| not_written(&self.path, cause))?;
        Ok(staged)
    }
}

impl Staged {
    /// Writes the program of a release, from its verified archive.
    pub fn fill(&mut self, release: &Release, archive: File) -> Result<(), UpdateError> {
        release.unpack(archive, self.file.as_file_mut())
    }

    /// Puts it in the program's place, and the program into that of the previous one. It must start, and report
    /// `acp-chain` and this version, if one is expected. Returns what it reports.
    pub fn put(self, expected: Option<&str>) -> Result<String, UpdateError> {
        let program = self.program;
        let written = |done: io::Result<()>| done.map_err(|cause| not_written(&program, cause));
        written(self.file.as_file().sync_all())?;
        // Closed, as no system starts a file that is open for writing.
        let staged = self.file.into_temp_path();
        let reported = report(&staged)?;
        let is_expected = expected.is_none_or(|version| reported == format!("acp-chain {version}"));
        if !reported.starts_with("acp-chain ") || !is_expected {
            return Err(UpdateError::DoesNotRun(format!("it reports `{reported}`")));
        }
        let previous = previous(&program);
        keep(&program, &previous)?;
        written(replace(&staged, &program, &previous))?;
        written(sync_folder(&program))?;
        Ok(reported)
    }
}

/// The path of the program that an update of this one replaced.
fn previous(program: &Path) -> PathBuf {
    program.with_file_name(format!("acp-chain.previous{EXE_SUFFIX}"))
}

fn not_written(path: &Path, cause: io::Error) -> UpdateError {
    UpdateError::NotWritten(path.to_owned(), cause)
}

/// An empty file beside the program, with the permissions of the program. `tempfile` would add the temporary name to
/// its error, and the error names the program.
fn beside(program: &Path) -> Result<NamedTempFile, UpdateError> {
    let folder = program.parent().unwrap_or(Path::new("."));
    let create = || {
        let file = Builder::new()
            .prefix(UNFINISHED)
            .suffix(EXE_SUFFIX)
            .make_in(folder, files::create_private)?;
        file.as_file()
            .set_permissions(fs::metadata(program)?.permissions())?;
        io::Result::Ok(file)
    };
    create().map_err(|cause| not_written(program, cause))
}

/// What a program reports as its version.
fn report(program: &Path) -> Result<String, UpdateError> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| UpdateError::DoesNotRun(error.to_string()))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(UpdateError::DoesNotRun(format!(
            "it ended with {}: {told}",
            output.status
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Copies the program to the previous one's path.
fn keep(program: &Path, previous: &Path) -> Result<(), UpdateError> {
    let mut copy = beside(program)?;
    let kept = File::open(program)
        .and_then(|mut file| io::copy(&mut file, copy.as_file_mut()))
        .and_then(|_| copy.as_file().sync_all());
    kept.map_err(|cause| not_written(previous, cause))?;
    let kept = copy.persist(previous).map_err(|error| error.error);
    kept.map(drop).map_err(|cause| not_written(previous, cause))
}

/// Renames a file to the program.
fn replace(staged: &Path, program: &Path, previous: &Path) -> io::Result<()> {
    match fs::rename(staged, program) {
        // Windows replaces no running program, but lets it be renamed.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            fs::rename(program, previous)?;
            let done = fs::rename(staged, program);
            done.inspect_err(|_| drop(fs::rename(previous, program)))
        }
        done => done,
    }
}

/// Syncs the names in the program's folder, if the system can open folders.
fn sync_folder(program: &Path) -> io::Result<()> {
    let folder = program.parent().unwrap_or(Path::new("."));
    File::open(folder).map_or(Ok(()), |folder| folder.sync_all())
}

#[cfg(all(test, unix))]
mod tests;
