//! A file on a disk that becomes full: a small one, in a namespace of its own.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use std::{env, io};

use acp_chain_store::{Answer, Call, Store};

use super::{LONG, done, embedded, leased, name, registered};

/// The folder of the disk, in the process that has it.
const VARIABLE: &str = "ACP_CHAIN_TEST_DISK";

/// Makes the disk, and runs a program that has it.
const ON_DISK: &str = r#"mount -t tmpfs -o size=512k,mode=0700 none "$0" && exec "$@""#;

/// Starts itself again where there is such a disk.
#[tokio::test]
async fn a_full_disk_is_an_error_until_there_is_room() {
    if let Some(folder) = env::var_os(VARIABLE) {
        return fill_and_empty(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    // The creator of a user namespace may mount what has no device.
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", ON_DISK])
        .arg(folder.path())
        .arg(env::current_exe().unwrap())
        .args([
            "--exact",
            "store::disk::a_full_disk_is_an_error_until_there_is_room",
        ])
        .env(VARIABLE, folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

async fn fill_and_empty(folder: &Path) {
    let mut store = embedded(&folder.join("state"));
    let one = registered(&mut store, "one", LONG).await;
    let filler = folder.join("filler");
    assert_eq!(fill(&filler).unwrap_err().kind(), ErrorKind::StorageFull);
    let beat = Call::Beat {
        holder: one.clone(),
        lease: LONG,
        seen: 0,
    };
    // The first ones have room in pages that are there already.
    let error = loop {
        if let Err(error) = store.carry_out(&beat).await {
            break error.to_string();
        }
    };
    assert!(
        error.contains("serve.db: the disk is full; free some space"),
        "{error}"
    );
    fs::remove_file(&filler).unwrap();
    let beaten = done(&mut store, beat).await;
    assert!(matches!(beaten, Answer::Beaten { .. }), "{beaten:?}");
    leased(&mut store, &name("one", "ann"), &one).await;
}

/// Writes until there is no room.
fn fill(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    loop {
        file.write_all(&[b'x'; 4096])?;
    }
}
