//! The scripted model of one trial.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use acp_chain_ends::editor::lines;
use anyhow::{Context, Result};

use super::install::Installation;
use crate::host::Process;

/// A running model, which ends when this is dropped.
pub struct Model {
    _process: Process,
    lines: Receiver<String>,
    pub url: String,
    requests: PathBuf,
}

impl Model {
    pub fn start(installed: &Installation, logs: &Path) -> Result<Self> {
        let requests = logs.join("requests.jsonl");
        File::create(&requests)?;
        let mut child = Command::new(installed.modules.join("node/bin/node"))
            .arg(installed.scripts.join("model.mjs"))
            .arg(&requests)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(logs.join("model.log"))?)
            .spawn()
            .context("the scripted model does not start")?;
        let lines = lines(child.stdout.take().context("no output")?);
        let port = lines
            .recv_timeout(Duration::from_secs(30))
            .context("the scripted model prints no port")?;
        Ok(Self {
            _process: Process(child),
            lines,
            url: format!("http://127.0.0.1:{port}"),
            requests,
        })
    }

    /// The requests so far, each a line: see `tests/peers/coding-agents/model.mjs`.
    pub fn requests(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(&self.requests)?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Whether the model began an answer without an end since the last call.
    pub fn holds(&self) -> bool {
        self.lines.try_iter().count() > 0
    }
}
