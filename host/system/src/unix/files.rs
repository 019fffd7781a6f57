//! Owners, permissions and identities of files.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, DirEntryExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Group, Uid, User};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use acp_chain_rpc::untrusted::Untrusted;

/// Whether files have modes, which say who can read and write them.
pub const HAS_MODES: bool = true;

/// The bits of a mode that let others write: the group, and all users.
const GROUP: u32 = 0o020;
const ALL: u32 = 0o002;

/// The bits of a mode that let others read.
const READ: u32 = 0o044;

/// In a sticky directory users can rename and remove only their own files.
const STICKY: u32 = 0o1000;

/// Opens a file for appending. If it does not exist, it is created for its owner alone.
pub fn append_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// Opens a file for [appending](append), reading and truncating, while other processes may do so too. If it does not
/// exist, it is created for its owner alone.
pub fn append_shared(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// Appends to a file of [`append_shared`], behind what other processes append meanwhile.
pub fn append(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)
}

/// Creates a file for its owner alone, which must not exist, for writing.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// Creates a directory for its owner alone, with its missing parents.
pub fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a program, which only its owner can read and run.
pub fn write_program(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o700)
        .open(path)?;
    file.write_all(content)
}

/// Whether our user may run a file: not where the file system forbids programs, as an administrator can set.
pub fn may_run(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Creates a symbolic link.
pub fn link(to: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

/// An error if our user may not write to a file, or create files in a directory. Nothing is written.
pub fn check_writable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
}

/// What lets our user write to a file or directory in its home; `None` about any other: those belong to the system, or
/// to other users, who would lose them.
pub fn step_to_own(path: &Path) -> Option<String> {
    let home = std::env::home_dir()?;
    if path == home || !path.starts_with(&home) {
        return None;
    }
    let about = fs::metadata(path).ok()?;
    Some(to_own(path, about.uid(), geteuid().as_raw()))
}

fn to_own(path: &Path, owner: u32, us: u32) -> String {
    let shown = Untrusted::new(path.display());
    if owner == us {
        return format!("`chmod u+rwx '{shown}'` lets you");
    }
    if owner != 0 {
        let step = remedy(path, us);
        return format!("it belongs to user {owner}, and acp-chain runs as user {us}: {step}");
    }
    // What is below a folder of ours was made by the same command.
    let is_ours = path.iter().any(|name| name == "acp-chain");
    let below = if is_ours { "-R " } else { "" };
    format!(
        "it belongs to root, as after `sudo acp-chain`: `sudo chown {below}{us} '{shown}'` makes it yours"
    )
}

/// The identity of a file or directory, independent of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    fn new(about: &Metadata) -> Self {
        Self {
            device: about.dev(),
            number: about.ino(),
        }
    }

    /// The identity of the file at a path.
    pub fn of(path: &Path) -> Option<Self> {
        Some(Self::new(&fs::metadata(path).ok()?))
    }
}

/// The state of a file. It differs for another file, and after a change of its bytes or permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    file: Identity,
    length: u64,
    /// When its content and its metadata changed, in seconds and nanoseconds.
    changed: [(i64, i64); 2],
}

impl Stamp {
    /// The state of the file at a path; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        Some(Self {
            file: Identity::new(&about),
            length: about.len(),
            changed: [
                (about.mtime(), about.mtime_nsec()),
                (about.ctime(), about.ctime_nsec()),
            ],
        })
    }
}

/// The path of a file or directory without links, as people write it.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// The search for another name of a file reached its limit.
#[derive(Debug)]
pub struct TooMany;

/// Finds another name of a file, a hard link, in this directory or below it.
pub fn another_name(
    file: &Path,
    directory: &Path,
    most: usize,
) -> Result<Option<PathBuf>, TooMany> {
    let (Ok(about), Ok(top)) = (fs::metadata(file), fs::metadata(directory)) else {
        return Ok(None);
    };
    if !about.is_file() || about.nlink() < 2 || about.dev() != top.dev() {
        return Ok(None);
    }
    let mut seen = 0;
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            seen += 1;
            if seen > most {
                return Err(TooMany);
            }
            if entry.ino() == about.ino()
                && Identity::of(&entry.path()) == Some(Identity::new(&about))
            {
                return Ok(Some(entry.path()));
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(entry.path());
            }
        }
    }
    Ok(None)
}

