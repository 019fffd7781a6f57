//! The folders of one trial of an agent, and the environment of its processes.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::install::{CHAIN, Installation};
use super::model::Model;
use super::roster::Launch;
use crate::host::text;
use xtask::workspace::Workspace;

/// What starts the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The client starts it.
    Direct,
    /// acp-chain starts it.
    Behind,
    /// acp-chain starts it, with the chain of [`Place::chain`], and keeps receipts.
    Hooked,
    /// acp-chain starts it, with the chain of [`Place::chain`], and neither trace nor log.
    Timed,
}

/// The folders and the model of one trial.
pub struct Place<'a> {
    pub installed: &'a Installation,
    pub side: Side,
    pub model: Model,
    /// The home folder of the agent.
    pub home: PathBuf,
    /// The working directory of the sessions.
    pub work: PathBuf,
    /// The messages and the logs.
    pub logs: PathBuf,
    /// The code compiled by acp-chain, for all trials.
    cache: PathBuf,
}

impl<'a> Place<'a> {
    /// Creates the folders, and starts a model.
    pub fn make(
        workspace: &Workspace,
        installed: &'a Installation,
        agent: &str,
        side: Side,
    ) -> Result<Self> {
        let side_name = format!("{side:?}").to_lowercase();
        let folder = workspace.target("agents").join(agent).join(side_name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let [home, work, logs] = ["home", "work", "logs"].map(|name| folder.join(name));
        for folder in [&home, &work, &logs] {
            fs::create_dir_all(folder)?;
        }
        // Agents look for a repository in the parent folders, and would find the checkout.
        let init = Command::new("git")
            .args(["init", "--quiet"])
            .arg(&work)
            .status()?;
        ensure!(init.success(), "git init failed");
        Ok(Self {
            model: Model::start(installed, &logs)?,
            cache: workspace.target("agents/cache"),
            installed,
            side,
            home,
            work,
            logs,
        })
    }

    /// The manifest for [`Side::Hooked`] and [`Side::Timed`], which a trial writes.
    pub fn chain(&self) -> PathBuf {
        self.logs.join("chain.toml")
    }

    /// The trace of acp-chain.
    pub fn trace(&self) -> PathBuf {
        self.logs.join("trace.jsonl")
    }

    /// The receipts of all chains of [`Side::Hooked`].
    pub fn receipts(&self) -> PathBuf {
        self.logs.join("receipts")
    }

    /// Adds members to a JSON file in the home folder.
    pub fn add(&self, file: &str, members: &Value) -> Result<()> {
        let text = fs::read_to_string(self.home.join(file)).unwrap_or_else(|_| "{}".into());
        let mut content: Value =
            serde_json::from_str(&text).with_context(|| format!("{file} is not JSON"))?;
        for (name, member) in members.as_object().into_iter().flatten() {
            content[name] = member.clone();
        }
        self.write(file, &content)
    }

    /// Writes a file into the home folder.
    pub fn write(&self, file: &str, content: &Value) -> Result<()> {
        let path = self.home.join(file);
        let folder = path.parent().context("a file has a folder")?;
        fs::create_dir_all(folder)?;
        let content = match content {
            Value::String(text) => text.clone(),
            other => format!("{other:#}"),
        };
        fs::write(&path, content).with_context(|| format!("{} cannot be written", path.display()))
    }

    /// The command that a client starts, as words.
    pub fn words(&self, launch: &Launch) -> Result<Vec<String>> {
        let mut words = Vec::new();
        if self.side != Side::Direct {
            words.extend([text(&self.installed.program)?, "run".into()]);
            if matches!(self.side, Side::Hooked | Side::Timed) {
                words.extend(["--manifest".into(), text(&self.chain())?]);
            } else {
                let names = CHAIN.iter().copied();
                words.extend(names.flat_map(|name| ["--with".into(), name.into()]));
            }
            if self.side != Side::Timed {
                let log = self.logs.join("acp-chain.log");
                words.extend(["--log-file".into(), text(&log)?]);
                words.extend(["--trace".into(), text(&self.trace())?]);
            }
            if self.side == Side::Hooked {
                words.extend(["--receipts".into(), text(&self.receipts())?]);
            }
            words.push("--".into());
            // The cache is only for acp-chain.
            words.extend(["env", "--unset=XDG_CACHE_HOME"].map(String::from));
        }
        words.extend(launch.command.iter().cloned());
        Ok(words)
    }

    /// A program with the folder and the environment of this place.
    pub fn start(&self, launch: &Launch, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        command.current_dir(&self.work).env_clear();
        // The node that the packages need comes first.
        let path = env::var_os("PATH").unwrap_or_default();
        let node = self.installed.modules.join("node/bin");
        let path = env::join_paths([node].into_iter().chain(env::split_paths(&path)))?;
        command.env("PATH", path).env("HOME", &self.home);
        if self.side != Side::Timed {
            command.env("ACP_CHAIN_LOG", "debug");
        }
        if self.side != Side::Direct {
            command.env("XDG_CACHE_HOME", &self.cache);
        }
        // Nothing may leave the machine: requests to other hosts fail at once.
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(name, "http://127.0.0.1:9");
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        let quiet = "DO_NOT_TRACK DISABLE_TELEMETRY DISABLE_AUTOUPDATER NO_UPDATE_NOTIFIER";
        for name in quiet.split(' ') {
            command.env(name, "1");
        }
        command.envs(launch.env.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}
