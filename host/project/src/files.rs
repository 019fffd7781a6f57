//! Opens the files of a project, or of another folder of the user, beneath its root.
//!
//! The files are not trusted: a symbolic link may lead to any of the user's files, a pipe would block, and a device has
//! no end.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, OpenOptions};

use acp_chain_channel::limits::Quantity;
use acp_chain_rpc::untrusted::Untrusted;

/// The open root of a project.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: Dir,
}

/// Why a file of a project cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", Untrusted::new(path.display()))]
pub struct FileError {
    /// The file.
    path: PathBuf,
    why: String,
}

/// An open file with a maximum size.
pub struct BoundedFile {
    path: PathBuf,
    file: io::Take<cap_std::fs::File>,
    most: u64,
}

impl Root {
    /// Opens the root at a path.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let folder = Dir::open_ambient_dir(path, ambient_authority());
        Ok(Self {
            path: path.to_owned(),
            folder: folder.map_err(|error| FileError::new(path, error.to_string()))?,
        })
    }

    /// Reads a text file directly in the root, of at most this many bytes; `None` if it is missing.
    pub fn text(&self, name: &str, most: usize) -> Result<Option<String>, FileError> {
        self.utf8(Path::new(name), FollowSymlinks::No, most)
    }

    /// Reads a text file beneath the root, of at most this many bytes; `None` if it is missing. Symbolic links that
    /// stay beneath the root are followed.
    pub fn text_beneath(&self, path: &Path, most: usize) -> Result<Option<String>, FileError> {
        self.utf8(path, FollowSymlinks::Yes, most)
    }

    /// Writes a file beneath the root, with its missing folders. A file that exists keeps its permissions, and must not
    /// be a link.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let wrong = |error: io::Error| self.unusable(path, "written", &error);
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            self.folder.create_dir_all(folder).map_err(wrong)?;
        }
        // Checked first: opening a device may have effects.
        match self.folder.symlink_metadata(path) {
            Ok(about) => self.check_file(path, about.is_file(), about.file_type())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(error)),
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        options.follow(FollowSymlinks::No).nonblock(true);
        let mut file = self.folder.open_with(path, &options).map_err(wrong)?;
        // Checked again: another process may have replaced the file.
        let about = file.metadata().map_err(wrong)?;
        self.check_file(path, about.is_file(), about.file_type())?;
        file.set_len(0).map_err(wrong)?;
        file.write_all(bytes).map_err(wrong)
    }

    fn utf8(
        &self,
        path: &Path,
        follow: FollowSymlinks,
        most: usize,
    ) -> Result<Option<String>, FileError> {
        match self.open_file(path, follow, most as u64)? {
            None => Ok(None),
            Some(file) => {
                let bytes = file.read()?;
                let text = String::from_utf8(bytes);
                let text = text.map_err(|_| self.wrong(path, "the file is not UTF-8".to_owned()));
                text.map(Some)
            }
        }
    }

    fn check_file(&self, path: &Path, is_file: bool, kind: FileType) -> Result<(), FileError> {
        if is_file {
            Ok(())
        } else {
            let why = format!("it is {}, but must be a file", named(kind));
            Err(self.wrong(path, why))
        }
    }

    /// Opens a file beneath the root, of at most this many bytes. Symbolic links that stay beneath the root are
    /// followed.
    pub fn file(&self, path: &Path, most: u64) -> Result<BoundedFile, FileError> {
        let file = self.open_file(path, FollowSymlinks::Yes, most)?;
        file.ok_or_else(|| self.wrong(path, "it does not exist".to_owned()))
    }

    fn open_file(
        &self,
        path: &Path,
        follow: FollowSymlinks,
        most: u64,
    ) -> Result<Option<BoundedFile>, FileError> {
        // Checked first: opening a device may have effects.
        let about = match follow {
            FollowSymlinks::Yes => self.folder.metadata(path),
            FollowSymlinks::No => self.folder.symlink_metadata(path),
        };
        let about = match about {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unusable(path, "read", &error)),
        };
        self.check_file(path, about.is_file(), about.file_type())?;
        let mut options = OpenOptions::new();
        options.read(true).follow(follow).nonblock(true);
        let file = self.folder.open_with(path, &options);
        let file = file.map_err(|error| self.unusable(path, "read", &error))?;
        // Checked again: another process may have replaced the file.
        let about = file.metadata();
        let about = about.map_err(|error| self.unusable(path, "read", &error))?;
        self.check_file(path, about.is_file(), about.file_type())?;
        let path = self.path.join(path);
        let file = BoundedFile::new(path, file, most);
        if about.len() > most {
            Err(file.too_large())
        } else {
            Ok(Some(file))
        }
    }

    /// The error of an operation: the file cannot be `done`.
    fn unusable(&self, path: &Path, done: &str, error: &io::Error) -> FileError {
        let why = match error.kind() {
            io::ErrorKind::PermissionDenied if leads_out(error) => {
                "a symbolic link in its path leads out of the project".to_owned()
            }
            _ => format!("it cannot be {done}: {error}"),
        };
        self.wrong(path, why)
    }

    fn wrong(&self, path: &Path, why: String) -> FileError {
        FileError::new(&self.path.join(path), why)
    }
}

impl FileError {
    fn new(path: &Path, why: String) -> Self {
        Self {
            path: path.to_owned(),
            why,
        }
    }
}

impl BoundedFile {
    fn new(path: PathBuf, file: File, most: u64) -> Self {
        let file = file.take(most + 1);
        Self { path, file, most }
    }

    /// Reads the whole file.
    pub fn read(mut self) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        self.each(|chunk| bytes.extend_from_slice(chunk))?;
        Ok(bytes)
    }

    /// Reads the whole file in chunks.
    pub fn each(&mut self, mut take: impl FnMut(&[u8])) -> Result<(), FileError> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = self.file.read(&mut buffer);
            let read = read.map_err(|error| {
                FileError::new(&self.path, format!("it cannot be read: {error}"))
            })?;
            if read == 0 {
                return Ok(());
            }
            // The file may have grown since its size was read.
            if self.file.limit() == 0 {
                return Err(self.too_large());
            }
            take(&buffer[..read]);
        }
    }

    fn too_large(&self) -> FileError {
        let most = Quantity::Size.show(self.most);
        FileError::new(&self.path, format!("the file is larger than {most}"))
    }
}

/// Whether it is cap-std's own error for a path that leads out. The system has no such error.
fn leads_out(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

fn named(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else {
        "a pipe, a socket or a device"
    }
}

#[cfg(all(test, unix))]
mod tests;
