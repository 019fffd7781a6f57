//! A server of `PostgreSQL`, in a temporary folder, reached over a socket there, and if wanted, encrypted over TCP.
//!
//! It refuses to run as root, so root shows it another number for its user, in a user namespace. Files are still those
//! of root there, so its program and its data may be in folders that no other user can read.

#![cfg(unix)]
#![forbid(unsafe_code)]

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// What runs a program as another user by number only: `nobody` and `nogroup` of Debian.
const AS_NOBODY: [&str; 4] = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];

/// Where it listens unless it is told otherwise: a part of the name of its socket.
const PORT: u16 = 5432;

/// Starts a server whose data is on a disk of its own, of 96 MiB, in a namespace that ends with the server.
const ON_SMALL_DISK: &str = r#"
set -e
mount -t tmpfs -o size=96m,mode=0700 none "$1/data"
unshare --user --map-user=65534 --map-group=65534 "$2/initdb" $3 --pgdata "$1/data" > /dev/null
exec unshare --user --map-user=65534 --map-group=65534 \
  "$2/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=off -c jit=off
"#;

/// What `initdb` is told.
const INITDB: [&str; 9] = [
    "--username",
    "chain",
    "--auth",
    "trust",
    "--encoding",
    "UTF8",
    "--locale",
    "C",
    "--no-sync",
];

/// A running server with an empty database.
pub struct Postgres {
    programs: PathBuf,
    settings: Vec<String>,
    folder: TempDir,
    process: Child,
    port: u16,
}

