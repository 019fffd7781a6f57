//! What a process can still do after giving up its rights. Since that is for good, it is a separate process: this test
//! binary again, with one test and a variable.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use rustix::net::{SendFlags, Shutdown, sendto, shutdown};
use rustix::process::{Pid, Signal, getppid, kill_process};

use super::super::directory::Directory;
use super::*;

/// The variable with the folder of the separate process.
const FOLDER: &str = "ACP_CHAIN_TEST_RIGHTS";

/// The test that runs in the separate process.
const ATTEMPTS: &str = "unix::rights::tests::attempts";

#[test]
fn rights_that_were_given_up_are_denied_and_others_work() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["read", "write", "clear", "outside"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("file"), name).unwrap();
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    fs::write(
        folder.path().join("port"),
        listener.local_addr().unwrap().port().to_string(),
    )
    .unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", ATTEMPTS, "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    drop(socket);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("1 passed"), "{said}{errors}");
}

#[test]
#[ignore = "it gives up the rights of its process, so it needs a separate one"]
fn attempts() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let folder = folder.as_path();
    let port: u16 = fs::read_to_string(folder.join("port"))
        .unwrap()
        .parse()
        .unwrap();
    let open = File::open(folder.join("outside/file")).unwrap();
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let [read, write, clear] =
        ["read", "write", "clear"].map(|name| Directory::open(&folder.join(name)).unwrap());
    // The harness has its own thread, which keeps its right to open files: that is reported.
    let given_up = give_up(&[(&read, false), (&write, true)], Some(&clear));
    assert_eq!(given_up.calls, Ok(()));
    assert_eq!(
        given_up.files,
        Err("1 other threads were running".to_owned())
    );
    keeps(folder, open);
    loses(folder, port);
    connects_by_sending(&listener, port);
    // A new thread has no more rights.
    let folder = folder.to_owned();
    thread::spawn(move || loses(&folder, port)).join().unwrap();
    ours.write_all(b"still open").unwrap();
    drop(ours);
    let mut said = String::new();
    theirs.read_to_string(&mut said).unwrap();
    assert_eq!(said, "still open");
}

fn keeps(folder: &Path, mut open: File) {
    assert_eq!(
        fs::read_to_string(folder.join("read/file")).unwrap(),
        "read"
    );
    let written = folder.join("write/deep");
    fs::create_dir(&written).unwrap();
    fs::write(written.join("new"), "new").unwrap();
    fs::rename(written.join("new"), folder.join("write/moved")).unwrap();
    fs::remove_file(folder.join("write/moved")).unwrap();
    fs::remove_dir(&written).unwrap();
    fs::remove_file(folder.join("clear/file")).unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    assert_eq!(text, "outside");
}

fn loses(folder: &Path, port: u16) {
    refused(File::open(folder.join("outside/file")));
    refused(File::open("/proc/self/mem"));
    refused(File::open("/etc/passwd"));
    refused(fs::read_dir(folder));
    refused(fs::write(folder.join("new"), ""));
    refused(fs::write(folder.join("read/file"), ""));
    refused(fs::write(folder.join("read/new"), ""));
    refused(fs::write(folder.join("clear/new"), ""));
    refused(fs::read_dir(folder.join("clear")));
    refused(fs::rename(
        folder.join("write/file"),
        folder.join("read/file"),
    ));
    refused(fs::hard_link(
        folder.join("outside/file"),
        folder.join("write/link"),
    ));
    refused(Command::new("/bin/true").status());
    refused(TcpStream::connect(("127.0.0.1", port)));
    refused(TcpListener::bind("127.0.0.1:0"));
    refused(UdpSocket::bind("127.0.0.1:0"));
    refused(UnixStream::connect(folder.join("socket")));
    refused(UnixListener::bind(folder.join("write/socket")));
    refused(kill_process(parent(), Signal::CONT).map_err(io::Error::from));
}

/// A listening socket cannot connect by sending, either.
fn connects_by_sending(listener: &TcpListener, port: u16) {
    let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    shutdown(listener, Shutdown::Both).unwrap();
    for flags in [libc::MSG_FASTOPEN.cast_unsigned(), 0] {
        let flags = SendFlags::from_bits_retain(flags);
        refused(sendto(listener, b"it is out", flags, &to).map_err(io::Error::from));
    }
}

fn parent() -> Pid {
    getppid().unwrap()
}

#[track_caller]
fn refused<T>(attempt: io::Result<T>) {
    let error = attempt.err().expect("it is refused");
    // `CrossesDevices` is Landlock's error for links and moves between directories.
    let kinds = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::CrossesDevices,
    ];
    assert!(kinds.contains(&error.kind()), "{error}");
}