/// What to do about a file or directory of another user. To root, with `sudo` for example, it need not be given: it may
/// be the home of the user who ran that.
fn remedy(path: &Path, us: u32) -> String {
    if us == 0 {
        return "run acp-chain as that user, without `sudo`".to_owned();
    }
    let shown = Untrusted::new(path.display());
    format!("`chown {us} '{shown}'` makes it yours")
}

/// Why other users can read or change a file or directory that should be private.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExposureError {
    /// It belongs to another user.
    #[error(
        "{shown} belongs to user {}, and acp-chain runs as user {us}; {step}",
        .1,
        shown = Untrusted::new(.0.display()),
        us = geteuid().as_raw(),
        step = remedy(.0, geteuid().as_raw())
    )]
    Owner(PathBuf, u32),
    /// With these permissions, others may write to it.
    #[error(
        "others may write to {shown} (its mode is {:04o}); `chmod go-w '{shown}'` ends that",
        .1,
        shown = Untrusted::new(.0.display())
    )]
    Mode(PathBuf, u32),
    /// With these permissions, others may read it.
    #[error(
        "others may read {shown} (its mode is {:04o}); `chmod go-rwx '{shown}'` ends that",
        .1,
        shown = Untrusted::new(.0.display())
    )]
    Readable(PathBuf, u32),
}

/// An error if a user other than ours and root can change a file, or the contents of a directory. `Ok` if it does not
/// exist.
pub fn check_owner(path: &Path) -> Result<(), ExposureError> {
    let Ok(about) = fs::metadata(path) else {
        return Ok(());
    };
    // Devices store nothing.
    if !about.is_file() && !about.is_dir() {
        return Ok(());
    }
    let (path, mode) = owned(path, &about)?;
    let is_ours = || is_ours_alone(Gid::from_raw(about.gid()));
    if others_can_write(mode, about.is_dir(), is_ours) {
        Err(ExposureError::Mode(path, mode))
    } else {
        Ok(())
    }
}

/// An error if a user other than ours and root can read or change an open file.
pub fn check_secret(file: &File, path: &Path) -> Result<(), ExposureError> {
    let Ok(about) = file.metadata() else {
        return Ok(());
    };
    let (path, mode) = owned(path, &about)?;
    if mode & (READ | GROUP | ALL) > 0 {
        Err(ExposureError::Readable(path, mode))
    } else {
        Ok(())
    }
}

/// The path and the permissions of what our user or root owns.
fn owned(path: &Path, about: &Metadata) -> Result<(PathBuf, u32), ExposureError> {
    let (path, owner) = (path.to_owned(), about.uid());
    if owner != geteuid().as_raw() && owner != 0 {
        return Err(ExposureError::Owner(path, owner));
    }
    Ok((path, about.mode() & 0o7777))
}

fn others_can_write(mode: u32, is_directory: bool, is_ours_alone: impl Fn() -> bool) -> bool {
    let writes = mode & ALL > 0 || mode & GROUP > 0 && !is_ours_alone();
    writes && !(is_directory && mode & STICKY > 0)
}

