//! The paths of the checkout, as cargo reports them.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::printed;
use crate::progress::{Progress, Step};

/// The checkout that this program was started in.
pub struct Workspace {
    root: PathBuf,
    target: PathBuf,
    metadata: Value,
    /// What the developer sees of a command.
    pub progress: Progress,
}

/// A member of the workspace whose library is a `cdylib`: a proxy in Rust.
pub struct GuestCrate {
    /// Its package.
    pub package: String,
    /// Its library, by the file name of the core module.
    pub library: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// Its compilation target: `package.metadata.acp-chain.target`, or else the one without an operating system to
    /// import.
    pub target: String,
    /// What it needs of the SDK. Crates are built together only with those that need the same: cargo gives all of them
    /// the features that one needs, and compiles what they share again whenever another set of crates is built.
    pub features: Vec<String>,
}

impl Workspace {
    /// Finds the checkout with cargo, including a target folder from the environment or the configuration.
    pub fn find() -> Result<Self> {
        Self::of(cargo())
    }

    /// A checkout in this folder, with a target folder of its own.
    pub fn at(folder: &Path) -> Result<Self> {
        let mut cargo = cargo();
        cargo.current_dir(folder).env_remove("CARGO_TARGET_DIR");
        Self::of(cargo)
    }

    fn of(mut cargo: Command) -> Result<Self> {
        let metadata = printed(cargo.args(["metadata", "--format-version=1", "--no-deps"]))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let path = |key: &str| -> Result<PathBuf> {
            let path = metadata[key].as_str();
            Ok(path
                .with_context(|| format!("cargo metadata has no {key}"))?
                .into())
        };
        let target = path("target_directory")?;
        Ok(Self {
            root: path("workspace_root")?,
            progress: Progress::new(target.join("xtask/logs")),
            target,
            metadata,
        })
    }

    /// A command of cargo in the checkout, with these words.
    pub fn cargo(&self, words: &str) -> Command {
        let mut cargo = cargo();
        cargo.args(words.split_whitespace()).current_dir(&self.root);
        cargo
    }

    /// Runs a step, and prints how long it took.
    pub fn step<T>(&self, name: &str, work: impl FnOnce(&Step) -> Result<T>) -> Result<T> {
        self.progress.step(name, work)
    }

    /// Runs a program as a step.
    pub fn run(&self, name: &str, command: &mut Command) -> Result<()> {
        self.step(name, |step| step.run(command))
    }

    /// A path in the checkout.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// A command of cargo that builds with the profile `dist`, with the same bytes wherever the checkout is. All such
    /// commands have the same options, so that they share what they build.
    pub fn distributed(&self, words: &str) -> Command {
        let (root, target) = (self.root.display(), self.target.display());
        let folders = [
            format!("--remap-path-prefix={root}=/acp-chain"),
            format!("--remap-path-prefix={target}=/acp-chain/target"),
        ];
        let options: Vec<_> = same_home().into_iter().chain(folders).collect();
        let mut cargo = self.cargo(words);
        cargo.args(["--profile", "dist"]);
        cargo.env("CARGO_ENCODED_RUSTFLAGS", options.join("\u{1f}"));
        // Of a copy, it is in the copy.
        cargo.env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// A path in the target folder, which holds everything that is built or fetched.
    pub fn target(&self, path: impl AsRef<Path>) -> PathBuf {
        self.target.join(path)
    }

    /// The commit that is checked out, marked if files have changed, and its day; `None` without git.
    pub fn commit(&self) -> Option<String> {
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            let output = git.args(args).current_dir(&self.root).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let name = git(&["describe", "--always", "--dirty", "--exclude=*"])?;
        let day = git(&["show", "--no-patch", "--format=%cs", "HEAD"])?;
        Some(format!("{name} of {day}"))
    }

    /// The cache of what a toolchain compiles for every project, such as a standard library. The tests use it, too.
    pub fn compiled(&self, toolchain: &str) -> PathBuf {
        self.target("test-toolchains").join(toolchain)
    }

    /// The name of a path within the target folder.
    pub fn name_in_target(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.target).unwrap_or(path);
        name.display().to_string()
    }

    /// The proxies in Rust, anywhere in the workspace.
    pub fn guest_crates(&self) -> Vec<GuestCrate> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut crates = Vec::new();
        for package in list(&self.metadata["packages"]) {
            let targets = list(&package["targets"]);
            let library = targets
                .iter()
                .find(|target| list(&target["crate_types"]).contains(&"cdylib".into()));
            if let (Some(library), Some(name), Some(manifest)) = (
                library.and_then(|target| target["name"].as_str()),
                package["name"].as_str(),
                package["manifest_path"].as_str(),
            ) {
                crates.push(GuestCrate {
                    package: name.to_owned(),
                    library: library.replace('-', "_"),
                    folder: Path::new(manifest).with_file_name(""),
                    target: package["metadata"]["acp-chain"]["target"]
                        .as_str()
                        .unwrap_or("wasm32-unknown-unknown")
                        .to_owned(),
                    features: features_of_sdk(&package),
                });
            }
        }
        crates
    }
}

/// The features of the SDK that a package enables.
fn features_of_sdk(package: &Value) -> Vec<String> {
    let mut dependencies = package["dependencies"].as_array().into_iter().flatten();
    let sdk = dependencies.find(|it| it["name"] == "acp-chain-proxy" && it["kind"].is_null());
    let features = sdk.and_then(|sdk| sdk["features"].as_array());
    let names = features.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// The cargo that runs this program, for a command in the checkout.
pub fn cargo() -> Command {
    starting(&env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The option that gives cargo's folder the same name in messages of panics everywhere, so that all builds have the
/// same bytes.
pub fn same_home() -> Option<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")))?;
    Some(format!("--remap-path-prefix={}=/cargo", home.display()))
}

/// A program that starts cargo, without the variables that our own cargo sets for our package: ring's build script
/// reads them, and would rebuild half the workspace whenever they change.
pub fn starting(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}
