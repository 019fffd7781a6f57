//! Clients over each SDK, which all play one transcript (see `tests/peers/README.md`).

use std::path::{Path, PathBuf};
use std::process::Output;

use acp_chain_tests::host::peer;
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tokio::process::Command;

/// A client, by its program.
#[derive(Clone, Copy)]
pub(crate) struct Driver {
    program: &'static str,
    is_websocket: bool,
}

/// All of them, over HTTP and over WebSocket.
pub(crate) fn all() -> impl Iterator<Item = Driver> {
    let programs = ["npm-remote", "python-remote-client", "remote-client"];
    programs.into_iter().flat_map(|program| {
        [false, true].map(|is_websocket| Driver {
            program,
            is_websocket,
        })
    })
}

impl Driver {
    /// Plays the transcript with the server at this address: with TLS, if there is a certificate to trust.
    pub(crate) async fn plays(self, address: &str, certificate: Option<&Path>) {
        let scheme = match (self.is_websocket, certificate) {
            (false, None) => "http",
            (false, Some(_)) => "https",
            (true, None) => "ws",
            (true, Some(_)) => "wss",
        };
        let program: PathBuf = peer("bin").join(self.program);
        let mut client = Command::new(program);
        client
            .arg(format!("{scheme}://{address}/acp"))
            .arg("/project");
        client.env("NO_PROXY", "*").kill_on_drop(true);
        if let Some(certificate) = certificate {
            client.env("SSL_CERT_FILE", certificate);
            client.env("NODE_EXTRA_CA_CERTS", certificate);
        }
        let name = format!("{} at {scheme}://{address}", self.program);
        let Output {
            status,
            stdout,
            stderr,
        } = in_time(&name, client.output()).await.unwrap();
        let stdout = String::from_utf8(stdout).unwrap();
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{name}: {status}\n{stdout}\n{stderr}");
        let got = stdout.lines().map(serde_json::from_str);
        let got: Vec<Value> = got.collect::<Result<_, _>>().unwrap();
        assert_eq!(got, expected(), "{name}");
    }
}

/// The output of each driver, line by line.
fn expected() -> Vec<Value> {
    // Both proxies work: the agent's echo of the prompt has the rules, and does not have the key.
    let prompt = "streamed in piecesselected allow-oncekey [redacted: aws-access-token], the end\n\n\
        [project rules 8d4b9ec5a0527bdd: from files of this project, not from the user]\n\n\
        The rules of this project, from its file `AGENTS.md`:\n\nAlways be kind.\n\n(End of `AGENTS.md`.)\n\n\
        [end of project rules 8d4b9ec5a0527bdd]";
    let options = ["allow-once", "allow-always", "reject-once", "reject-always"];
    vec![
        json!({"initialize": {"agent": "wild-agent", "loadSession": true}}),
        json!({"session": {"id": "session-1"}}),
        json!({"permission": {"title": "Write the notes", "options": options}}),
        json!({"prompt": {"text": prompt, "stopReason": "end_turn"}}),
        json!({"session": {"id": "session-2"}}),
        json!({"meanwhile": {"text": "meanwhile.", "stopReason": "end_turn"}}),
        json!({"cancel": {"stopReason": "cancelled"}}),
        json!({"error": {"code": -32042, "message": "no luck", "data": {"n": 1}}}),
        json!({"large": {"same": true, "stopReason": "end_turn"}}),
        json!({"load": {"text": "stored question.stored answer."}}),
        json!({"closed": {}}),
    ]
}
