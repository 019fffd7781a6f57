//! A script that is played at both ends of a conductor, and what they received.

use std::collections::HashMap;
use std::path::Path;

use acp_chain_tests::chain::MANIFEST;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{self, peer};
use acp_chain_tests::process::Process;
use acp_chain_tests::stand_in::StandIn;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::Wire;
use tempfile::TempDir;
use tokio::process::Command;

/// The conductor of two native proxies that forward everything.
#[derive(Clone, Copy, Debug)]
pub enum Conductor {
    Reference,
    Ours,
}

/// The lines that the client and the agent sent and received.
#[derive(Debug)]
pub struct PlayOutcome {
    pub transcript: Transcript,
    /// Whether everything that was on its way at the end arrived.
    pub lives: bool,
}

/// The client's last request: when it arrives, everything before it has arrived too.
const LAST: &str = "_last";

/// The usual beginning of a script.
pub const BEGIN: &str = r#"
    client → {"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":1}}
    agent  ← initialize
    agent  → {"jsonrpc":"2.0","id":@initialize,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}
    client ← "begin"
"#;

impl Conductor {
    fn command(self, folder: &Path, agent: &StandIn) -> Command {
        let pass = peer("bin/pass-proxy").display().to_string();
        let agent = agent.command(env!("CARGO_BIN_EXE_stand-in"));
        match self {
            Self::Reference => {
                let mut command = Command::new(peer("bin/agent-client-protocol-conductor"));
                // The conductor splits command lines as a shell does.
                command.args(["agent", &pass, &pass]);
                command.arg(agent.join(" ".as_ref()));
                command
            }
            Self::Ours => {
                let entry = |id| format!("[[proxy]]\nid = '{id}'\ncommand = '{pass}'\n");
                let manifest = folder.join(MANIFEST);
                std::fs::write(&manifest, entry("a") + &entry("b")).expect("a manifest");
                let mut command = host::run(Some(&manifest), agent);
                command.env("XDG_CONFIG_HOME", host::grants_native(folder));
                command
            }
        }
    }

    /// Plays a script, of lines such as these:
    ///
    /// ```text
    /// client → {"jsonrpc":"2.0","id":1,"method":"m"}
    /// agent  ← m
    /// agent  → {"jsonrpc":"2.0","id":@m,"result":{}}
    /// client ← 1
    /// ```
    ///
    /// An end sends a line, or waits for a message with a method or for the answer to an id of its own. `@m`
    /// is the id of the last request `m` that the end received.
    pub async fn play(self, script: &str) -> PlayOutcome {
        let folder = tempfile::tempdir().expect("a folder");
        let place = StandIn::new(folder.path(), "agent").expect("a place for the agent");
        let transcript = Transcript::new();
        let command = self.command(folder.path(), &place);
        let client = Process::start("client", &transcript, command).expect("a process");
        let mut stage = Stage {
            client,
            place,
            agent: None,
            asked: HashMap::new(),
            _folder: folder,
        };
        let last = format!(
            r#"
            client → {{"jsonrpc":"2.0","id":"last","method":"{LAST}"}}
            agent  ← {LAST}
            agent  → {{"jsonrpc":"2.0","id":@{LAST},"result":{{}}}}
            client ← "last"
            "#
        );
        let steps = script.lines().chain(last.lines()).map(str::trim);
        let mut lives = true;
        for step in steps.filter(|step| !step.is_empty()) {
            lives = lives && stage.step(step).await;
        }
        PlayOutcome { transcript, lives }
    }
}

/// A conductor with its two ends.
struct Stage {
    client: Process,
    place: StandIn,
    agent: Option<Wire>,
    /// The id of the last request of each method.
    asked: HashMap<String, String>,
    _folder: TempDir,
}

impl Stage {
    /// Plays one step. Returns whether the awaited message arrived.
    async fn step(&mut self, step: &str) -> bool {
        let mut words = step.splitn(3, ' ').map(str::trim);
        let (Some(end), Some(rest)) = (words.next(), step.split_once(' ')) else {
            panic!("no step: {step}")
        };
        let (arrow, what) = rest
            .1
            .trim()
            .split_once(' ')
            .expect("an arrow and its argument");
        let wire = match end {
            "client" => &mut self.client.wire,
            "agent" => {
                if self.agent.is_none() {
                    let transcript = self.client.wire.transcript().clone();
                    self.agent = Some(self.place.started(&transcript).await.1);
                }
                self.agent.as_mut().expect("a started agent")
            }
            _ => panic!("no end: {step}"),
        };
        if arrow == "→" {
            let mut line = what.to_owned();
            for (method, id) in &self.asked {
                line = line.replace(&format!("@{method},"), &format!("{id},"));
                line = line.replace(&format!("@{method}}}"), &format!("{id}}}"));
            }
            wire.send(line);
            return true;
        }
        while let Some(line) = wire.line().await {
            let Ok(message) = Message::parse(line) else {
                continue;
            };
            if let (Some(method), Some(id)) = (&message.method, &message.id) {
                self.asked.insert(method.clone(), id.clone());
            }
            if message.method.as_deref() == Some(what) || message.answers(what) {
                return true;
            }
        }
        false
    }
}
