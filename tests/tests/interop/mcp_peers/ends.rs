//! Calls that are cut short, with real processes: no process and no file is left.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain::bridge::pipe::SOCKET;
use acp_chain_tests::chain::MANIFEST;
use acp_chain_tests::declared::{command, variable};
use acp_chain_tests::host::{self, InProcess, run};
use acp_chain_tests::process::{Process, gone};
use acp_chain_tests::transcript::Transcript;
use rmcp::service::ServiceError;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::caller::{BOTH, Caller, STDIO, bridged, legacy, modern, watched};
use super::turns::{Turns, agent, tools};

/// elizacp in the middle of a call, through a shim that it started.
struct Calling {
    turns: Turns,
    prompt: String,
    agent: u32,
    shim: u32,
    socket: PathBuf,
}

/// A chain whose sockets are in this folder.
async fn elizacp(place: &Path) -> Turns {
    let command = |folder: &Path| {
        let agent = agent(&["elizacp", "--deterministic", "acp"]);
        let mut command = run(Some(&folder.join(MANIFEST)), agent);
        command.env("XDG_RUNTIME_DIR", place);
        command
    };
    Turns::launch(&tools("tools", "tools"), command, &json!([])).await
}

/// The shim with a socket in this folder, and its parent.
fn shim(place: &Path) -> (u32, u32, PathBuf) {
    let wanted = format!("{SOCKET}={}/", place.display());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut found = processes.filter_map(|process| {
        let read = |name| {
            let bytes = fs::read(process.path().join(name)).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let environ = read("environ")?;
        let socket = environ
            .split('\0')
            .find(|entry| entry.starts_with(&wanted))?;
        let status = read("status")?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        let socket = socket.split_once('=')?.1.into();
        let id = process.file_name().to_str()?.parse().ok()?;
        Some((id, parent.trim().parse().ok()?, socket))
    });
    let shim = found.next().expect("a shim");
    assert!(found.next().is_none(), "there is one call");
    shim
}

async fn calling(place: &Path) -> Calling {
    let mut turns = elizacp(place).await;
    let prompt = turns.begin("Use tool tools::slow with {}");
    let gate = turns.chain.client.wire.receive().await.unwrap();
    assert_eq!(gate.method.as_deref(), Some("_test/gate"));
    let (shim, agent, socket) = shim(place);
    assert!(socket.exists());
    Calling {
        turns,
        prompt,
        agent,
        shim,
        socket,
    }
}

fn kill(process: u32) {
    let process = Pid::from_raw(process.try_into().unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
}

/// A folder for sockets, whose path is short.
fn place() -> TempDir {
    tempfile::Builder::new()
        .prefix("mcp")
        .tempdir_in("/tmp")
        .unwrap()
}

/// Whether nothing is left but the folder that lists the chains that can be watched, and that folder is empty.
fn is_empty(folder: &Path) -> bool {
    let watched = folder.join("acp-chain");
    let count = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
    count(folder) == usize::from(watched.exists()) && count(&watched) == 0
}

/// Lists the chains, which also removes the entries of killed ones from that folder.
async fn look(place: &Path) {
    let mut top = host::acp_chain("top");
    top.arg("--once").env("XDG_RUNTIME_DIR", place);
    let output = top.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn when_the_agent_is_killed_in_a_call_the_chain_and_the_shim_end_and_nothing_is_left() {
    let place = place();
    let mut calling = calling(place.path()).await;
    kill(calling.agent);
    let client = &mut calling.turns.chain.client;
    let answer = client.wire.response(&calling.prompt).await;
    assert!(answer.error.is_some(), "{}", answer.line);
    client.exited().await.unwrap();
    gone(&Transcript::new(), calling.shim).await.unwrap();
    assert!(is_empty(place.path()), "{}", calling.socket.display());
}

#[tokio::test]
async fn when_the_client_leaves_or_the_chain_is_told_to_stop_nothing_is_left() {
    for stop in [None, Some(Signal::TERM)] {
        let place = place();
        let calling = calling(place.path()).await;
        let client = calling.turns.chain.client;
        if let Some(signal) = stop {
            client.signal(signal).unwrap();
        }
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success(), "{stop:?}: {exit:?}");
        for process in [calling.shim, calling.agent] {
            gone(&Transcript::new(), process).await.unwrap();
        }
        assert!(is_empty(place.path()), "{stop:?}");
    }
}

#[tokio::test]
async fn when_the_shim_is_killed_in_a_call_the_tool_is_told_and_the_next_call_works() {
    let place = place();
    let mut calling = calling(place.path()).await;
    kill(calling.shim);
    calling.turns.given_up(&calling.prompt).await;
    let said = calling.turns.chain.client.chunks().concat();
    assert!(said.starts_with("ERROR: "), "{said}");
    let echo = r#"Use tool tools::echo with {"text":"again"}"#;
    let said = calling.turns.turn(echo).await;
    assert!(said.starts_with("OK: ") && said.contains("again"), "{said}");
}

#[tokio::test]
async fn when_the_chain_is_killed_the_shim_ends_and_the_socket_is_removed() {
    let place = place();
    let mut calling = calling(place.path()).await;
    calling.turns.chain.client.kill().await.unwrap();
    for process in [calling.shim, calling.agent] {
        gone(&Transcript::new(), process).await.unwrap();
    }
    removed(&calling.socket).await;
    look(place.path()).await;
    assert!(is_empty(place.path()));
}

#[tokio::test]
async fn when_its_supervisor_is_killed_too_the_next_chain_cleans_up() {
    let place = place();
    let mut calling = calling(place.path()).await;
    let chain = &mut calling.turns.chain.client;
    kill_process(chain.supervisor(), Signal::KILL).unwrap();
    chain.kill().await.unwrap();
    // Without the supervisor, these processes have to end on their own, or are killed here.
    for process in [calling.shim, calling.agent] {
        let id = Pid::from_raw(process.cast_signed()).unwrap();
        let _ = kill_process(id, Signal::KILL);
        gone(&Transcript::new(), process).await.unwrap();
    }
    assert!(calling.socket.exists(), "nothing removes the socket");
    let mut next = elizacp(place.path()).await;
    let listed = next.turn("List tools from tools").await;
    assert!(listed.contains("  - echo: "), "{listed}");
    removed(&calling.socket).await;
    let exit = next.chain.client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    look(place.path()).await;
    assert!(is_empty(place.path()));
}

/// Waits until a socket and its folder are removed.
async fn removed(socket: &Path) {
    let removed = async {
        while socket.parent().unwrap().exists() {
            tokio::task::yield_now().await;
        }
    };
    watched("the removal of the socket", removed).await;
}

/// Closes the session once the call of `slow` has reached the client.
async fn close(chain: &mut InProcess) {
    let gate = chain.client.receive().await.unwrap();
    assert_eq!(gate.method.as_deref(), Some("_test/gate"));
    let params = json!({ "sessionId": "session-1" }).to_string();
    let close = chain.client.ask("session/close", &params);
    let asked = chain.agent.receive().await.unwrap();
    for line in asked.result("{}") {
        chain.agent.send(line);
    }
    let closed = chain.client.response(&close).await;
    assert!(closed.result.is_some(), "{}", closed.line);
}

#[tokio::test]
async fn when_the_session_closes_in_a_call_the_call_is_answered_and_then_the_shim_ends() {
    let (mut chain, declared) = bridged(&[("tools", "{}")], STDIO).await;
    let socket = PathBuf::from(variable(&declared[0], SOCKET));
    let mut shim = Process::start("agent", &Transcript::new(), command(&declared[0])).unwrap();
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    });
    let hello = shim.wire.request("initialize", &hello.to_string()).await;
    assert!(hello.result.is_some(), "{}", hello.line);
    shim.wire.notify("notifications/initialized", "{}");
    let call = shim
        .wire
        .ask("tools/call", r#"{"name":"slow","arguments":{}}"#);
    close(&mut chain).await;
    let answer = shim.wire.response(&call).await;
    let error = answer.error.unwrap();
    assert!(error.contains("-33001"), "{error}");
    assert!(shim.exited().await.unwrap().success());
    assert!(socket.exists(), "there may be other sessions");
}

/// Also where the answer has to pass a proxy.
#[tokio::test]
async fn when_the_session_closes_in_a_call_every_client_is_told_why() {
    for agent in BOTH {
        for mode in [legacy(), modern()] {
            let (mut chain, declared) = bridged(&[("tools", "{}"), ("pass", "{}")], agent).await;
            let caller = Caller::connect(&declared[0], mode).await;
            let (outcome, ()) = tokio::join!(caller.try_call("slow", json!({})), close(&mut chain));
            match outcome {
                Err(ServiceError::McpError(error)) => assert_eq!(error.code.0, -33001),
                other => panic!("{agent}: {other:?}"),
            }
        }
    }
}
