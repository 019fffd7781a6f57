//! A user with settings, data and a folder of their own, and the programs under test.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

/// The extensions that the program under test carries.
const EXTENSIONS: [&str; 2] = ["redact", "todo"];

pub struct User(TempDir);

/// The folder with the programs that were built together with this test: `target/[TARGET/]debug`.
fn built() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}

fn existing(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} was not built", path.display());
    path
}

/// The program without extensions: the one that `ACP_CHAIN_PROGRAM` names, or the one that was built last.
pub fn bare() -> PathBuf {
    let named = env::var_os("ACP_CHAIN_PROGRAM").map(PathBuf::from);
    existing(named.unwrap_or_else(|| built().join(format!("acp-chain{EXE_SUFFIX}"))))
}

/// A component, from the folder that `ACP_CHAIN_COMPONENTS` names, or from `target/components`.
pub fn component(name: &str) -> PathBuf {
    let named = env::var_os("ACP_CHAIN_COMPONENTS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| {
        let test = env::current_exe().unwrap();
        let mut folders = test.ancestors().map(|folder| folder.join("components"));
        let found = folders.find(|folder| folder.is_dir());
        found.expect("`cargo xtask guests` builds components")
    });
    existing(folder.join(name).with_extension("wasm"))
}

/// The agent of the tests.
pub fn agent() -> PathBuf {
    existing(built().join(format!("systems-agent{EXE_SUFFIX}")))
}

/// The program with extensions. The folder is never removed, since no destructor runs for a static.
static INSTALLED: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(format!("acp-chain{EXE_SUFFIX}"));
    let mut bundle = Command::new(bare());
    bundle.arg("bundle").args(EXTENSIONS.map(component));
    succeeds(bundle.arg("--output").arg(&program));
    (folder, program)
});

/// The program as users have it.
pub fn installed() -> &'static Path {
    &INSTALLED.1
}

/// What a command prints, which must succeed.
pub fn succeeds(command: &mut Command) -> String {
    let (is_success, printed) = runs(command);
    assert!(is_success, "{command:?}: {printed}");
    printed
}

/// What a command prints, which must fail.
pub fn fails(command: &mut Command) -> String {
    let (is_success, printed) = runs(command);
    assert!(!is_success, "{command:?}: {printed}");
    printed
}

fn runs(command: &mut Command) -> (bool, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let printed = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    (status.success(), printed)
}

impl User {
    /// A user with empty settings. The folder's name has what names of folders may have.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("a user ü ").tempdir();
        let user = Self(folder.unwrap());
        for folder in ["data", "work"] {
            fs::create_dir(user.path(folder)).unwrap();
        }
        fs::write(user.path("config.toml"), "").unwrap();
        user
    }

    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(path)
    }

    /// Writes a file, and returns its path. A `/` in its name becomes the separator of the system.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = path
            .split('/')
            .fold(self.path(""), |at, name| at.join(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The folder of sessions.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// The log of [`command`](Self::command).
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// A subcommand of the program, with the settings and the data of this user. Its log also has what happens to
    /// compiled code.
    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = self.usual(subcommand);
        command
            .args(["--log", "info,acp_chain_cache=debug"])
            .arg("--log-file")
            .arg(self.path("log"))
            .arg("--settings")
            .arg(self.path("config.toml"))
            .arg("--data")
            .arg(self.path("data"));
        command
    }

    /// A subcommand with the settings and the data in their usual places. These are in the folder of this user, but on
    /// Windows in the user's profile.
    pub fn usual(&self, subcommand: &str) -> Command {
        let mut command = Command::new(installed());
        command
            .arg(subcommand)
            .env_remove("ACP_CHAIN_LOG")
            .env_remove("ACP_CHAIN_TRACE")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CACHE_HOME")
            .current_dir(self.work());
        if cfg!(unix) {
            command.env("HOME", self.0.path());
        }
        command
    }

    /// `acp-chain run` with these options, in front of an agent.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        options: &[&str],
        agent: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = self.command("run");
        command.args(options).arg("--").args(agent);
        command
    }
}