impl Postgres {
    /// Starts a server with these settings, such as `fsync=off`. `programs` has `initdb` and `postgres`. The server
    /// ends when this is dropped.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(programs: &Path, settings: &[&str]) -> io::Result<Self> {
        let mut settings = owned(settings);
        settings.push("listen_addresses=".to_owned());
        Self::start_in(made(programs)?, programs, settings, PORT)
    }

    /// Starts a server that is reached over TCP, too: at 127.0.0.1, encrypted, with this certificate and key (PEM).
    ///
    /// # Errors
    /// If it does not start.
    pub fn encrypted(
        programs: &Path,
        settings: &[&str],
        certificate: &str,
        key: &str,
    ) -> io::Result<Self> {
        let folder = made(programs)?;
        let [certificate_file, key_file] =
            ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        fs::write(&certificate_file, certificate)?;
        fs::write(&key_file, key)?;
        fs::set_permissions(&key_file, Permissions::from_mode(0o600))?;
        // The system does not soon give it to somebody else.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let mut settings = owned(settings);
        settings.extend([
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={port}"),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", certificate_file.display()),
            format!("ssl_key_file={}", key_file.display()),
        ]);
        Self::start_in(folder, programs, settings, port)
    }

    /// Starts a server whose data is on a small disk: see [`fill_disk`](Self::fill_disk). It cannot be started again.
    ///
    /// # Errors
    /// If it does not start.
    pub fn on_small_disk(programs: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("data"))?;
        let process = Command::new(AS_NOBODY[0])
            .args(["--user", "--map-root-user", "--mount"])
            .args(["sh", "-c", ON_SMALL_DISK, "sh"])
            .args([folder.path(), programs])
            .arg(INITDB.join(" "))
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self {
            programs: programs.to_owned(),
            settings: Vec::new(),
            folder,
            process: ready(process, READY)?,
            port: PORT,
        })
    }

    /// Starts an asynchronous standby of this server, which has ended: with a copy of its data, in a folder of its own. It
    /// follows this server while both run, and takes over when it is asked to (`pg_promote`).
    ///
    /// # Errors
    /// If it does not start.
    pub fn standby(&self) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.folder.path().join("data"))
            .arg(folder.path())
            .status()?;
        if !copied.success() {
            return Err(io::Error::other("its data cannot be copied"));
        }
        fs::write(folder.path().join(STANDBY), "")?;
        let mut settings = self.settings.clone();
        settings.push(format!(
            "primary_conninfo=host={} port={} user=chain",
            self.folder.path().display(),
            self.port
        ));
        Self::start_in(folder, &self.programs, settings, self.port)
    }

    fn start_in(
        folder: TempDir,
        programs: &Path,
        settings: Vec<String>,
        port: u16,
    ) -> io::Result<Self> {
        Ok(Self {
            process: run(programs, &settings, folder.path())?,
            programs: programs.to_owned(),
            settings,
            folder,
            port,
        })
    }

    /// The statement that fills the disk of its data, and fails, and one that makes room again.
    #[must_use]
    pub fn fill_disk(&self) -> [String; 2] {
        let file = self.folder.path().join("data/filler");
        let copy = |rows: &str| format!("COPY ({rows}) TO '{}'", file.display());
        [
            copy("SELECT repeat('x', 8000) FROM generate_series(1, 20000)"),
            copy("SELECT 1"),
        ]
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        let name = format!(".s.PGSQL.{}", self.port);
        self.folder.path().join(name)
    }

    /// Where it is reached over TCP, if it is.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of its database.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://chain@{}/postgres", self.host())
    }

    /// The address of its database, or else of another server's.
    #[must_use]
    pub fn url_or(&self, other: &Self) -> String {
        format!("postgres://chain@{},{}/postgres", self.host(), other.host())
    }

    fn host(&self) -> String {
        let folder = self.folder.path().to_string_lossy().replace('/', "%2F");
        format!("{folder}:{}", self.port)
    }

    /// Ends the server at once, as a failure would.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn end(&mut self) {
        // All of its processes end at once.
        self.signal(Signal::QUIT);
        // It may be stopped.
        self.signal(Signal::CONT);
        self.process.wait().expect("it ends");
    }

    /// Starts the server again, with its data.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self) {
        let process = run(&self.programs, &self.settings, self.folder.path());
        self.process = process.expect("it starts");
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

    /// Stops all of its processes, or lets them go on: it answers nothing meanwhile, and ends no connection.
    ///
    /// # Panics
    /// If it has ended.
    pub fn freeze(&self, is_frozen: bool) {
        // It begins no other ones while it is stopped.
        self.pause(true);
        let id = self.process.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let signal = if is_frozen {
            Signal::STOP
        } else {
            Signal::CONT
        };
        for child in children.expect("its processes").split_whitespace() {
            let child = child.parse().ok().and_then(Pid::from_raw);
            // It may just have ended.
            let _ = kill_process(child.expect("an id"), signal);
        }
        self.pause(is_frozen);
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
fn permitted(program: &Path, folder: &Path) -> Command {
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

/// A folder with an empty database.
fn made(programs: &Path) -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let made = permitted(&programs.join("initdb"), folder.path())
        .args(INITDB)
        .arg("--pgdata")
        .arg(folder.path().join("data"))
        .output()?;
    if made.status.success() {
        Ok(folder)
    } else {
        Err(io::Error::other(format!("initdb failed: {made:?}")))
    }
}

fn owned(settings: &[&str]) -> Vec<String> {
    settings.iter().map(ToString::to_string).collect()
}

/// Runs the server, and waits until it can be reached.
fn run(programs: &Path, settings: &[String], folder: &Path) -> io::Result<Child> {
    let mut command = permitted(&programs.join("postgres"), folder);
    command
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    for setting in settings {
        command.args(["-c", setting]);
    }
    let is_standby = folder.join(STANDBY).exists();
    ready(
        command.spawn()?,
        if is_standby { READY_TO_READ } else { READY },
    )
}

/// The file by which a server is a standby.
const STANDBY: &str = "data/standby.signal";

/// What a server logs when it can be reached, and what one does that is a standby.
const READY: &str = "ready to accept connections";
const READY_TO_READ: &str = "ready to accept read-only connections";

/// Waits until a server logs this sign.
fn ready(mut process: Child, sign: &str) -> io::Result<Child> {
    let log = process.stderr.take().expect("it is piped");
    let mut lines = BufReader::new(log).lines();
    let mut told = Vec::new();
    loop {
        let Some(line) = lines.next().transpose()? else {
            let why = format!("PostgreSQL has ended: {told:#?}");
            return Err(io::Error::other(why));
        };
        let is_ready = line.contains(sign);
        told.push(line);
        if is_ready {
            break;
        }
    }
    // A full pipe would stop it.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    Ok(process)
}
