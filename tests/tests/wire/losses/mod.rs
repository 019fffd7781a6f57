//! Discarded messages are reported as the table in the book says: a walk through all its rows, with the
//! messages at both ends of the program. The test plays the agent.

mod scenes;

use std::ffi::OsStr;

use acp_chain::chain::losses::{Frequency, Loss};
use acp_chain_tests::chain::{Chain, MANIFEST, error_of};
use acp_chain_tests::host;
use acp_chain_tests::stand_in::StandIn;
use acp_chain_tests::wire::Wire;
use tempfile::TempDir;

use scenes::{BROKE, Scene, Step, scenes};

const STAND_IN: &str = env!("CARGO_BIN_EXE_stand-in");

/// How a notice ends, before the name of the log.
const MISSING: &str =
    "If something is missing, that may be why. Further losses of this kind are only logged.";

/// An agent that reads `initialize` and nothing more.
const DEAF: &str =
    r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; exec 0<&-; sleep 1000"#;

/// The answer to `initialize` of an agent that reaches MCP servers over ACP.
const SPEAKS_MCP: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;

/// The program, and the agent that the test plays.
struct Walk {
    chain: Chain,
    agent: Wire,
    /// The id of the turn's request, and of the last requests that the two ends received.
    turn: String,
    asked: String,
    heard: String,
    _folder: TempDir,
}

impl Walk {
    async fn start(scene: &Scene) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = StandIn::new(folder.path(), "agent").unwrap();
        let mut chain = start(&scene.manifest, &place.command(STAND_IN));
        for line in scene.early {
            chain.client.wire.send(*line);
        }
        let id = chain
            .client
            .wire
            .ask("initialize", r#"{"protocolVersion":1}"#);
        let transcript = chain.client.wire.transcript().clone();
        let (_, mut agent) = place.started(&transcript).await;
        let asked = agent.receive().await;
        let asked = asked.unwrap_or_else(|| panic!("{}\n{transcript}", scene.manifest));
        agent.send_all(asked.result(SPEAKS_MCP));
        chain.client.wire.response(&id).await;
        Self {
            chain,
            agent,
            turn: String::new(),
            asked: String::new(),
            heard: String::new(),
            _folder: folder,
        }
    }

    async fn turn(&mut self, steps: &[Step]) {
        let id = self.chain.client.prompt("go on");
        let asked = self.agent.receive().await.expect("the prompt");
        self.turn = asked.id.clone().expect("an id");
        for step in steps {
            match step {
                Step::Client(line) => self
                    .chain
                    .client
                    .wire
                    .send(line.replace("{heard}", &self.heard)),
                Step::Agent(line) => {
                    let line = line.replace("{turn}", &self.turn);
                    self.agent.send(line.replace("{asked}", &self.asked));
                }
                Step::Hears(part) => {
                    let id = hears(&mut self.chain.client.wire, part).await;
                    self.heard = id.unwrap_or(std::mem::take(&mut self.heard));
                }
                Step::AgentHears(part) => {
                    let id = hears(&mut self.agent, part).await;
                    self.asked = id.unwrap_or(std::mem::take(&mut self.asked));
                }
            }
        }
        self.agent
            .send_all(asked.result(r#"{"stopReason":"end_turn"}"#));
        self.chain.client.wire.response(&id).await;
    }
}

/// Receives up to the next message that contains this; returns its id if it is a request.
async fn hears(wire: &mut Wire, part: &str) -> Option<String> {
    loop {
        let message = wire.receive().await;
        let message = message.unwrap_or_else(|| panic!("never received {part}"));
        if message.line.contains(part) {
            return message.id.filter(|_| message.method.is_some());
        }
    }
}

fn start(manifest: &str, agent: &[impl AsRef<OsStr>]) -> Chain {
    Chain::launch(manifest, |folder| {
        let (log, manifest) = (folder.join("log"), folder.join(MANIFEST));
        let options = [
            "--log".as_ref(),
            "debug".as_ref(),
            "--log-file".as_ref(),
            log.as_os_str(),
            "--manifest".as_ref(),
            manifest.as_os_str(),
        ];
        let mut command = host::run_with(options, agent);
        command.env("XDG_CONFIG_HOME", host::grants_native(folder));
        command
    })
}

#[tokio::test]
async fn of_whatever_is_dropped_those_are_told_whom_the_table_names() {
    for loss in Loss::ALL {
        let scenes = scenes(*loss);
        let is_told = scenes.iter().any(|scene| !scene.notices.is_empty());
        let is_never = matches!(loss.user(), Frequency::Never(_));
        assert!(is_told || is_never, "{loss:?} has no scene");
        for scene in scenes {
            let mut walk = Walk::start(&scene).await;
            for _ in 0..2 {
                walk.turn(scene.steps).await;
            }
            let notices = walk.chain.notices();
            assert_eq!(notices.len(), scene.notices.len(), "{loss:?}: {notices:#?}");
            for (notice, expected) in notices.iter().zip(scene.notices) {
                assert!(notice.starts_with(expected), "{loss:?}: {notice}");
                let is_first = matches!(loss.user(), Frequency::First | Frequency::Missed);
                assert_eq!(notice.contains(MISSING), is_first, "{loss:?}: {notice}");
                // A loss that is never reported itself is covered by the notice that the proxy broke.
                assert_eq!(is_never, *expected == BROKE, "{loss:?}: {notice}");
                let log = walk.chain.log_file();
                assert!(
                    notice.ends_with(&format!(" More is in {}.", log.display())),
                    "{notice}"
                );
            }
            let log = std::fs::read_to_string(walk.chain.log_file()).unwrap();
            assert!(
                log.contains(scene.log),
                "{loss:?}: {log}\nlacks\n{}",
                scene.log
            );
        }
    }
}

#[tokio::test]
async fn what_waits_for_an_agent_that_no_longer_reads_is_answered() {
    assert_eq!(
        Loss::Unread.user(),
        Frequency::Never("the client is no longer there, or its requests fail")
    );
    let mut chain = start("", &["sh", "-c", DEAF]);
    chain.client.initialize().await;
    let answer = chain.client.turn("hear me").await;
    assert_eq!(error_of(&answer), "acp-chain: the agent closed its input");
    assert!(chain.notices().is_empty());
    let log = std::fs::read_to_string(chain.log_file()).unwrap();
    assert!(
        log.contains("bytes remain that the agent does not read"),
        "{log}"
    );
}
