//! A whole turn with real software at both ends: third-party clients and agents, with the three extensions
//! between them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{component, manifest, peer, recorded, run, script};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::watched;
use tempfile::TempDir;
use tokio::process::Command;

/// A key of the form that the cloud's own documentation uses.
const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

const RULE: &str = "Always be kind.";

/// A project with rules and a program `agent`, which runs the three extensions in front of an agent.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(agent: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("AGENTS.md"), RULE).unwrap();
        let rules = r#"rules = [{ decision = "deny", kind = "edit" }]"#;
        let manifest = manifest(
            folder.path(),
            &[
                ("rules", &component("rules"), ""),
                ("permissions", &component("permissions"), rules),
                ("redact", &component("redact"), ""),
            ],
        )
        .unwrap();
        let program = peer("bin").join(agent[0]);
        let agent = [program.as_os_str()]
            .into_iter()
            .chain(agent[1..].iter().map(AsRef::as_ref));
        let chain = run(
            Some(&manifest),
            recorded(&folder.path().join("received"), agent),
        );
        script(folder.path(), "agent", &chain).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn agent(&self) -> PathBuf {
        self.path().join("agent")
    }

    /// Runs a client with a home of its own, in the project; returns its output.
    async fn client(&self, name: &str, args: &[&str]) -> String {
        let mut command = Command::new(peer("bin").join(name));
        let home = self.path().join("home");
        fs::create_dir_all(&home).unwrap();
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", home)
            .kill_on_drop(true);
        let Output {
            status,
            stdout,
            stderr,
        } = watched(&Transcript::new(), name, command.output())
            .await
            .unwrap();
        let stdout = String::from_utf8(stdout).unwrap();
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{name} {status}\n{stdout}\n{stderr}");
        stdout
    }

    /// Sends one prompt with acpx; returns the wire as acpx prints it.
    async fn acpx(&self, prompt: &str) -> Vec<Message> {
        let agent = self.agent();
        let args = [
            "--agent",
            agent.to_str().unwrap(),
            "--format",
            "json",
            "--json-strict",
        ];
        let args = [&args[..], &["--approve-all", "exec", prompt]].concat();
        let wire = self.client("acpx", &args).await;
        wire.lines()
            .map(|line| Message::parse(line).unwrap())
            .collect()
    }

    /// The same with a client over the Rust SDK; returns its output.
    async fn one_shot(&self, prompt: &str) -> String {
        self.client("one-shot-client", &[prompt, self.agent().to_str().unwrap()])
            .await
    }

    /// The recorded input of the agent.
    fn received(&self) -> String {
        fs::read_to_string(self.path().join("received")).unwrap()
    }
}

/// The text that streamed back to the client.
fn streamed(wire: &[Message]) -> String {
    let updates = wire
        .iter()
        .filter(|message| message.method.as_deref() == Some("session/update"));
    let texts = updates.filter_map(|update| {
        let params: serde_json::Value = serde_json::from_str(update.params.as_ref()?).ok()?;
        Some(params.pointer("/update/content/text")?.as_str()?.to_owned())
    });
    texts.collect()
}

fn stop_reason(wire: &[Message]) -> Option<&str> {
    wire.iter()
        .filter_map(|message| message.result.as_deref())
        .find(|result| result.contains("stopReason"))
}

/// The agent received the rules and never the secret.
fn assert_guarded(project: &Project) {
    let received = project.received();
    assert!(received.contains(RULE), "{received}");
    assert!(received.contains("[redacted"), "{received}");
    assert!(!received.contains(SECRET), "{received}");
}

#[tokio::test]
async fn acpx_has_a_turn_with_elizacp() {
    let project = Project::new(&["elizacp", "--deterministic", "acp"]);
    let wire = project.acpx(&format!("Hello, my key is {SECRET}")).await;
    assert_guarded(&project);
    assert!(!streamed(&wire).is_empty());
    assert_eq!(stop_reason(&wire), Some(r#"{"stopReason":"end_turn"}"#));
}

#[tokio::test]
async fn acpx_has_a_turn_with_the_python_sdks_agent() {
    let project = Project::new(&["echo-agent"]);
    let wire = project.acpx(&format!("my key is {SECRET}, keep it")).await;
    assert_guarded(&project);
    let text = streamed(&wire);
    assert!(
        text.contains(RULE) && text.contains("keep it") && !text.contains(SECRET),
        "{text}"
    );
    assert!(stop_reason(&wire).is_some_and(|result| result.contains("end_turn")));
}

#[tokio::test]
async fn acpx_has_a_turn_with_an_agent_of_the_npm_sdk() {
    let project = Project::new(&["npm-agent"]);
    let wire = project
        .acpx(&format!("my key is {SECRET}; ask for permission"))
        .await;
    assert_guarded(&project);
    let text = streamed(&wire);
    // acpx would have allowed the edit, but never received the request.
    assert!(text.contains("permission: reject"), "{text}");
    let asked = wire
        .iter()
        .any(|message| message.method.as_deref() == Some("session/request_permission"));
    assert!(!asked, "the rule answers");
    assert!(stop_reason(&wire).is_some_and(|result| result.contains("end_turn")));
}

/// This client reads no files for the agent, so there are no rules for it.
#[tokio::test]
async fn a_client_of_the_rust_sdk_has_a_turn_with_each_agent() {
    for agent in [
        &["elizacp", "--deterministic", "acp"][..],
        &["echo-agent"],
        &["npm-agent"],
    ] {
        let project = Project::new(agent);
        let printed = project.one_shot(&format!("my key is {SECRET}")).await;
        assert!(
            printed.contains("stop reason: EndTurn"),
            "{agent:?}: {printed}"
        );
        let received = project.received();
        assert!(
            received.contains("[redacted") && !received.contains(SECRET),
            "{received}"
        );
        assert!(!received.contains(RULE), "{received}");
    }
}
