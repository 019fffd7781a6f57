//! A small disk that a test fills: in a namespace of its own, in which the test is started again.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the disk, in the process that has it.
const VARIABLE: &str = "ACP_CHAIN_TEST_DISK";

/// Makes the disk, and runs a program that has it.
const ON_DISK: &str = r#"mount -t tmpfs -o size=512k,mode=0700 none "$0" && exec "$@""#;

/// The folder of a disk of 512 KiB. Where there is none, the test of this name is started again with one, must pass
/// there, and nothing is returned.
///
/// # Panics
/// If the test fails there.
#[must_use]
pub fn small_disk(test: &str) -> Option<PathBuf> {
    if let Some(folder) = env::var_os(VARIABLE) {
        return Some(folder.into());
    }
    let folder = tempfile::tempdir().expect("a folder for the disk");
    // The creator of a user namespace may mount what has no device.
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", ON_DISK])
        .arg(folder.path())
        .arg(env::current_exe().expect("this program"))
        .args(["--exact", test])
        .env(VARIABLE, folder.path())
        .output()
        .expect("unshare runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    None
}

/// Appends to a file until there is no room.
///
/// # Errors
/// Always: that of the disk.
pub fn fill(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    loop {
        file.write_all(&[b'x'; 4096])?;
    }
}
