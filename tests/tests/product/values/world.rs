//! A user whose chains have proxies that load and store values at the test's request.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_package::{About, AskedMethods, Asks, Package, RequestedPower, Version};
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

pub const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// What a proxy does at which request.
pub const STEPS: &str = "[proxy.config.requests]\n'test/load' = ['load-value']\n'test/store' = ['store-value']\n\
                         'test/count' = ['count-value']\n";

pub struct World {
    home: TempDir,
    /// The words in front of the program.
    pub launcher: Vec<String>,
}

impl World {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("work")).unwrap();
        Self {
            home,
            launcher: Vec::new(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    /// The folder of the database.
    pub fn state(&self) -> PathBuf {
        self.path(".local/share/acp-chain/state")
    }

    /// Copies the component to a file of this name.
    pub fn component(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(host::component("does"), &path).unwrap();
        path
    }

    /// Makes the component an extension, in a file of this name.
    pub fn extension(&self, file: &str, name: &str, version: &str) -> PathBuf {
        let methods = AskedMethods {
            actions: vec!["read".to_owned(), "answer".to_owned()],
            reason: "It answers the test.".to_owned(),
        };
        let schema = json!({ "type": "object" });
        let package = Package {
            name: name.to_owned(),
            version: Version::parse(version).unwrap(),
            about: About::default(),
            asks: Asks {
                powers: vec![RequestedPower {
                    power: "values.keep".to_owned(),
                    reason: "It counts.".to_owned(),
                }],
                methods: BTreeMap::from([("test/*".to_owned(), methods)]),
                config: schema.as_object().cloned(),
                ..Asks::default()
            },
            imports: Vec::new(),
            exports: Vec::new(),
            draft: false,
        };
        let component = fs::read(host::component("does")).unwrap();
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, package.write(&component).unwrap()).unwrap();
        path
    }

    /// Writes a manifest of this name.
    pub fn manifest(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes the manifest of a chain with one proxy, which has the component in this file.
    pub fn chain(&self, name: &str, component: &Path) -> PathBuf {
        self.manifest(name, &entry("one", component))
    }

    /// A subcommand of the program, for this user.
    pub fn command(&self, subcommand: &str) -> Command {
        let program = host::program().display().to_string();
        let words: Vec<_> = self.launcher.iter().chain([&program]).collect();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .arg(subcommand)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path(""))
            .env("XDG_CACHE_HOME", host::cache())
            .current_dir(self.path(""));
        command
    }

    /// Runs a command that is not a chain.
    pub async fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.command(args[0]);
        command.args(&args[1..]).stdin(Stdio::null());
        command.output().await.unwrap().into()
    }

    /// The output of a command, which must succeed.
    pub async fn does(&self, args: &[&str]) -> String {
        self.run(args).await.of_success(args)
    }

    /// Starts a chain with this manifest, and initializes it.
    pub async fn begin(&self, manifest: &Path) -> Client {
        let mut command = self.command("run");
        command.arg("--manifest").arg(manifest).args(["--", AGENT]);
        Client::of(command).await
    }

    /// The ids of the user's processes that have the values of a chain.
    pub fn processes(&self) -> Vec<u32> {
        let home = format!("HOME={}", self.path("").display());
        let processes = fs::read_dir("/proc").unwrap();
        let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter(|id: &u32| {
            let has = |file: &str, word: &str| {
                let words = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
                words
                    .split(|byte| *byte == 0)
                    .any(|one| one == word.as_bytes())
            };
            has("cmdline", "keep-values") && has("environ", &home)
        })
        .collect()
    }

    /// Whose values there are: sources, users and projects.
    pub async fn listed(&self) -> Vec<(String, Option<String>, Option<String>)> {
        let printed = self.does(&["state", "list", "--json"]).await;
        let read: Value = serde_json::from_str(&printed).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = read["state"].as_array().unwrap().iter();
        let listed = all.map(|one| {
            let source = text(&one["source"]).unwrap();
            (source, text(&one["user"]), text(&one["project"]))
        });
        listed.collect()
    }
}

/// The entry of a proxy that has the component in this file.
pub fn entry(id: &str, component: &Path) -> String {
    let path = component.display();
    format!(
        "[[proxy]]\nid = \"{id}\"\npath = '{path}'\npowers = ['values.keep']\n\
         methods = {{ 'test/*' = ['read', 'answer'] }}\n{STEPS}"
    )
}

/// The client of a chain.
pub struct Client(pub Process);

impl Client {
    /// Starts a chain, and initializes it.
    pub async fn of(command: Command) -> Self {
        let mut client = Process::start("client", &Transcript::new(), command).unwrap();
        client.initialize().await;
        Self(client)
    }

    /// Starts a request to the proxy. Returns its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> String {
        self.0.wire.ask(method, &params.to_string())
    }

    /// The proxy's answer to a request.
    pub async fn answer(&mut self, id: &str) -> Value {
        result(&self.0.wire.response(id).await)
    }

    pub async fn does(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, &params);
        self.answer(&id).await
    }

    /// The user's value under the key `k`, and its version.
    pub async fn load(&mut self) -> (Option<String>, u64) {
        let loaded = self.does("test/load", json!({ "key": "k" })).await;
        pair(&loaded)
    }

    /// Stores the user's value under the key `k` over this version. Returns its own version.
    pub async fn store(&mut self, version: u64, value: &str) -> u64 {
        let params = json!({ "key": "k", "version": version, "value": value });
        let stored = self.does("test/store", params).await;
        let new = stored["version"].as_u64();
        new.unwrap_or_else(|| panic!("{stored}"))
    }

    /// A new session in this folder.
    pub async fn session(&mut self, cwd: &Path) -> String {
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        let begun = self.does("session/new", params).await;
        begun["sessionId"].as_str().unwrap().to_owned()
    }

    /// Ends the chain, which must succeed.
    pub async fn finish(self) {
        let exit = self.0.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    }
}

/// A loaded value, and its version.
pub fn pair(loaded: &Value) -> (Option<String>, u64) {
    let version = loaded["version"].as_u64();
    let version = version.unwrap_or_else(|| panic!("{loaded}"));
    (loaded["value"].as_str().map(str::to_owned), version)
}

fn result(answer: &Message) -> Value {
    let result = answer.result.as_deref();
    let result = result.unwrap_or_else(|| panic!("{}", answer.line));
    serde_json::from_str(result).unwrap()
}
