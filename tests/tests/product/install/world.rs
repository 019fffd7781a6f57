//! A user with their own home and a project.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use acp_chain::extension::{Digest, Lock, Locked};
use acp_chain_package::{About, Asks, Package, RequestedPower, Version};
use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;
use tempfile::TempDir;

pub struct World {
    home: TempDir,
    environment: BTreeMap<&'static str, String>,
    /// The program to run.
    pub program: PathBuf,
}

impl World {
    /// A project whose manifest has a comment, and an agent.
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        let world = Self {
            home,
            environment: BTreeMap::new(),
            program: host::program(),
        };
        fs::write(world.manifest(), "# Ours.\n[agent]\ncommand = \"agent\"\n").unwrap();
        world
    }

    /// Sets a variable for later commands.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.environment.insert(name, value.into());
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn manifest(&self) -> PathBuf {
        self.path("project/acp-chain.toml")
    }

    pub fn manifest_text(&self) -> String {
        fs::read_to_string(self.manifest()).unwrap()
    }

    pub fn lock(&self) -> Lock {
        Lock::read(&self.path("project/acp-chain.lock")).unwrap()
    }

    pub fn locked(&self, name: &str) -> Locked {
        self.lock()
            .get(name)
            .cloned()
            .unwrap_or_else(|| panic!("{name} is not locked"))
    }

    pub fn components(&self) -> Vec<PathBuf> {
        let folder = self.path(".local/share/acp-chain/extensions/sha256");
        let files = fs::read_dir(folder).map(Iterator::collect::<Vec<_>>);
        files
            .unwrap_or_default()
            .into_iter()
            .map(|file| file.unwrap().path())
            .collect()
    }

    /// Writes an extension beside the project.
    pub fn package(&self, file: &str, name: &str, version: &str, powers: &[&str]) -> PathBuf {
        let path = self.path(file);
        fs::write(&path, package(name, version, powers)).unwrap();
        path
    }

    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("XDG_CACHE_HOME", host::cache())
            .envs(&self.environment)
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command about the project, without a terminal.
    pub fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.command(&self.program);
        command.args(args);
        if !matches!(args[0], "gc" | "publish") {
            command.arg("--manifest").arg(self.manifest());
        }
        CommandOutput::from(command.output().unwrap())
    }

    /// Runs a command about the user's own chain.
    pub fn run_own(&self, args: &[&str]) -> CommandOutput {
        CommandOutput::from(self.command(&self.program).args(args).output().unwrap())
    }

    /// The output of a command about the project, which must succeed.
    pub fn do_run(&self, args: &[&str]) -> String {
        self.run(args).of_success(args)
    }

    /// The error of a command about the project, which must fail.
    pub fn fail(&self, args: &[&str]) -> String {
        self.run(args).of_failure(args)
    }
}

/// An extension that forwards everything.
pub fn package(name: &str, version: &str, powers: &[&str]) -> Vec<u8> {
    written(&described(name, version, powers))
}

/// One whose package says that it is a guard.
pub fn guard(name: &str, version: &str) -> Vec<u8> {
    let mut package = described(name, version, &["prompts.read"]);
    package.asks.guard = true;
    written(&package)
}

fn written(package: &Package) -> Vec<u8> {
    let component = fs::read(host::component("pass")).unwrap();
    package.write(&component).unwrap()
}

fn described(name: &str, version: &str, powers: &[&str]) -> Package {
    let asked = powers.iter().map(|power| RequestedPower {
        power: (*power).to_owned(),
        reason: format!("It cannot do without {power}."),
    });
    Package {
        name: name.to_owned(),
        version: Version::parse(version).unwrap(),
        about: About {
            description: Some("Passes everything on".to_owned()),
            ..About::default()
        },
        asks: Asks {
            powers: asked.collect(),
            ..Asks::default()
        },
        imports: Vec::new(),
        exports: Vec::new(),
        draft: false,
    }
}

pub fn digest(path: &Path) -> Digest {
    Digest::of(&fs::read(path).unwrap())
}
