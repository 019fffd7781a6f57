//! Builds, each in a separate process: `acp-chain build --draft`. A build ends with us, along with everything that it
//! started.

use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, copy, sink};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::Error;
use acp_chain_conductor::native::{CommandLine, Startable, Supervisor};
use acp_chain_rpc::untrusted::Untrusted;

/// How much of a build's output is kept, in bytes.
const MOST: usize = 256 << 10;

/// How long to wait for the rest of a finished build's output.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long the processes of a cancelled build may take to end.
const END: Duration = Duration::from_secs(5);

/// Starts builds of one project.
pub struct Builds {
    program: Startable,
}

impl Builds {
    /// For the project in this folder, with this program.
    pub fn new(program: &Path, project: &Path) -> Result<Self, Error> {
        let mut command = CommandLine::new(program, ["build", "--draft", "--json"]);
        command.args.push(project.into());
        let supervisor = Supervisor::start(program);
        let allowed = supervisor.and_then(|supervisor| supervisor.allow(vec![command], 0));
        let program = allowed.map_err(Error::Builds)?.into_iter().next();
        Ok(Self {
            program: program.ok_or(Error::NoBuilds)?,
        })
    }

    /// Builds. Returns the duration, or the toolchain's errors; `None` if `cancelled` completed first, which ends the
    /// build.
    pub async fn build(
        &self,
        component: &Path,
        cancelled: impl Future<Output = ()>,
    ) -> Option<Result<Duration, String>> {
        let begun = Instant::now();
        let output = match self.output(cancelled).await {
            Ok(output) => output?,
            Err(error) => return Some(Err(error)),
        };
        let facts: Option<Value> = serde_json::from_str(&output).ok();
        let file = facts.as_ref().and_then(|facts| facts["file"].as_str());
        Some(match file {
            Some(file) if file == component.display().to_string() => Ok(begun.elapsed()),
            Some(file) => Err(format!(
                "the project has another name now, and its component is {}: restart `acp-chain dev`",
                Untrusted::new(file)
            )),
            None => Err("the build does not report its result".to_owned()),
        })
    }

    /// The standard output of a build that succeeds; `None` if `cancelled` completed first.
    async fn output(&self, cancelled: impl Future<Output = ()>) -> Result<Option<String>, String> {
        let (words, mut printed) = mpsc::unbounded_channel();
        let mut left = MOST;
        let keep = Box::new(move |bytes: &[u8]| {
            let kept = &bytes[..bytes.len().min(left)];
            left -= kept.len();
            // The build may have been cancelled.
            let _ = words.send(kept.to_vec());
        });
        let started = self.program.start(keep);
        let started = started.map_err(|error| format!("the build cannot be started: {error}"))?;
        drop(started.stdin);
        let mut tree = started.tree;
        let (mut out, mut said) = (Vec::new(), Vec::new());
        let listen = async {
            while let Some(words) = printed.recv().await {
                said.extend(words);
            }
        };
        let status = {
            let mut reading = pin!(async { tokio::join!(read(started.stdout, &mut out), listen) });
            tokio::select! {
                biased;
                () = cancelled => {
                    tree.end();
                    // The next build must not run beside this one.
                    let _ = timeout(END, &mut reading).await;
                    return Ok(None);
                }
                _ = &mut reading => tree.wait().await,
                status = tree.wait() => {
                    // Processes that it left running may hold its output open.
                    let _ = timeout(LAST_OUTPUT, &mut reading).await;
                    status
                }
            }
        };
        let [out, said] = [out, said].map(|said| String::from_utf8_lossy(&said).into_owned());
        let status = status.map_err(|error| format!("the build is lost: {error}"))?;
        if !status.success() {
            return Err(if said.trim().is_empty() {
                format!("the build ended with {status}")
            } else {
                said
            });
        }
        Ok(Some(out))
    }
}

/// Reads the output of a process, up to the limit.
async fn read(mut output: impl AsyncRead + Unpin, said: &mut Vec<u8>) {
    // Unreadable output is ignored.
    let _ = (&mut output).take(MOST as u64).read_to_end(said).await;
    let _ = copy(&mut output, &mut sink()).await;
}
