//! Failures between clients and replicas: running turns continue, and none is lost.
//!
//! Failures of the network itself are in `packets`, and in `host/remote/tests/network`.

use std::cell::Cell;
use std::path::Path;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::acp_chain;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::process::Command;

use super::balancer::{Balancer, Kind};
use super::replica::Replica;

/// How many clients have turns while replicas are restarted.
const CLIENTS: usize = 6;

#[tokio::test]
async fn a_balancer_that_dies_in_the_middle_of_turns_and_comes_back_loses_none() {
    let (a, b) = (Replica::start("a").await, Replica::start("b").await);
    let mut balancer = Balancer::start(Kind::Haproxy, [&a, &b]).await;
    let through = || connecting(&balancer.address, &balancer.certificate());
    let mut ours = [
        Client::is_asked(through()).await,
        Client::is_asked(through()).await,
    ];
    let mut theirs = balancer.connects_to("a").await.turn().await;
    balancer.dies().await;
    // Answers that are sent meanwhile wait, too.
    for client in &mut ours {
        client.permits();
    }
    balancer.comes_back().await;
    for client in ours {
        client.has_whole_turn().await;
    }
    theirs.goes_on().await;
    theirs.ends_well().await;
}

#[tokio::test]
async fn replicas_that_are_restarted_one_after_the_other_under_load_lose_no_turn() {
    let (a, b) = (Replica::start("a").await, Replica::start("b").await);
    let balancer = &Balancer::start(Kind::Haproxy, [&a, &b]).await;
    let (turns, is_over) = (&Cell::new(0_usize), &Cell::new(false));
    let clients = (0..CLIENTS).map(|_| async move {
        while !is_over.get() {
            // A client that is disconnected before its turn begins connects again.
            let connection = balancer.connects_in_the_end().await;
            if let Some(turn) = connection.turn_if_it_may().await {
                turn.ends_well().await;
                turns.set(turns.get() + 1);
            }
        }
    });
    let restarts = async {
        let mut replaced = Vec::new();
        for (replica, node) in [(a, "a"), (b, "b")] {
            let before = turns.get();
            balancer.connects_to(node).await.end().await;
            replica.drain();
            replaced.push(replica.replaced().await);
            balancer.connects_to(node).await.end().await;
            assert!(turns.get() > before, "no turn ended meanwhile");
        }
        is_over.set(true);
        replaced
    };
    // The new replicas run until the last turn has ended.
    let (_, _replaced) = tokio::join!(join_all(clients), restarts);
}

/// Our client of a remote agent at this address, which has this certificate.
pub(crate) fn connecting(address: &str, certificate: &Path) -> Command {
    let mut command = acp_chain("run");
    let url = format!("https://{address}/acp");
    command.args(["--connect", &url, "--connect-ca"]);
    command.arg(certificate).env("NO_PROXY", "*");
    command
}

/// Our client of a remote agent, with a turn that waits for a permission.
pub(crate) struct Client {
    process: Process,
    session: String,
    turn: String,
    asked: Message,
}

impl Client {
    /// A client with a permission request in the middle of its turn.
    pub(crate) async fn is_asked(command: Command) -> Self {
        let mut process = Process::start("client", &Transcript::new(), command).unwrap();
        process.initialize().await;
        let new = r#"{"cwd":"/","mcpServers":[]}"#;
        let answer = process.wire.request("session/new", new).await;
        let result: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
        let session = result["sessionId"].as_str().unwrap().to_owned();
        let text = "stream 20 before\npermission edit look /tmp\nstream 20 after";
        let turn = process.wire.ask("session/prompt", &prompt(&session, text));
        let asked = loop {
            let message = process.wire.receive().await.expect("a question");
            if message.method.as_deref() == Some("session/request_permission") {
                break message;
            }
        };
        Self {
            process,
            session,
            turn,
            asked,
        }
    }

    pub(crate) fn permits(&mut self) {
        let outcome = r#"{"outcome":{"outcome":"selected","optionId":"allow-once"}}"#;
        self.process.wire.send_all(self.asked.result(outcome));
    }

    /// Checks that the turn ends well, with each of its messages once.
    pub(crate) async fn has_whole_turn(mut self) {
        let answer = self.process.wire.response(&self.turn).await;
        assert_eq!(
            answer.result.as_deref(),
            Some(r#"{"stopReason":"end_turn"}"#)
        );
        let texts = |word| (0..20).map(move |number| format!("{word} {number}"));
        let expected: String = texts("before")
            .chain(["selected allow-once".to_owned()])
            .chain(texts("after"))
            .collect();
        // A proxy sends its own chunk first.
        let text = self.process.chunks().concat();
        let begin = text.find("before 0").unwrap_or_default();
        assert_eq!(text[begin..], expected, "{}", self.session);
        assert!(self.process.finish().await.unwrap().status.success());
    }
}
