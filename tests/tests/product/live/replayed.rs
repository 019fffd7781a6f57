//! Recordings of real agents, replayed in place of the agent, and in place of the client.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::client::prompt;
use acp_chain_tests::host::{self, peer};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::tree::{MARK, is_gone};
use acp_chain_tests::wire::in_time;
use serde_json::Value;
use tempfile::TempDir;

use super::{AGENT, looks};

/// A recording of a turn with an agent, through a chain of one proxy.
struct Recording {
    folder: TempDir,
    manifest: PathBuf,
}

impl Recording {
    async fn of(agent: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pass = host::component("pass");
        let manifest = host::manifest(folder.path(), &[("pass", &*pass, "")]).unwrap();
        let recording = Self { folder, manifest };
        let mut command = host::run(Some(&recording.manifest), agent);
        command.env("ACP_CHAIN_TRACE", recording.trace());
        let mut client = Process::start("client", &Transcript::new(), command).unwrap();
        client.initialize().await;
        let new = r#"{"cwd":"/tmp","mcpServers":[]}"#;
        let answer = client.wire.request("session/new", new).await;
        let answer: Value = serde_json::from_str(&answer.line).unwrap();
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        let said = prompt(&session, "hello there");
        client.wire.request("session/prompt", &said).await;
        client.finish().await.unwrap();
        recording
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    /// The recording with a text replaced.
    fn changed(&self, from: &str, to: &str) -> PathBuf {
        let text = fs::read_to_string(self.trace()).unwrap();
        assert!(text.contains(from), "{text}");
        let path = self.folder.path().join("changed");
        fs::write(&path, text.replace(from, to)).unwrap();
        path
    }

    /// Plays the client of a recording to this agent. Returns the exit code and the errors.
    async fn as_client(&self, trace: &Path, agent: &[String]) -> (Option<i32>, String) {
        let mut command = looks(self.folder.path(), "replay");
        command.env(MARK, self.folder.path());
        command.arg(trace).args(["--as", "client", "--"]);
        let output = in_time("the end of the replay", command.args(agent).output()).await;
        let output = output.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }

    /// The chain in front of the recording's replayed agent.
    fn replayed_agent(&self) -> Vec<String> {
        let program = host::program().display().to_string();
        let (manifest, trace) = (self.manifest.display(), self.trace());
        [
            &*program,
            "run",
            "--manifest",
            &manifest.to_string(),
            "--",
            &program,
            "replay",
            &trace.display().to_string(),
            "--as",
            "agent",
        ]
        .map(str::to_owned)
        .to_vec()
    }
}

#[tokio::test]
async fn a_recording_of_each_agent_is_played_in_its_place_and_in_that_of_its_client() {
    let [npm, echo, eliza] = ["npm-agent", "echo-agent", "elizacp"]
        .map(|name| peer("bin").join(name).display().to_string());
    let agents = [
        vec![AGENT],
        vec![&npm],
        vec![&echo],
        vec![&*eliza, "--deterministic", "acp"],
    ];
    for agent in agents {
        let recording = Recording::of(&agent).await;
        let real = agent.iter().map(|word| (*word).to_owned()).collect();
        for agent in [real, recording.replayed_agent()] {
            let (code, told) = recording.as_client(&recording.trace(), &agent).await;
            assert_eq!(code, Some(0), "{agent:?}: {told}");
        }
    }
}

#[tokio::test]
async fn the_first_difference_is_told_with_its_place_on_whichever_side() {
    let recording = Recording::of(&[AGENT]).await;
    let agent = [AGENT.to_owned()];
    let changed = recording.changed("wild-agent\"", "tame-agent\"");
    let (code, told) = recording.as_client(&changed, &agent).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("/agentInfo/name of initialize")
            && told.contains("expected: \"tame-agent\"\n  received: \"wild-agent\""),
        "{told}"
    );
    let line = told.split_once("changed:").unwrap().1;
    let number: usize = line.split(':').next().unwrap().parse().unwrap();
    let text = fs::read_to_string(&changed).unwrap();
    assert!(
        text.lines()
            .nth(number - 1)
            .unwrap()
            .contains("tame-agent\"")
    );
    let mut agent = looks(recording.folder.path(), "replay");
    agent.arg(recording.trace()).args(["--as", "agent"]);
    let mut agent = Process::start("client", &Transcript::new(), agent).unwrap();
    agent.wire.notify("other", "{}");
    let exit = agent.finish().await.unwrap();
    assert_eq!(exit.status.code(), Some(1));
    assert!(
        exit.stderr.contains("expected: request initialize"),
        "{}",
        exit.stderr
    );
}

#[tokio::test]
async fn a_masked_secret_of_the_recording_is_any_text_of_the_agent() {
    let recording = Recording::of(&[AGENT]).await;
    let masked = recording.changed("wild-agent\"", "wild-[secret: key]\"");
    let (code, told) = recording.as_client(&masked, &[AGENT.to_owned()]).await;
    assert_eq!(code, Some(0), "{told}");
}

#[tokio::test]
async fn nothing_is_left_of_the_other_side_and_its_last_words_are_passed_on() {
    let recording = Recording::of(&[AGENT]).await;
    let launcher =
        r#"tail -f /dev/null <&0 >/dev/null 2>&1 & echo "from the launcher" >&2; exec "$0""#;
    let agent = ["sh", "-c", launcher, AGENT].map(str::to_owned);
    let (code, told) = recording.as_client(&recording.trace(), &agent).await;
    assert_eq!((code, &*told), (Some(0), "from the launcher\n"));
    is_gone(&Transcript::new(), recording.folder.path()).await;
}

#[tokio::test]
async fn a_line_that_was_cut_off_is_told() {
    let recording = Recording::of(&[AGENT]).await;
    let mut trace = fs::read(recording.trace()).unwrap();
    trace.extend(br#"{"from":"cl"#);
    let path = recording.folder.path().join("cut");
    fs::write(&path, trace).unwrap();
    let (code, told) = recording.as_client(&path, &[AGENT.to_owned()]).await;
    let cut = "1 lines end too early";
    assert!(code == Some(0) && told.contains(cut), "{told}");
    let mut command = looks(recording.folder.path(), "trace");
    command.args(["export", "--to", "transcript"]).arg(&path);
    let output = in_time("the transcript", command.output()).await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(cut), "{told}");
}

#[tokio::test]
async fn what_is_no_recording_is_told_and_so_is_a_command_that_is_not_there() {
    let recording = Recording::of(&[AGENT]).await;
    let manifest = recording.manifest.clone();
    for (trace, agent, expected) in [
        (manifest, AGENT, "not a line of a trace"),
        ("/none".into(), AGENT, "the recording cannot be read"),
        (recording.trace(), "/none", "`/none` cannot be started"),
    ] {
        let (code, told) = recording.as_client(&trace, &[agent.to_owned()]).await;
        assert_eq!(code, Some(2));
        assert!(told.contains(expected), "{told}");
    }
}
