//! The scripted model of one trial.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use anyhow::{Context, Result};

use super::install::Installation;
use crate::host::lines;

/// A running model, which ends when this is dropped.
pub struct Model {
    child: Child,
    lines: Receiver<String>,
    pub url: String,
}

impl Model {
    pub fn start(installed: &Installation, logs: &Path) -> Result<Self> {
        let mut child = Command::new(installed.modules.join("node/bin/node"))
            .arg(installed.scripts.join("model.mjs"))
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
            child,
            lines,
            url: format!("http://127.0.0.1:{port}"),
        })
    }

    /// Whether the model began an answer without an end since the last call.
    pub fn holds(&self) -> bool {
        self.lines.try_iter().count() > 0
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
