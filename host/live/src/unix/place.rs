//! The folders of the sockets: accessible to our user only, and reached without links.

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

/// The name of the folder inside a private folder, and its prefix elsewhere.
const FOLDER: &str = "acp-chain";

/// The ending of a socket's name, and of its name until a process listens at it.
pub const SOCKET: &str = ".sock";
pub const NEW: &str = ".new";

/// The maximum length of a socket's path, in bytes: systems have room for 104 or 108, including a final zero.
const LONGEST: usize = 103;

/// The possible folders of sockets, the best first. An editor may lack variables that a terminal has, so searches look
/// in all of them.
pub fn places() -> Vec<PathBuf> {
    let user = geteuid().as_raw();
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let usual = PathBuf::from(format!("/run/user/{user}"));
    let own = named.into_iter().chain([usual]);
    let own = own.filter(|path| path.is_absolute() && path.is_dir());
    let own = own.map(|path| path.join(FOLDER));
    let shared = [env::temp_dir(), PathBuf::from("/tmp")];
    let shared = shared.map(|path| path.join(format!("{FOLDER}-{user}")));
    let mut places: Vec<PathBuf> = Vec::new();
    for place in own.chain(shared) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Creates a folder if necessary, for our user only.
pub fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => check(folder),
    }
}

/// An error if a folder is not our user's only, or a link.
pub fn check(folder: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let about = rustix::fs::fstat(rustix::fs::open(folder, flags, Mode::empty())?)?;
    let is_alone = Mode::from_raw_mode(about.st_mode) & (Mode::RWXG | Mode::RWXO) == Mode::empty();
    if about.st_uid == geteuid().as_raw() && is_alone {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "other users can access the folder; remove it, or set XDG_RUNTIME_DIR to one of yours",
        ))
    }
}

/// The path of a socket, if it is short enough.
pub fn socket(folder: &Path, name: &str, end: &str) -> io::Result<PathBuf> {
    let path = folder.join(format!("{name}{end}"));
    if path.as_os_str().as_bytes().len() <= LONGEST {
        Ok(path)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidFilename,
            "its path would be too long for a socket",
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_that_other_users_can_access_is_not_used_and_neither_is_a_link() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("own");
        make(&folder).unwrap();
        make(&folder).unwrap();
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let link = top.path().join("link");
        symlink(&folder, &link).unwrap();
        make(&link).unwrap_err();
        fs::set_permissions(&folder, Permissions::from_mode(0o750)).unwrap();
        let error = make(&folder).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_an_error() {
        let long = PathBuf::from("/").join("x".repeat(90));
        assert!(socket(&long, "1-abc", SOCKET).is_ok());
        assert!(socket(&long, "12345-abcdefgh", SOCKET).is_err());
    }
}
