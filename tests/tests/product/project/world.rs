//! A user with their own home, and a repository in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use acp_chain_package::{About, Asks, Package, RequestedPower, Version};
use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;
use acp_chain_tests::terminal::Terminal;
use serde_json::Value;
use tempfile::TempDir;

pub struct World {
    home: TempDir,
    /// The root of the repository.
    pub root: PathBuf,
    /// The program to run.
    pub program: PathBuf,
}

impl World {
    /// A repository without a project.
    pub fn new() -> Self {
        Self::at("work")
    }

    /// The same, in a folder of this name.
    pub fn at(name: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(root.join(".git")).unwrap();
        Self {
            home,
            root,
            program: host::program(),
        }
    }

    /// A repository whose project has a component of its own, at `tools/shout.wasm`.
    pub fn shouting() -> Self {
        let world = Self::new();
        world.component("tools/shout.wasm");
        world.manifest(SHOUT);
        world
    }

    /// Makes the project use an installed extension, with a lock that grants more than the extension asks for.
    pub fn locked(&self) {
        let component = fs::read(host::component("shout-rust")).unwrap();
        let digest = acp_chain::extension::Digest::of(&component);
        let store = self.home().join(".local/share/acp-chain/extensions");
        let store = acp_chain::extension::Store::open(&store);
        store.change().unwrap().add(&component).unwrap();
        self.manifest("[[proxy]]\nuse = \"it\"\n");
        let lock = format!(
            "version = 1\n[[extension]]\nname = \"it\"\n[extension.agreed]\nsource = \"ghcr.io/someone/it:1\"\n\
             digest = \"{digest}\"\nsize = {}\nwit = \"0.1.0\"\nimports = []\n\
             powers = [\"prompts.read\", \"terminals.run\", \"files.write\"]\n",
            component.len()
        );
        fs::write(self.path("acp-chain.lock"), lock).unwrap();
    }

    pub fn home(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn manifest(&self, text: &str) {
        fs::write(self.path("acp-chain.toml"), text).unwrap();
    }

    /// The user's processes that run a subcommand.
    pub fn processes(&self, subcommand: &str) -> Vec<u32> {
        let home = format!("HOME={}", self.home().display());
        let processes = fs::read_dir("/proc").unwrap();
        let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter(|id: &u32| {
            let has = |file: &str, word: &str| {
                let words = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
                words
                    .split(|byte| *byte == 0)
                    .any(|one| one == word.as_bytes())
            };
            has("cmdline", subcommand) && has("environ", &home)
        })
        .collect()
    }

    /// Puts a proxy that changes prompts at this place of the project.
    pub fn component(&self, name: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(host::component("shout-rust"), path).unwrap();
    }

    /// Builds this extension into the program. It asks for these powers.
    pub fn carry(&mut self, name: &str, powers: &[&str]) {
        let asked = powers.iter().map(|power| RequestedPower {
            power: (*power).to_owned(),
            reason: format!("It cannot do without {power}."),
        });
        let schema = serde_json::json!({
            "type": "object",
            "properties": { "lenient": { "type": "boolean", "default": false } },
        });
        let asks = Asks {
            powers: asked.collect(),
            config: schema.as_object().cloned(),
            ..Asks::default()
        };
        self.carry_asking(name, asks);
    }

    /// The same with an extension that asks for these terms.
    pub fn carry_asking(&mut self, name: &str, asks: Asks) {
        let package = Package {
            name: name.to_owned(),
            version: Version::new(1, 0, 0),
            about: About::default(),
            asks,
            imports: Vec::new(),
            exports: Vec::new(),
            draft: false,
        };
        let component = fs::read(host::component("pass")).unwrap();
        let file = self.home().join("extension.wasm");
        fs::write(&file, package.write(&component).unwrap()).unwrap();
        let program = self.home().join("acp-chain");
        let mut bundle = Command::new(host::program());
        let bundle = bundle
            .arg("bundle")
            .arg(&file)
            .arg("--output")
            .arg(&program);
        let bundled = CommandOutput::from(bundle.output().unwrap());
        assert!(bundled.is_success, "{bundled:?}");
        self.program = program;
    }

    /// A subcommand, started in the repository.
    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(subcommand)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(&self.root)
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.command(args[0]);
        CommandOutput::from(command.args(&args[1..]).output().unwrap())
    }

