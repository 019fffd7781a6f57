//! Builds, each in a process of its own: `acp-chain build`. It is ended with us, and with it all that it started.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, copy, sink};

use crate::native::{CommandLine, Startable, Supervisor};
use crate::untrusted::Untrusted;

/// How much is kept of what a build says, in bytes.
const MOST: u64 = 4 << 20;

/// What starts builds of one project.
pub struct Builds {
    program: Startable,
}

impl Builds {
    /// Of the project in this folder, by this program.
    pub fn new(program: &Path, project: &Path) -> Result<Self, String> {
        let command = CommandLine {
            program: program.into(),
            args: vec!["build".into(), "--json".into(), project.into()],
            env: Vec::new(),
        };
        let supervisor = Supervisor::start(program);
        let allowed = supervisor.and_then(|supervisor| supervisor.allow(vec![command]));
        let allowed = allowed.map_err(|error| format!("no build can be started: {error}"))?;
        let program = allowed.into_iter().next();
        Ok(Self {
            program: program.ok_or("no build can be started")?,
        })
    }

    /// Builds. Gives how long that took, or all that the toolchain says is wrong.
    pub async fn build(&self, component: &Path) -> Result<Duration, String> {
        let begun = Instant::now();
        let started = self.program.start();
        let started = started.map_err(|error| format!("the build cannot be started: {error}"))?;
        drop(started.stdin);
        let mut tree = started.tree;
        let (out, said, status) =
            tokio::join!(read(started.stdout), read(started.stderr), tree.wait());
        let status = status.map_err(|error| format!("the build is lost: {error}"))?;
        if !status.success() {
            return Err(match said.trim().is_empty() {
                true => format!("the build ended with {status}"),
                false => said,
            });
        }
        let facts: Option<Value> = serde_json::from_str(&out).ok();
        let file = facts.as_ref().and_then(|facts| facts["file"].as_str());
        match file {
            Some(file) if Path::new(file) == component => Ok(begun.elapsed()),
            Some(file) => Err(format!(
                "the project is called otherwise now, and its component is {}: begin `acp-chain dev` anew",
                Untrusted::new(file)
            )),
            None => Err("the build does not say what it made".to_owned()),
        }
    }
}

/// All that a process says, as far as it is kept.
async fn read(mut output: impl AsyncRead + Unpin) -> String {
    let mut said = Vec::new();
    // What cannot be read was not said.
    let _ = (&mut output).take(MOST).read_to_end(&mut said).await;
    let _ = copy(&mut output, &mut sink()).await;
    String::from_utf8_lossy(&said).into_owned()
}
