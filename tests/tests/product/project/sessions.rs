//! Sessions of one connection, each with the proxies of its own project, with third-party clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use acp_chain_tests::client::{chunks, prompt};
use acp_chain_tests::host::{component, peer, recorded, script};
use acp_chain_tests::process::{Process, gone};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::{Wire, watched};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::project::world::{SHOUT, World};

/// The manifest of a project with a tool.
const WORDS: &str =
    "[[proxy]]\nid = \"words\"\npath = \"tools/words.wasm\"\npowers = [\"tools\"]\n";

/// A user with two trusted projects, and a folder without a project.
pub struct Projects {
    pub world: World,
    pub shouting: PathBuf,
    pub counting: PathBuf,
    plain: PathBuf,
    /// The file of the messages that the agent received.
    received: PathBuf,
}

impl Projects {
    pub fn new() -> Self {
        let mut world = World::shouting();
        world.trust();
        let shouting = world.root.clone();
        let counting = world.home().join("counting");
        fs::create_dir_all(counting.join("tools")).unwrap();
        fs::copy(component("words-c"), counting.join("tools/words.wasm")).unwrap();
        world.root.clone_from(&counting);
        world.manifest(WORDS);
        world.trust();
        world.root.clone_from(&shouting);
        let plain = world.home().join("plain");
        fs::create_dir(&plain).unwrap();
        Self {
            received: world.home().join("received"),
            world,
            shouting,
            counting,
            plain,
        }
    }

    /// `acp-chain run` in front of elizacp.
    fn chain(&self) -> Command {
        let eliza = [
            peer("bin").join("elizacp").into_os_string(),
            "--deterministic".into(),
            "acp".into(),
        ];
        let mut command = Command::from(self.world.command("run"));
        command.arg("--").args(recorded(&self.received, eliza));
        command
    }

    /// A program that starts such a chain, for clients that launch their agent.
    fn launched(&self) -> PathBuf {
        script(&self.world.home(), "agent", &self.chain()).unwrap()
    }

    /// Runs a client with the user's home.
    async fn client(&self, name: &str, args: &[&str], folder: &Path) -> String {
        let mut command = Command::new(peer("bin").join(name));
        command
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.world.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .kill_on_drop(true);
        let output = watched(&Transcript::new(), name, command.output()).await;
        let Output {
            status,
            stdout,
            stderr,
        } = output.unwrap();
        let (out, err) = (
            String::from_utf8(stdout).unwrap(),
            String::from_utf8_lossy(&stderr),
        );
        assert!(status.success(), "{name} {status}\n{out}\n{err}");
        out
    }

    fn received(&self) -> String {
        fs::read_to_string(&self.received).unwrap()
    }
}

/// Opens a session in a folder.
async fn session(wire: &mut Wire, folder: &Path) -> String {
    let params = json!({ "cwd": folder, "mcpServers": [] });
    let answer = wire.request("session/new", &params.to_string()).await;
    let result = answer
        .result
        .unwrap_or_else(|| panic!("{:?}", answer.error));
    let result: Value = serde_json::from_str(&result).unwrap();
    result["sessionId"].as_str().unwrap().to_owned()
}

/// A turn in a session. Returns its chunks.
async fn turn(client: &mut Process, session: &str, text: &str) -> String {
    let before = client.wire.transcript().received("client").len();
    let answer = client
        .wire
        .request("session/prompt", &prompt(session, text))
        .await;
    assert!(answer.result.is_some(), "{:?}", answer.error);
    let lines = client.wire.transcript().received("client");
    chunks(&lines[before..]).concat()
}

