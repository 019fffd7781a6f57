//! A server of chains with `rules` and `redact`, by the name of its node.

use std::fs;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use acp_chain_tests::host::{self, component};
use acp_chain_tests::wire::in_time;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// An agent that leaves a line in a file whenever it starts.
const COUNTED: [&str; 3] = ["sh", "-c", r#"echo >> "$0"; exec "$@""#];

pub(crate) struct Replica {
    process: Child,
    node: &'static str,
    /// Its host and port.
    pub(crate) address: String,
    folder: TempDir,
}

impl Replica {
    pub(crate) async fn start(node: &'static str) -> Self {
        Self::at("127.0.0.1:0", node, Self::folder(), &[]).await
    }

    /// A replica that other machines can reach, with these options.
    pub(crate) async fn beyond_loopback(listen: &str, options: &[(&str, &PathBuf)]) -> Self {
        Self::at(listen, "a", Self::folder(), options).await
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        host::manifest(
            folder.path(),
            &[
                ("rules", &component("rules"), ""),
                ("redact", &component("redact"), ""),
            ],
        )
        .unwrap();
        folder
    }

    async fn at(
        listen: &str,
        node: &'static str,
        folder: TempDir,
        options: &[(&str, &PathBuf)],
    ) -> Self {
        let mut serve: Command = host::acp_chain("serve");
        for (option, file) in options {
            serve.arg(option).arg(file);
        }
        serve.args(["--listen", listen, "--node", node, "--manifest"]);
        serve.arg(folder.path().join("acp-chain.toml"));
        serve
            .arg("--")
            .args(COUNTED)
            .arg(folder.path().join("agents"));
        serve.args([AGENT, "--replay"]);
        serve.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = serve.kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = in_time("where it listens", lines.next_line()).await;
        let line = line.unwrap().expect("the replica listens");
        let address = line
            .strip_prefix("listening on http")
            .map(|rest| rest.trim_start_matches('s'))
            .and_then(|rest| rest.strip_prefix("://"))
            .and_then(|rest| rest.strip_suffix("/acp"))
            .unwrap_or_else(|| panic!("{line}"))
            .to_owned();
        Self {
            process,
            node,
            address,
            folder,
        }
    }

    /// How many connections have had an agent.
    pub(crate) fn connections(&self) -> usize {
        let agents = fs::read_to_string(self.folder.path().join("agents"));
        agents.unwrap_or_default().lines().count()
    }

    fn signal(&self, signal: Signal) {
        let id = self.process.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(Pid::from_raw).expect("the replica runs");
        kill_process(id, signal).unwrap();
    }

    /// Asks it to stop.
    pub(crate) fn drain(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) async fn kill(&mut self) {
        self.process.kill().await.unwrap();
    }

    async fn ended(&mut self) -> ExitStatus {
        in_time("its end", self.process.wait()).await.unwrap()
    }

    /// Waits for its end, and starts another replica in its place.
    pub(crate) async fn replaced(mut self) -> Self {
        assert!(self.ended().await.success());
        Self::at(&self.address, self.node, self.folder, &[]).await
    }
}
