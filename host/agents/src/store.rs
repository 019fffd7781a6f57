//! The installed agents.
//!
//! ```text
//! agents/
//!   .lock              locked by a process that changes the store
//!   NAME/agent.toml    the record of an agent
//!   NAME/VERSION-…/    all that was installed of it, of which the record names one
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use acp_chain_system::files;
use tempfile::TempDir;

use crate::error::Error;
use crate::name::{is_name, nearest};
use crate::record::Record;

/// Replaces a file completely or not at all.
pub type Write = fn(&Path, &[u8]) -> io::Result<()>;

/// The record of an agent, in the folder of its name.
const RECORD: &str = "agent.toml";

const HEAD: &str = "# What `acp-chain run NAME` launches. Written by `acp-chain agent`.\n\n";

/// Agents in a folder of the user.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    write: Write,
}

/// The right to change a store, which one process has at a time.
#[derive(Debug)]
pub struct Changing<'s> {
    store: &'s Store,
    _lock: File,
}

impl Store {
    /// The store in this folder, which need not exist yet.
    pub fn new(folder: PathBuf, write: Write) -> Self {
        Self { folder, write }
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// If it is not installed, or its record cannot be read.
    pub fn find(&self, name: &str) -> Result<Record, Error> {
        let names = self.names()?;
        if names.iter().any(|there| there == name) {
            self.record(name)
        } else {
            Err(Error::NotInstalled {
                name: name.to_owned(),
                near: nearest(name, names.iter().map(String::as_str)),
                is_program: which::which(name).is_ok(),
            })
        }
    }

    /// The installed agent whose name conflicts with this one, if there is one: on some systems, folders whose names
    /// differ only in case are the same.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn taken(&self, name: &str) -> Result<Option<String>, Error> {
        let mut names = self.names()?.into_iter();
        Ok(names.find(|there| there.eq_ignore_ascii_case(name)))
    }

    /// The names of all agents, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::disk(&self.folder))?,
        };
        let names = entries.flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> = names
            .filter(|name| is_name(name) && self.path(name).is_file())
            .collect();
        names.sort();
        Ok(names)
    }

    /// Locks the store.
    ///
    /// # Errors
    /// If another process has the lock.
    pub fn change(&self) -> Result<Changing<'_>, Error> {
        files::make_private(&self.folder).map_err(Error::disk(&self.folder))?;
        let path = self.folder.join(".lock");
        // On Windows, a handle that only allows appending cannot be locked.
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true);
        let lock = options.open(&path).map_err(Error::disk(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(self.folder.clone())),
            Err(TryLockError::Error(error)) => return Err(Error::disk(&path)(error)),
        }
        let changing = Changing {
            store: self,
            _lock: lock,
        };
        changing.sweep();
        Ok(changing)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name).join(RECORD)
    }

    fn record(&self, name: &str) -> Result<Record, Error> {
        let path = self.path(name);
        let wrong = |wrong: String| Error::Record {
            name: name.to_owned(),
            path: path.clone(),
            wrong,
        };
        // It names a program, which is beside it.
        for place in [&self.folder.join(name), &path] {
            files::check_owner(place).map_err(|exposed| wrong(exposed.to_string()))?;
        }
        let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let record: Record =
            toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        if record.name == name && !record.command.is_empty() {
            Ok(record)
        } else {
            Err(wrong(
                "it is not the record of an agent of this name".to_owned(),
            ))
        }
    }
}

