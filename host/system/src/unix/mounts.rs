//! Where file systems are mounted, from Linux's `/proc`. Unknown on other systems.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// File systems that the kernel generates: processes with their memory, devices, its own settings.
const MADE_UP: &str = "\
    binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl mqueue proc pstore rpc_pipefs \
    securityfs selinuxfs sysfs tracefs";

/// File systems of other machines.
const REMOTE: &str = "\
    afs beegfs ceph cifs coda davfs fuse.ceph fuse.davfs fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs glusterfs gpfs \
    lustre ncpfs nfs nfs4 orangefs pvfs2 smb3 smbfs";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub path: PathBuf,
    /// Its type, such as `ext4`.
    pub kind: String,
}

impl Mount {
    /// Whether the kernel generates its files.
    pub fn is_made_up(&self) -> bool {
        MADE_UP.split(' ').any(|kind| kind == self.kind)
    }

    /// Whether its files are on another machine.
    pub fn is_remote(&self) -> bool {
        REMOTE.split(' ').any(|kind| kind == self.kind)
    }
}

/// The file system that a path is on; of what does not exist yet, the nearest folder above it counts.
pub fn of(path: &Path) -> Option<Mount> {
    let mut all = path.ancestors();
    let there = all.find_map(|above| above.canonicalize().ok())?;
    within(&there).0
}

/// The file systems mounted below a directory, and the one that it is on. The path has no links.
pub fn within(directory: &Path) -> (Option<Mount>, Vec<Mount>) {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    sort(&table, directory)
}

fn sort(table: &[u8], directory: &Path) -> (Option<Mount>, Vec<Mount>) {
    let mounts = table.split(|byte| *byte == b'\n').filter_map(mount);
    // Of several mounts at the same path, the last is visible.
    let (mut on, mut below) = (None::<Mount>, Vec::<Mount>::new());
    for mount in mounts {
        if directory.starts_with(&mount.path) {
            if on
                .as_ref()
                .is_none_or(|on| mount.path.starts_with(&on.path))
            {
                on = Some(mount);
            }
        } else if mount.path.starts_with(directory) {
            below.retain(|other| other.path != mount.path);
            below.push(mount);
        }
    }
    (on, below)
}

/// A line of `/proc/PID/mountinfo`: the fifth field is the mount point, and the type comes after a `-`.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let path = unescape(fields.nth(4)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    Some(Mount {
        path: OsString::from_vec(path).into(),
        kind: String::from_utf8_lossy(kind).into_owned(),
    })
}

/// Spaces, tabs, line breaks and backslashes are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|_| *first == b'\\');
        let code =
            digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        match code {
            Some(code) => {
                plain.push(code);
                rest = &after[3..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"1 0 8:1 / / rw - ext4 /dev/a rw\n\
        2 1 0:5 / /proc rw,nosuid shared:3 master:1 - proc proc rw\n\
        3 1 8:2 / /a\\040b rw - vfat /dev/b rw\n\
        4 3 8:3 / /a\\040b/c rw - nfs4 host:/x rw\n\
        nonsense\n";

    fn seen(directory: &str) -> (String, Vec<(String, String)>) {
        let (on, below) = sort(TABLE, Path::new(directory));
        let below = below.into_iter();
        let below = below.map(|mount| (mount.path.display().to_string(), mount.kind));
        (on.map(|on| on.kind).unwrap_or_default(), below.collect())
    }

    #[test]
    fn a_directory_is_on_the_nearest_file_system_above_it() {
        assert_eq!(seen("/home"), ("ext4".to_owned(), vec![]));
        assert_eq!(seen("/a b/c/d").0, "nfs4");
        assert_eq!(seen("/a bc").0, "ext4");
    }

    #[test]
    fn mounts_below_a_directory_are_found() {
        let below = vec![("/a b/c".to_owned(), "nfs4".to_owned())];
        assert_eq!(seen("/a b"), ("vfat".to_owned(), below));
        assert_eq!(seen("/").1.len(), 3);
    }

    #[test]
    fn file_systems_of_other_machines_are_recognized() {
        let (_, below) = sort(TABLE, Path::new("/"));
        let remote = below.iter().filter(|mount| mount.is_remote());
        let kinds: Vec<_> = remote.map(|mount| &*mount.kind).collect();
        assert_eq!(kinds, ["nfs4"]);
    }

    #[test]
    fn what_does_not_exist_yet_is_on_the_file_system_of_the_folder_above() {
        let folder = tempfile::tempdir().unwrap();
        let (own, later) = (of(folder.path()), of(&folder.path().join("a/b")));
        assert_eq!(own, later);
        assert_eq!(own.is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn generated_file_systems_are_recognized() {
        let (_, below) = sort(TABLE, Path::new("/"));
        let made_up = below.iter().filter(|mount| mount.is_made_up());
        assert_eq!(made_up.count(), 1);
    }
}
