//! A server of `PostgreSQL` in a folder of the run, which writes to the disk as one in use does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

/// What runs a program as another user by number only, `nobody` and `nogroup` of Debian: the server refuses to run as root.
const AS_NOBODY: [&str; 4] = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];

/// How many connections it admits: those of all replicas.
const CONNECTIONS: &str = "max_connections=200";

/// A running server. It ends when this is dropped.
pub struct Postgres {
    programs: PathBuf,
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
        Ok(Self {
            programs: programs.to_owned(),
            process: run(programs, &folder).await?,
            folder,
        })
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        let folder = self.folder.to_string_lossy().replace('/', "%2F");
        format!("postgres://chain@{folder}/postgres")
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Kills all of its processes.
    pub async fn kill(&mut self) -> Result<()> {
        let children = self.children()?;
        signal(&self.process, Signal::KILL)?;
        for child in children {
            // It may have ended with the first.
            let _ = kill_process(child, Signal::KILL);
        }
        self.process.wait().await?;
        Ok(())
    }

    /// Starts the server again, with its data.
    pub async fn start_again(&mut self) -> Result<()> {
        self.process = run(&self.programs, &self.folder).await?;
        Ok(())
    }

    /// Stops all of its processes, or lets them go on: it answers nothing meanwhile, and ends no connection.
    pub fn freeze(&self, is_frozen: bool) -> Result<()> {
        // It begins no other ones while it is stopped.
        signal(&self.process, Signal::STOP)?;
        let sent = if is_frozen {
            Signal::STOP
        } else {
            Signal::CONT
        };
        for child in self.children()? {
            // It may just have ended.
            let _ = kill_process(child, sent);
        }
        signal(&self.process, sent)
    }

    /// Keeps a copy of the data of a server that has ended, as a backup does.
    pub fn back_up(&self) -> Result<()> {
        self.copy("data", "backup")
    }

    /// Has the next start recover that copy, as from an archive that lacks what came after.
    pub fn restore(&self) -> Result<()> {
        fs::remove_dir_all(self.folder.join("data"))?;
        self.copy("backup", "data")?;
        fs::write(self.folder.join("data/recovery.signal"), "")?;
        Ok(())
    }

    fn copy(&self, from: &str, to: &str) -> Result<()> {
        let mut copying = Command::new("cp");
        let copied = copying.current_dir(&self.folder).args(["-a", from, to]);
        ensure!(copied.status()?.success(), "cp failed");
        Ok(())
    }

    fn children(&self) -> Result<Vec<Pid>> {
        let id = self.process.id().context("the database has ended")?;
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
        let ids = children.split_whitespace();
        Ok(ids
            .filter_map(|id| id.parse().ok().and_then(Pid::from_raw))
            .collect())
    }
}

/// Sends a signal to a process that was not waited for.
pub fn signal(process: &Child, signal: Signal) -> Result<()> {
    let id = process.id().and_then(|id| i32::try_from(id).ok());
    let id = id.and_then(Pid::from_raw).context("it has ended")?;
    Ok(kill_process(id, signal)?)
}

/// Runs the server, and waits until it can be reached.
async fn run(programs: &Path, folder: &Path) -> Result<Child> {
    let mut command = permitted(programs, "postgres", folder);
    command
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .args(["-c", "listen_addresses=", "-c", CONNECTIONS])
        // Of a recovery: the archive has nothing more.
        .args(["-c", "restore_command=false"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut process = tokio::process::Command::from(command)
        .kill_on_drop(true)
        .spawn()?;
    let log = process.stderr.take().context("no log")?;
    let mut lines = BufReader::new(log).lines();
    let mut last = String::new();
    loop {
        let Some(line) = lines.next_line().await? else {
            bail!("PostgreSQL has ended: {last}");
        };
        if line.contains("ready to accept connections") {
            break;
        }
        last = line;
    }
    // A full pipe would stop it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Ok(process)
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // All of its processes end at once, also if they are stopped. What they leave is in the system's folder for that.
        let _ = self.freeze(false);
        let _ = signal(&self.process, Signal::QUIT);
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