impl Changing<'_> {
    /// A new folder for a version of an agent. It is removed again unless a record that names it is [put](Self::put).
    pub(crate) fn room(&self, name: &str, version: &str) -> Result<TempDir, Error> {
        let folder = self.folder(name)?;
        let made = tempfile::Builder::new()
            .prefix(&format!("{version}-"))
            .tempdir_in(&folder);
        // `tempfile` adds the temporary name to its error, which names the folder.
        made.map_err(|error| Error::disk(&folder)(error.kind().into()))
    }

    /// Writes the record of an agent, and removes its previous version.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, record: &Record, room: Option<TempDir>) -> Result<(), Error> {
        self.folder(&record.name)?;
        let path = self.store.path(&record.name);
        let text = toml::to_string(record).map_err(|error| Error::Record {
            name: record.name.clone(),
            path: path.clone(),
            wrong: error.to_string(),
        })?;
        // The folder stays from here on: if it is unclear whether the record was written, the record itself decides.
        let _ = room.map(TempDir::keep);
        let written = (self.store.write)(&path, (HEAD.to_owned() + &text).as_bytes());
        self.sweep_one(&record.name);
        written.map_err(Error::disk(&path))
    }

    /// Removes an agent: its record first.
    ///
    /// # Errors
    /// If it is not installed, or cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        if let Err(error @ Error::NotInstalled { .. }) = self.store.find(name) {
            return Err(error);
        }
        let path = self.store.path(name);
        fs::remove_file(&path).map_err(Error::disk(&path))?;
        self.sweep_one(name);
        Ok(())
    }

    fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = self.store.folder.join(name);
        // Whatever the umask is: others could change what is launched.
        files::make_private(&folder).map_err(Error::disk(&folder))?;
        Ok(folder)
    }

    /// Removes leftovers of killed processes.
    fn sweep(&self) {
        let entries = fs::read_dir(&self.store.folder).into_iter().flatten();
        for entry in entries.flatten() {
            if let Some(name) = entry.file_name().to_str()
                && entry.path().is_dir()
                && is_name(name)
            {
                self.sweep_one(name);
            }
        }
    }

    /// Removes all of an agent except its record and the folder named there; without a record, everything. Leftovers
    /// are removed next time.
    fn sweep_one(&self, name: &str) {
        let folder = self.store.folder.join(name);
        if !self.store.path(name).exists() {
            let _ = fs::remove_dir_all(folder);
            return;
        }
        // An unreadable record may name any folder.
        let Ok(record) = self.store.record(name) else {
            return;
        };
        // Compared by name only: there may be several paths to the folder.
        let kept = record.folder.as_deref().and_then(Path::file_name);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_kept = name == RECORD || Some(&*name) == kept;
            match (is_kept, path.is_dir()) {
                (true, _) => {}
                (false, true) => drop(fs::remove_dir_all(path)),
                (false, false) => drop(fs::remove_file(path)),
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_its_user_can_open_the_folder_of_an_agent() {
        use std::os::unix::fs::PermissionsExt;

        let top = tempfile::tempdir().unwrap();
        let agents = top.path().join("agents");
        let store = Store::new(agents.clone(), |path, bytes| fs::write(path, bytes));
        let changing = store.change().unwrap();
        let _room = changing.room("it", "1.0.0").unwrap();
        for folder in [&*agents, &*agents.join("it")] {
            let mode = fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        }
    }

    #[test]
    fn an_agent_that_others_can_change_is_not_launched_and_can_be_removed() {
        use std::os::unix::fs::PermissionsExt;

        let top = tempfile::tempdir().unwrap();
        let store = Store::new(top.path().to_owned(), |path, bytes| fs::write(path, bytes));
        let changing = store.change().unwrap();
        let record = Record {
            name: "it".to_owned(),
            command: vec!["/bin/sh".to_owned()],
            ..Record::default()
        };
        changing.put(&record, None).unwrap();
        let file = store.path("it");
        for (place, usual) in [(top.path().join("it"), 0o700), (file, 0o600)] {
            let set = |mode| fs::set_permissions(&place, fs::Permissions::from_mode(mode));
            set(0o777).unwrap();
            let error = store.find("it").unwrap_err().to_string();
            assert!(error.contains("others may write to"), "{error}");
            assert!(error.contains("`acp-chain agent remove it`"), "{error}");
            set(usual).unwrap();
            assert_eq!(store.find("it").unwrap(), record);
        }
        fs::set_permissions(top.path().join("it"), fs::Permissions::from_mode(0o777)).unwrap();
        changing.remove("it").unwrap();
        assert!(store.names().unwrap().is_empty());
    }

    #[test]
    fn an_error_names_the_folder_of_the_agent_and_no_temporary_one() {
        let top = tempfile::tempdir().unwrap();
        let store = Store::new(top.path().to_owned(), |path, bytes| fs::write(path, bytes));
        let changing = store.change().unwrap();
        // Longer than names may be.
        let version = "1".repeat(300);
        let error = changing.room("it", &version).unwrap_err().to_string();
        let folder = top.path().join("it");
        assert!(
            error.starts_with(&format!("{}: ", folder.display())),
            "{error}"
        );
        assert!(!error.contains(&version), "{error}");
    }
}