#[tokio::test]
async fn each_session_of_a_connection_has_the_proxies_of_its_project() {
    let projects = Projects::new();
    let mut client = Process::start("client", &Transcript::new(), projects.chain()).unwrap();
    client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let shouting = session(&mut client.wire, &projects.shouting).await;
    let counting = session(&mut client.wire, &projects.counting).await;
    let plain = session(&mut client.wire, &projects.plain).await;
    // Within the project, however deep.
    let deep = session(&mut client.wire, &projects.shouting.join("tools")).await;

    for (session, said) in [
        (&shouting, "FIRST"),
        (&counting, "second"),
        (&plain, "third"),
        (&deep, "FOURTH"),
    ] {
        turn(&mut client, session, &said.to_lowercase()).await;
        let received = projects.received();
        let said = format!(r#""text":"{said}""#);
        assert!(received.contains(&said), "{said}: {received}");
    }
    let tools = |text: &str| text.contains("count");
    assert!(tools(
        &turn(&mut client, &counting, "List tools from words").await
    ));
    for session in [&plain, &shouting] {
        let listed = turn(&mut client, session, "List tools from words").await;
        assert!(!tools(&listed), "{listed}");
    }
    client.finish().await.unwrap();
}

#[tokio::test]
async fn projects_are_looked_for_only_by_a_session_that_begins_and_watched_once_there_is_one() {
    let projects = Projects::new();
    let transcript = Transcript::new();
    let mut client = Process::start("client", &transcript, projects.chain()).unwrap();
    client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    for _ in 0..6 {
        session(&mut client.wire, &projects.plain).await;
        for process in projects.world.processes("find-projects") {
            gone(&transcript, process).await.unwrap();
        }
    }
    session(&mut client.wire, &projects.shouting).await;
    session(&mut client.wire, &projects.plain).await;
    assert_eq!(projects.world.processes("find-projects").len(), 1);
    client.finish().await.unwrap();
}

#[tokio::test]
async fn acpx_has_the_proxies_of_the_project_that_it_is_started_in() {
    let projects = Projects::new();
    let agent = projects.launched();
    let agent = agent.to_str().unwrap();
    for (folder, said) in [
        (&projects.shouting, "GOOD DAY"),
        (&projects.plain, "good day"),
    ] {
        let args = [
            "--agent",
            agent,
            "--format",
            "json",
            "--json-strict",
            "--approve-all",
            "exec",
            "good day",
        ];
        let wire = projects.client("acpx", &args, folder).await;
        assert!(wire.contains("end_turn"), "{wire}");
        let received = projects.received();
        assert!(
            received.contains(&format!(r#""text":"{said}""#)),
            "{received}"
        );
    }
}

#[tokio::test]
async fn a_client_on_the_rust_crate_has_them_too() {
    let projects = Projects::new();
    let agent = projects.launched();
    let args = ["good day", agent.to_str().unwrap()];
    let told = projects
        .client("one-shot-client", &args, &projects.shouting)
        .await;
    assert!(told.contains("EndTurn"), "{told}");
    assert!(projects.received().contains(r#""text":"GOOD DAY""#));
}

#[tokio::test]
async fn sessions_that_the_npm_sdk_opens_at_once_have_each_their_own() {
    let projects = Projects::new();
    let agent = projects.launched();
    let folders = [&projects.shouting, &projects.counting, &projects.plain];
    let folders = folders.map(|folder| folder.to_str().unwrap());
    let mut args = vec!["List tools from words"];
    args.extend(folders);
    args.extend(["--", agent.to_str().unwrap()]);
    let told = projects
        .client("npm-client", &args, &projects.world.home())
        .await;
    let turns: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(turns.len(), 3, "{told}");
    for turn in &turns {
        assert_eq!(turn["stopReason"], "end_turn", "{told}");
        let has_tools = turn["text"].as_str().unwrap().contains("count");
        assert_eq!(has_tools, turn["folder"] == folders[1], "{told}");
    }
    let received = projects.received();
    assert_eq!(received.matches("LIST TOOLS FROM WORDS").count(), 1);
    assert_eq!(received.matches("List tools from words").count(), 2);
}

#[tokio::test]
async fn a_project_to_which_nobody_said_yes_is_passed_by_and_its_command_named() {
    let world = World::shouting();
    let received = world.home().join("received");
    let agent = peer("bin").join("npm-agent").into_os_string();
    let mut command = Command::from(world.command("run"));
    command.arg("--").args(recorded(&received, [agent]));
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let quiet = session(&mut client.wire, &world.root).await;
    let told = turn(&mut client, &quiet, "quietly").await;
    let command = format!("`acp-chain trust {}`", world.root.display());
    assert!(told.contains(&command), "{told}");
    assert!(!turn(&mut client, &quiet, "again").await.contains("trust"));
    world.is_untouched();

    // Once the project is trusted, new sessions have its proxies; the open session keeps its own.
    world.trust();
    let loud = session(&mut client.wire, &world.root).await;
    turn(&mut client, &quiet, "still quiet").await;
    turn(&mut client, &loud, "loudly").await;
    let received = fs::read_to_string(received).unwrap();
    assert!(
        received.contains(r#""text":"still quiet""#) && received.contains(r#""text":"LOUDLY""#)
    );
    client.finish().await.unwrap();
}

#[tokio::test]
async fn what_changed_leaves_sessions_as_they_are_until_the_user_says_yes() {
    let world = World::shouting();
    world.trust();
    let agent = peer("bin").join("npm-agent");
    let mut command = Command::from(world.command("run"));
    command.arg("--").arg(agent);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let first = session(&mut client.wire, &world.root).await;
    assert!(turn(&mut client, &first, "one").await.contains("ONE"));
    for (manifest, why) in [
        (format!("{SHOUT}on-failure = \"bypass\"\n"), "has changed"),
        ("[[proxy]]\nid = 7\n".to_owned(), "acp-chain.toml:2"),
    ] {
        world.manifest(&manifest);
        let second = session(&mut client.wire, &world.root).await;
        let mut told = turn(&mut client, &second, "two").await;
        assert!(told.contains("TWO"), "{told}");
        // The reason appears in one of the next turns.
        while !told.contains(why) {
            told = turn(&mut client, &first, "what").await;
        }
    }
    client.finish().await.unwrap();
}

#[tokio::test]
async fn a_projects_process_that_is_killed_is_started_again_and_none_outlives_the_chain() {
    let world = World::shouting();
    world.trust();
    let agent = peer("bin").join("npm-agent");
    let mut command = Command::from(world.command("run"));
    command.arg("--").arg(agent);
    let transcript = Transcript::new();
    let mut client = Process::start("client", &transcript, command).unwrap();
    client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let it = session(&mut client.wire, &world.root).await;
    assert!(turn(&mut client, &it, "one").await.contains("ONE"));
    let [chain] = world.processes("project-chain")[..] else {
        panic!("one process")
    };
    // A turn that is running during the kill gets exactly one answer.
    let open = client.wire.ask("session/prompt", &prompt(&it, "wait"));
    while !chunks(&transcript.received("client"))
        .concat()
        .contains("WAIT")
    {
        client.wire.receive().await.unwrap();
    }
    let pid = Pid::from_raw(chain.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let answer = client.wire.response(&open).await;
    assert!(answer.error.is_some(), "{}", answer.line);
    assert!(turn(&mut client, &it, "two").await.contains("TWO"));
    let again = world.processes("project-chain");
    assert!(again.len() == 1 && again[0] != chain, "{again:?}");
    client.kill().await.unwrap();
    for id in again {
        gone(&transcript, id).await.unwrap();
    }
}
