//! A server of `PostgreSQL` in a folder of the run, which writes to the disk as one in use does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

/// What runs a program as another user by number only, `nobody` and `nogroup` of Debian: the server refuses to run as root.
const AS_NOBODY: [&str; 4] = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];

/// A running server. It ends when this is dropped.
pub struct Postgres {
    folder: PathBuf,
    process: Child,
}

/// How many were started: each has a folder of its own.
static STARTED: AtomicUsize = AtomicUsize::new(0);

impl Postgres {
    /// Starts a server with an empty database. `programs` has `initdb` and `postgres`. The folder is in the system's for
    /// temporary files.
    pub async fn start(programs: &Path) -> Result<Self> {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("acp-chain-bench-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        let mut made = permitted(programs, "initdb", &folder);
        made.args(["--username", "chain", "--auth", "trust", "--encoding"])
            .args(["UTF8", "--locale", "C", "--pgdata"])
            .arg(folder.join("data"))
            .stdout(Stdio::null());
        ensure!(made.status()?.success(), "initdb failed");
        let mut command = permitted(programs, "postgres", &folder);
        command
            .arg("-D")
            .arg(folder.join("data"))
            .arg("-k")
            .arg(&folder)
            .args(["-c", "listen_addresses=", "-c", "max_connections=200"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut command = tokio::process::Command::from(command);
        let mut process = command.kill_on_drop(true).spawn()?;
        let log = process.stderr.take().context("no log")?;
        let mut lines = BufReader::new(log).lines();
        loop {
            let line = lines.next_line().await?;
            let line = line.context("PostgreSQL has ended")?;
            if line.contains("ready to accept connections") {
                break;
            }
        }
        // A full pipe would stop it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { folder, process })
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        let folder = self.folder.to_string_lossy().replace('/', "%2F");
        format!("postgres://chain@{folder}/postgres")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // All of its processes end at once. What they leave is in the system's folder for that.
        let id = self.process.id().and_then(|id| i32::try_from(id).ok());
        if let Some(process) = id.and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::QUIT);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn permitted(programs: &Path, program: &str, folder: &Path) -> Command {
    let program = programs.join(program);
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
