//! A user without agents, and the agents to install.

use std::env::consts;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use acp_chain::extension::Digest;
use acp_chain_tests::host::{self, peer};
use acp_chain_tests::output::CommandOutput;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::served::Server;

pub struct World {
    home: TempDir,
    path: OsString,
    pub server: Server,
}

impl World {
    pub fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            path: std::env::var_os("PATH").unwrap_or_default(),
            server: Server::start(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    /// Limits the commands' `PATH` to these folders.
    pub fn set_path(&mut self, folders: &[&OsStr]) {
        self.path = folders.join(OsStr::new(":"));
    }

    /// Puts these scripts before all other programs.
    pub fn put_first(&mut self, programs: &[(&str, &str)]) {
        let folder = self.path("bin");
        fs::create_dir_all(&folder).unwrap();
        for (name, script) in programs {
            let path = folder.join(name);
            host::executable(&path, script).unwrap();
        }
        let others = self.path.clone();
        self.set_path(&[folder.as_os_str(), &others]);
    }

    /// Limits the commands to these programs.
    pub fn only(&mut self, programs: &[&str]) {
        let folder = self.path("only");
        fs::create_dir_all(&folder).unwrap();
        for name in programs {
            let find = std::process::Command::new("sh")
                .args(["-c", &format!("command -v {name}")])
                .output();
            let found = String::from_utf8(find.unwrap().stdout).unwrap();
            symlink(found.trim(), folder.join(name)).unwrap();
        }
        self.set_path(&[folder.as_os_str()]);
    }

    /// The folder of the installed agents.
    pub fn agents(&self) -> PathBuf {
        self.path("data/acp-chain/agents")
    }

    /// The folders of an agent's versions.
    pub fn versions(&self, name: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.agents().join(name)).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.is_dir()).collect()
    }

    pub fn record(&self, name: &str) -> String {
        fs::read_to_string(self.agents().join(name).join("agent.toml")).unwrap()
    }

    pub fn command(&self, args: &[&str]) -> tokio::process::Command {
        let mut command = host::acp_chain(args[0]);
        command
            .args(&args[1..])
            .current_dir(self.home.path())
            .env("PATH", &self.path)
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            // Our packages come from this server, and their dependencies from the public registry.
            .env(
                "npm_config_@acp-chain-tests:registry",
                self.server.url("/npm/"),
            )
            .env("npm_config_fetch_retries", "0")
            .env("PIP_EXTRA_INDEX_URL", self.server.url("/simple/"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command, without a terminal.
    pub fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.command(args).into_std();
        command.output().unwrap().into()
    }

    /// The output of a command, which must succeed.
    pub fn does(&self, args: &[&str]) -> String {
        self.run(args).of_success(args)
    }

    /// The error of a command, which must fail.
    pub fn fails(&self, args: &[&str]) -> String {
        self.run(args).of_failure(args)
    }

    /// Starts a command, whose output is discarded.
    pub fn begins(&self, args: &[&str]) -> Child {
        let mut command = self.command(args).into_std();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Serves a registry with these agents. Returns its URL.
    pub fn registry(&self, agents: &[Value]) -> String {
        let registry = json!({ "version": "1.0.0", "agents": agents, "extensions": [] });
        self.server.put("/registry.json", registry.to_string());
        self.server.url("/registry.json")
    }

    /// Adds an archived agent whose program is a script that prints a version. Returns its entry.
    pub fn script(&self, version: &str) -> Value {
        let script = format!("#!/bin/sh\necho version {version}\n");
        let archive = tar_gz(&[("agent/run", script.as_bytes())]);
        let path = format!("/script-{version}.tar.gz");
        self.server.put(&path, archive);
        self.binary("script", version, &path, json!({ "cmd": "./agent/run" }))
    }

    /// The entry of an agent with this archive for this machine.
    pub fn binary(&self, id: &str, version: &str, path: &str, more: Value) -> Value {
        let mut target = more;
        target["archive"] = json!(self.server.url(path));
        let platform = format!("{}-{}", consts::OS, consts::ARCH);
        entry(id, version, json!({ "binary": { platform: target } }))
    }

    /// Serves an agent over the npm SDK as a package. Returns the package's name.
    pub fn npm_agent(&self, version: &str) -> &'static str {
        let name = "@acp-chain-tests/npm-agent";
        let package = json!({
            "name": name, "version": version, "type": "module", "bin": { "npm-agent": "agent.mjs" },
            "dependencies": { "@agentclientprotocol/sdk": "2.4.0" },
            "scripts": { "postinstall": "echo ran > ran" },
        });
        let agent = fs::read(peer("npm/agent.mjs")).unwrap();
        self.npm_package(package, &[("agent.mjs", &agent)]);
        name
    }

    /// Serves a package with this `package.json` and these files.
    pub fn npm_package(&self, package: Value, files: &[(&str, &[u8])]) {
        let [name, version] =
            ["name", "version"].map(|key| package[key].as_str().unwrap().to_owned());
        let text = package.to_string();
        let files = [("package.json", text.as_bytes())]
            .into_iter()
            .chain(files.iter().copied());
        let files: Vec<_> = files
            .map(|(name, content)| (format!("package/{name}"), content))
            .collect();
        let files: Vec<_> = files
            .iter()
            .map(|(name, content)| (&**name, *content))
            .collect();
        let tarball = tar_gz(&files);
        let short = name.rsplit('/').next().unwrap_or_default();
        let path = format!("/npm/{short}-{version}.tgz");
        let mut about = package;
        about["dist"] =
            json!({ "tarball": self.server.url(&path), "integrity": integrity(&tarball) });
        self.server.put(&path, tarball);
        let document = json!({
            "name": name, "dist-tags": { "latest": version }, "versions": { version: about },
        });
        self.server
            .put(&format!("/npm/{name}"), document.to_string());
    }

    /// Serves the example agent of the Python SDK as a package. Returns the package's name.
    pub fn python_agent(&self) -> &'static str {
        let name = "acp-chain-tests-echo-agent";
        let mut agent = fs::read_to_string(peer("python/echo_agent.py")).unwrap();
        agent.push_str("\n\ndef run():\n    asyncio.run(main())\n");
        let module = "acp_chain_tests_echo_agent";
        let about = format!("{module}-1.0.0.dist-info");
        let metadata = format!(
            "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\nRequires-Dist: agent-client-protocol==0.12.1\n"
        );
        let wheel = zip(&[
            (format!("{module}.py"), agent),
            (format!("{about}/METADATA"), metadata),
            (
                format!("{about}/WHEEL"),
                "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
                    .to_owned(),
            ),
            (
                format!("{about}/entry_points.txt"),
                format!("[console_scripts]\n{name} = {module}:run\n"),
            ),
            (format!("{about}/RECORD"), String::new()),
        ]);
        let file = format!("{module}-1.0.0-py3-none-any.whl");
        let page = format!(
            "<a href=\"/wheels/{file}#sha256={}\">{file}</a>",
            Digest::of(&wheel).hex()
        );
        self.server.put(&format!("/wheels/{file}"), wheel);
        self.server.put(&format!("/simple/{name}/"), page);
        name
    }
}

/// An entry of a registry.
pub fn entry(id: &str, version: &str, distribution: Value) -> Value {
    json!({
        "id": id, "name": "An agent", "version": version, "description": "Says what it hears",
        "authors": ["Somebody"], "license": "MIT", "repository": "https://example.com/agent",
        "icon": "icon.svg", "distribution": distribution,
    })
}

pub fn tar_gz(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        archive.append_data(&mut header, name, *content).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

pub fn zip(files: &[(String, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, content) in files {
        archive.start_file(name.as_str(), options).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The digest in npm's format.
fn integrity(bytes: &[u8]) -> String {
    let hex = Digest::of(bytes).hex();
    let bytes = HEXLOWER.decode(hex.as_bytes()).unwrap();
    format!("sha256-{}", BASE64_STANDARD.encode(bytes))
}