    /// The output of a command, which must succeed.
    pub fn do_run(&self, args: &[&str]) -> String {
        self.run(args).of_success(args)
    }

    /// The error of a command, which must fail.
    pub fn fail(&self, args: &[&str]) -> String {
        self.run(args).of_failure(args)
    }

    /// Runs `acp-chain trust` in a terminal in which the user types this line. Returns whether it succeeded, and the
    /// content of the terminal.
    pub fn typed(&self, line: &str) -> (bool, String) {
        let command = self.command("trust");
        Terminal::open().unwrap().run(command, line).unwrap()
    }

    /// The key of the project's current content.
    pub fn key(&self) -> String {
        let shown = self.do_run(&["trust", "--show", "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["key"].as_str().unwrap().to_owned()
    }

    /// Agrees to the project's current content.
    pub fn trust(&self) -> String {
        let key = self.key();
        self.do_run(&["trust", "--digest", &key]);
        key
    }

    /// The locator's answers for these working directories.
    pub fn located(&self, folders: &[&Path]) -> Vec<Value> {
        let mut command = self.command("find-projects");
        let mut running = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = running.stdin.take().unwrap();
        let mut output = std::io::BufReader::new(running.stdout.take().unwrap());
        let mut all = Vec::new();
        for (number, folder) in folders.iter().enumerate() {
            input.write_all(&lookup(number as u64, folder)).unwrap();
            let mut line = String::new();
            std::io::BufRead::read_line(&mut output, &mut line).unwrap();
            all.push(serde_json::from_str(&line).unwrap());
        }
        drop(input);
        assert!(running.wait().unwrap().success());
        all
    }

    /// The locator's answer for the repository.
    pub fn located_here(&self) -> Value {
        self.located(&[&self.root]).remove(0)
    }

    /// Checks that nothing was compiled, installed or remembered.
    pub fn is_untouched(&self) {
        let folder = |name: &str| {
            let entries = fs::read_dir(self.home().join(name));
            let entries = entries.into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().into_string().unwrap());
            names.filter(|name| name != "lock").collect::<Vec<_>>()
        };
        for name in [
            ".cache/acp-chain/compiled",
            ".local/share/acp-chain/extensions",
            ".local/share/acp-chain/trust",
        ] {
            assert_eq!(folder(name), Vec::<String>::new(), "{name}");
        }
    }
}

/// The output of a command, without the parts that differ between worlds.
pub fn shown(world: &World, text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.replace(world.root.to_str().unwrap(), "ROOT");
    // The terminal echoes the typed line at an arbitrary place.
    let lines = text.lines().filter(|line| !matches!(*line, "y" | "n"));
    let lines = lines.map(|line| match line.split_once("sha256:") {
        Some((before, behind)) => {
            let (_, behind) = behind.split_at(64);
            // The component's size differs.
            let behind = behind.find("made for").map_or(behind, |at| &behind[at..]);
            format!("{before}DIGEST {behind}\n")
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A request to the locator.
pub fn lookup(number: u64, folder: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let cwd = serde_json::json!({ "Unix": folder.as_os_str().as_bytes() });
    let mut line = serde_json::json!({ "number": number, "cwd": cwd }).to_string();
    line.push('\n');
    line.into_bytes()
}

/// The manifest of [`World::shouting`].
pub const SHOUT: &str = "[[proxy]]\nid = \"shout\"\npath = \"tools/shout.wasm\"\n\
                         powers = [\"prompts.read\", \"prompts.change\"]\n";
