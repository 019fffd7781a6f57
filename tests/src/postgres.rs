//! A server of `PostgreSQL`, in a temporary folder, reached over a socket there.
//!
//! It refuses to run as root, so tests that do show it another number for their user, in a user namespace. Files are still
//! those of root there, so its program and its data may be in folders that nobody else can read.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::host::peer;

/// What runs a program as another user by number only: `nobody` and `nogroup` of Debian.
const AS_NOBODY: [&str; 4] = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];

/// A running server with an empty database.
pub struct Postgres {
    folder: TempDir,
    process: Child,
}

impl Postgres {
    /// Starts a server. It ends when this is dropped.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let made = permitted("initdb", folder.path())
            .args([
                "--username",
                "chain",
                "--auth",
                "trust",
                "--encoding",
                "UTF8",
            ])
            .args(["--locale", "C", "--no-sync", "--pgdata"])
            .arg(folder.path().join("data"))
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "{made:?}");
        let process = run(folder.path());
        Self { folder, process }
    }

    /// The address of its database.
    #[must_use]
    pub fn url(&self) -> String {
        let folder = self.folder.path().to_str().expect("a path is text");
        format!("postgres://chain@{}/postgres", folder.replace('/', "%2F"))
    }

    /// Ends the server at once, as a failure would.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn end(&mut self) {
        // All of its processes end at once.
        self.signal(Signal::QUIT);
        self.process.wait().expect("it ends");
    }

    /// Starts the server again, with its data.
    pub fn start_again(&mut self) {
        self.process = run(self.folder.path());
    }

    /// Keeps a copy of the data of a server that has ended, as a backup does.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn back_up(&self) {
        self.copy("data", "backup");
    }

    /// Has the next start recover that copy, as from an archive that lacks what came after.
    ///
    /// # Panics
    /// If there is no copy.
    pub fn restore(&self) {
        fs::remove_dir_all(self.folder.path().join("data")).expect("its data");
        self.copy("backup", "data");
        let signal = self.folder.path().join("data/recovery.signal");
        fs::write(&signal, "").expect("a file in its data");
    }

    fn copy(&self, from: &str, to: &str) {
        let copied = Command::new("cp")
            .current_dir(self.folder.path())
            .args(["-a", from, to])
            .status();
        assert!(copied.expect("cp runs").success());
    }

    /// Stops the server's main process, or lets it go on: it accepts no connection meanwhile.
    ///
    /// # Panics
    /// If it has ended.
    pub fn pause(&self, is_paused: bool) {
        self.signal(if is_paused {
            Signal::STOP
        } else {
            Signal::CONT
        });
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.process);
        kill_process(id, signal).expect("it runs");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// A program of `PostgreSQL`, as a user that it permits, in this folder.
fn permitted(program: &str, folder: &Path) -> Command {
    let program = peer("bin").join(program);
    let mut command = if geteuid().is_root() {
        let mut command = Command::new(AS_NOBODY[0]);
        command.args(&AS_NOBODY[1..]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C");
    command
}

/// Runs the server, and waits until it can be reached.
fn run(folder: &Path) -> Child {
    let mut process = permitted("postgres", folder)
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .args([
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
            "-c",
            "jit=off",
            // Of a recovery: the archive has nothing more.
            "-c",
            "restore_command=false",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("postgres runs");
    let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
    let mut told = Vec::new();
    loop {
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("it has ended: {told:#?}"));
        told.push(line.expect("its log is text"));
        if told
            .iter()
            .any(|line| line.contains("ready to accept connections"))
        {
            break;
        }
    }
    // A full pipe would stop it.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    process
}