/// Whether only our user and root are in a group. Many systems give every user a group of the same name, and files
/// are writable for it. Other groups are not ours: `/etc/passwd` may lack users whose primary group they are.
fn is_ours_alone(group: Gid) -> bool {
    if group.as_raw() == 0 {
        return true;
    }
    let Ok(Some(found)) = Group::from_gid(group) else {
        return false;
    };
    let user = User::from_uid(Uid::effective()).ok().flatten();
    let ours = user.as_ref().map(|user| user.name.as_str());
    let is_named = ours == Some(&found.name);
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_group = known.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(2)?.parse() == Ok(group.as_raw())).then_some(name)
    });
    let mut all = found.mem.iter().map(String::as_str).chain(of_group);
    is_named && all.all(|name| Some(name) == ours || name == "root")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_mode_says_whether_others_can_write() {
        let (directory, ours, theirs) = (true, || true, || false);
        for mode in [0o600, 0o644, 0o755, 0o775] {
            assert!(!others_can_write(mode, directory, ours), "{mode:o}");
        }
        assert!(others_can_write(0o777, directory, ours));
        assert!(others_can_write(0o775, directory, theirs));
        assert!(!others_can_write(0o1777, directory, theirs));
        assert!(others_can_write(0o1666, !directory, ours));
    }

    #[test]
    fn a_group_is_ours_if_it_has_our_name_and_no_other_member() {
        assert!(is_ours_alone(Gid::from_raw(0)));
        let user = User::from_uid(Uid::effective()).unwrap().unwrap();
        let known = fs::read_to_string("/etc/group").unwrap();
        let groups = known
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        for group in groups {
            let (name, number) = (group[0], group[2].parse().unwrap());
            let is_ours = is_ours_alone(Gid::from_raw(number));
            assert!(!is_ours || number == 0 || name == user.name, "{name}");
        }
        assert!(!is_ours_alone(Gid::from_raw(u32::MAX - 7)));
    }

    #[test]
    fn an_exposed_file_is_reported_with_the_command_that_protects_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        assert_eq!(check_owner(&path), Ok(()));
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();
        let told = check_owner(&path).unwrap_err().to_string();
        let expected = format!(
            "others may write to {0} (its mode is 0646); `chmod go-w '{0}'` ends that",
            Untrusted::new(path.display())
        );
        assert_eq!(told, expected);
    }

    #[test]
    fn what_lets_our_user_write_depends_on_the_owner() {
        let path = Path::new("/home/me/.local/share");
        for (path, owner, us, expected) in [
            (
                path.to_owned(),
                0,
                7,
                "it belongs to root, as after `sudo acp-chain`: `sudo chown 7 '/home/me/.local/share'` makes it \
                 yours",
            ),
            (
                path.join("acp-chain"),
                0,
                7,
                "it belongs to root, as after `sudo acp-chain`: \
                 `sudo chown -R 7 '/home/me/.local/share/acp-chain'` makes it yours",
            ),
            (
                path.to_owned(),
                7,
                7,
                "`chmod u+rwx '/home/me/.local/share'` lets you",
            ),
            (
                path.to_owned(),
                8,
                7,
                "it belongs to user 8, and acp-chain runs as user 7: `chown 7 '/home/me/.local/share'` makes it yours",
            ),
        ] {
            assert_eq!(to_own(&path, owner, us), expected);
        }
        // It is not only ours to give away.
        assert_eq!(step_to_own(Path::new("/")), None);
    }

    #[test]
    fn a_secret_must_be_unreadable_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        fs::write(&path, "").unwrap();
        for (mode, is_secret) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(check_secret(&file, &path).is_ok(), is_secret, "{mode:o}");
        }
        let file = File::open(&path).unwrap();
        let told = check_secret(&file, &path).unwrap_err().to_string();
        assert!(told.contains("`chmod go-rwx "), "{told}");
    }

    #[test]
    fn a_file_that_was_replaced_has_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let (path, next) = (folder.path().join("it"), folder.path().join("next"));
        assert_eq!(Stamp::of(&path), None);
        fs::write(&path, "1").unwrap();
        let first = Stamp::of(&path);
        assert_eq!(first, Stamp::of(&path));
        // Of the same length, and as old.
        fs::write(&next, "2").unwrap();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let opened = File::options().write(true).open(&next).unwrap();
        opened.set_modified(modified).unwrap();
        fs::rename(&next, &path).unwrap();
        assert_ne!(first, Stamp::of(&path));
    }

    #[test]
    fn another_name_of_a_file_is_found_as_deep_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (file, given) = (folder.path().join("file"), folder.path().join("given"));
        fs::create_dir_all(given.join("a/b")).unwrap();
        fs::write(&file, "").unwrap();
        fs::write(given.join("other"), "").unwrap();
        let found = |most| another_name(&file, &given, most).ok().flatten();
        assert_eq!(found(100), None);
        fs::hard_link(&file, given.join("a/b/link")).unwrap();
        assert_eq!(found(100), Some(given.join("a/b/link")));
        assert!(another_name(&file, &given, 2).is_err());
    }
}
