//! The project of an author who has acp-chain and the toolchains of our own proxies.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;

use acp_chain_tests::host;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::Mutex;

/// The name of every project here.
pub const NAME: &str = "tried";

/// A project in its own folder.
pub struct Project {
    world: TempDir,
    path: OsString,
}

/// A folder with an `asc` that takes half of a processor's time, for the same bytes: most of its work is done by Binaryen,
/// which is WebAssembly, and V8 would spend as much on optimising that as the whole build takes without. There is none if
/// this Node has no such option.
static ASC: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    const OPTION: &str = "--liftoff-only";
    let mut node = std::process::Command::new("node");
    let asked = node.args([OPTION, "--version"]).output();
    if !asked.is_ok_and(|asked| asked.status.success()) {
        return None;
    }
    let folder = host::compiled("assemblyscript");
    fs::create_dir_all(&folder).unwrap();
    let asc = host::toolchain("assemblyscript/node_modules/assemblyscript/bin/asc.js");
    let script = format!("#!/bin/sh\nexec node {OPTION} '{}' \"$@\"\n", asc.display());
    host::executable(&folder.join("asc"), script).unwrap();
    Some(folder)
});

/// Gives a crate the dependency versions of this checkout, and what cargo has compiled of the SDK for another one.
pub fn share(folder: &Path) {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    date(folder.join("sdk"));
}

/// Gives all files of an SDK the time of the program that they came with. Cargo takes the SDKs of all projects for the
/// same crates, so it compiles them once, and again when the program is newer than that.
fn date(sdk: PathBuf) {
    let program = fs::metadata(host::program()).unwrap().modified().unwrap();
    let mut folders = vec![sdk];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let file = File::options().append(true).open(path).unwrap();
                file.set_modified(program).unwrap();
            }
        }
    }
}

/// The output of a command.
#[derive(Debug)]
pub struct CommandOutput {
    pub is_success: bool,
    pub out: String,
    pub err: String,
}

impl Project {
    /// Creates a project.
    pub async fn new(lang: &str, template: &str) -> Self {
        let project = Self::none();
        let said = project
            .acp_chain(&["new", NAME, "--lang", lang, "--template", template], "..")
            .await;
        assert!(said.is_success, "{said:?}");
        if lang == "rust" {
            share(&project.path(""));
        }
        project
    }

    /// An author without a project.
    pub fn none() -> Self {
        let world = tempfile::tempdir().unwrap();
        let toolchains = [
            "javascript/node_modules/.bin",
            "assemblyscript/node_modules/.bin",
            "python/bin",
            "c/bin",
            "go/bin",
        ];
        let toolchains = toolchains.map(host::toolchain);
        let path = env::var_os("PATH").unwrap();
        let asc = ASC.iter().cloned();
        let all = asc.chain(toolchains).chain(env::split_paths(&path));
        Self {
            world,
            path: env::join_paths(all).unwrap(),
        }
    }

    /// Limits the author's `PATH` to this folder.
    pub fn finds_only(&mut self, folder: &Path) {
        self.path = folder.into();
    }

    /// The author's `PATH`.
    pub fn search_path(&self) -> &OsStr {
        &self.path
    }

    /// The author's home folder.
    pub fn home(&self) -> PathBuf {
        self.world.path().join("home")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.world.path().join(NAME).join(name)
    }

    /// Replaces a text in a file of the project.
    pub fn change(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(self.path(file), text.replace(from, to)).unwrap();
    }

    /// Makes the component export these worlds in place of `tool-proxy`.
    pub fn serves(&self, worlds: &[&str]) {
        let worlds = worlds.join("@0.1.2;\n  include acp-chain:proxy/");
        self.change("wit/world.wit", "tool-proxy", &worlds);
    }

    /// A command in the project, or beside it.
    pub fn command(&self, program: &str, folder: &str) -> Command {
        let mut command = match program {
            "acp-chain" => Command::new(host::program()),
            other => Command::new(other),
        };
        command
            .env("PATH", &self.path)
            // The settings of the user who runs the tests do not count.
            .env("XDG_CONFIG_HOME", self.world.path().join("config"))
            .env("XDG_DATA_HOME", self.world.path().join("data"))
            // Later commands and the test's chain reuse the compiled components.
            .env("XDG_CACHE_HOME", host::cache())
            .env("CARGO_TARGET_DIR", host::compiled("rust"))
            .env("CARGO_NET_OFFLINE", "true")
            // A project is deleted after its test and never built incrementally.
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("ZIG_GLOBAL_CACHE_DIR", host::compiled("zig"))
            .env("GOCACHE", host::compiled("go"))
            .env("GOPROXY", "off")
            .current_dir(self.world.path().join(NAME).join(folder));
        command
    }

    /// Runs `acp-chain`.
    pub async fn acp_chain(&self, args: &[&str], folder: &str) -> CommandOutput {
        let mut command = self.command("acp-chain", folder);
        // The project may not exist yet.
        if folder == ".." {
            command.current_dir(self.world.path());
        }
        let output = command.args(args).output().await.unwrap();
        let world = self.world.path().display().to_string();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&world, "WORLD");
        CommandOutput {
            is_success: output.status.success(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Builds the project. Returns the component.
    pub async fn build(&self) -> PathBuf {
        // Rust projects share cargo's target folder, in which they all have the same name.
        static ALONE: Mutex<()> = Mutex::const_new(());
        let mut _alone = None;
        if self.path("Cargo.toml").exists() {
            _alone = Some(ALONE.lock().await);
            // Cargo takes them for one package, and another project's output may be newer than these sources.
            let source = File::options().append(true).open(self.path("src/lib.rs"));
            source.unwrap().set_modified(SystemTime::now()).unwrap();
        }
        let said = self.acp_chain(&["build"], ".").await;
        assert!(said.is_success, "{said:?}");
        self.path(&format!("build/{NAME}.wasm"))
    }

    /// Tests the built component with the project's own transcripts.
    pub async fn passes_its_tests(&self) {
        let said = self.acp_chain(&["test"], ".").await;
        assert!(said.is_success, "{said:?}");
        assert!(
            said.out.ends_with("1 transcript, all as written\n"),
            "{said:?}"
        );
    }

    /// Builds the project, which must fail. Returns the error.
    pub async fn refused(&self) -> String {
        let said = self.acp_chain(&["build"], ".").await;
        assert!(!said.is_success && said.out.is_empty(), "{said:?}");
        said.err
    }
}
