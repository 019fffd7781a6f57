//! The wild agent has the habits that its flags and its prompts ask for.

use std::process::Stdio;

use acp_chain_tests::envelope::{Message, quoted};
use acp_chain_tests::process::{Exit, Process, gone};
use acp_chain_tests::transcript::Transcript;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

fn command(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wild-agent"));
    command.args(flags);
    command
}

fn start(flags: &[&str]) -> Process {
    Process::start("client", &Transcript::new(), command(flags)).unwrap()
}

/// The parameters of a prompt of one text block.
fn prompt(text: &str) -> String {
    let text = quoted(text);
    format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":{text}}}]}}"#)
}

/// Sends one prompt to an agent, and returns the texts of its chunks and its answer.
async fn turn(agent: &mut Process, text: &str) -> (Vec<String>, Message) {
    let answer = agent.wire.request("session/prompt", &prompt(text)).await;
    (chunks(agent), answer)
}

/// The texts of all chunks that came so far.
fn chunks(agent: &Process) -> Vec<String> {
    let lines = agent.wire.transcript().received("client");
    let text = |line: &String| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        let text = line["params"]["update"]["content"]["text"].as_str()?;
        Some(text.to_owned())
    };
    lines.iter().filter_map(text).collect()
}

async fn finish(agent: Process) -> Exit {
    agent.finish().await.unwrap()
}

#[tokio::test]
async fn a_turn_without_habits() {
    let transcript = Transcript::new();
    let mut agent = Process::start("client", &transcript, command(&[])).unwrap();
    agent
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    agent
        .wire
        .request("session/new", r#"{"cwd":"/","mcpServers":[]}"#)
        .await;
    agent
        .wire
        .request("session/prompt", &prompt("hé llo"))
        .await;
    agent.wire.request("no/such", "{}").await;
    let exit = finish(agent).await;
    assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
        client ← {"jsonrpc":"2.0","id":1,"result":{"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"wild-agent","version":"…"},"protocolVersion":1}}
        client → {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        client ← {"jsonrpc":"2.0","id":2,"result":{"sessionId":"session-1"}}
        client → {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hé llo"}]}}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hé"}}}}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" l"}}}}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"lo"}}}}
        client ← {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        client → {"jsonrpc":"2.0","id":4,"method":"no/such","params":{}}
        client ← {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found: no/such"}}
        "#,
    );
}

#[tokio::test]
async fn habits_of_the_wire_combine() {
    let transcript = Transcript::new();
    let flags = [
        "--result-first",
        "--no-capabilities",
        "--early-updates",
        "--garbage",
    ];
    let mut agent = Process::start("client", &transcript, command(&flags)).unwrap();
    assert_eq!(
        agent.wire.line().await.as_deref(),
        Some("Welcome to wild-agent! {not json")
    );
    let answer = agent.wire.request("initialize", "{}").await;
    assert!(answer.line.starts_with(r#"{"result":"#), "{}", answer.line);
    assert!(
        !answer.line.contains("agentCapabilities"),
        "{}",
        answer.line
    );
    agent.wire.request("session/new", "{}").await;
    let lines = transcript.received("client");
    assert!(
        lines[2].contains(r#""sessionId":"session-1""#),
        "{}",
        lines[2]
    );
    assert_eq!(
        lines[3],
        r#"{"jsonrpc":"2.0","method":"_vendor/hello","params":{"sessionId":"session-1"}}"#
    );
    assert_eq!(
        lines[4],
        r#"{"result":{"sessionId":"session-1"},"id":2,"jsonrpc":"2.0"}"#
    );
}

#[tokio::test]
async fn its_own_requests_have_ids_of_each_kind() {
    for (kind, first, second) in [
        ("number", "1", "2"),
        ("zero", "0", "1"),
        (
            "uuid",
            r#""5f2c1c7e-9d0b-4a6e-8c3f-000000000000""#,
            r#""5f2c1c7e-9d0b-4a6e-8c3f-000000000001""#,
        ),
        ("null", "null", "null"),
    ] {
        let mut agent = start(&["--ids", kind]);
        agent.wire = agent
            .wire
            .answering(|message| message.result(r#"{"content":"text"}"#));
        let (chunks, _) = turn(&mut agent, "read /a\nread /b").await;
        assert_eq!(chunks, ["text", "text"]);
        let exit = finish(agent).await;
        let ids: Vec<_> = exit
            .rest
            .iter()
            .filter_map(|message| message.id.as_deref())
            .collect();
        assert_eq!(ids, [first, second]);
    }
}

#[tokio::test]
async fn it_asks_for_permission_and_tells_the_outcome() {
    let answers = [
        r#"{"outcome":{"outcome":"selected","optionId":"allow-once"}}"#,
        r#"{"outcome":{"outcome":"cancelled"}}"#,
        r#"{"unheard":"of"}"#,
    ];
    let mut answers = answers.into_iter();
    let mut agent = start(&[]);
    agent.wire = agent.wire.answering(move |message| match answers.next() {
        Some(answer) if message.is_request() => message.result(answer),
        _ => message.error(r#"{"code":-1,"message":"no"}"#),
    });
    let line = "permission edit Write the file /etc/hosts";
    // The closure also receives the updates in between, so each turn has one answer.
    let (told, _) = turn(&mut agent, line).await;
    assert_eq!(told, ["selected allow-once"]);
    let exit = finish(agent).await;
    let asked = &exit.rest[0];
    assert_eq!(asked.method.as_deref(), Some("session/request_permission"));
    let params: serde_json::Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    assert_eq!(params["toolCall"]["title"], "Write the file");
    assert_eq!(params["toolCall"]["kind"], "edit");
    assert_eq!(params["toolCall"]["locations"][0]["path"], "/etc/hosts");
    assert_eq!(params["options"][0]["kind"], "allow_once");
}

#[tokio::test]
async fn it_tells_answers_as_they_were_spelt() {
    let mut agent = start(&[]);
    agent.wire = agent
        .wire
        .answering(|message| match message.method.as_deref() {
            Some("vendor/unheard") => message.result(r#"{"n": 1e400}"#),
            _ => message.error(r#"{"code": -32601,"message":"no"}"#),
        });
    let script = "ask vendor/unheard {\"a\":-0.0}\nread /x\npermission read A b\ntell v/w [1]";
    let (chunks, _) = turn(&mut agent, script).await;
    let error = r#"error {"code": -32601,"message":"no"}"#;
    assert_eq!(chunks, [r#"result {"n": 1e400}"#, error, error]);
    let transcript = agent.wire.transcript().received("client");
    assert!(transcript[0].ends_with(r#""method":"vendor/unheard","params":{"a":-0.0}}"#));
    assert!(transcript.contains(&r#"{"jsonrpc":"2.0","method":"v/w","params":[1]}"#.to_owned()));
}

#[tokio::test]
async fn it_withdraws_a_request() {
    let mut agent = start(&["--ids", "zero"]);
    let id = agent
        .wire
        .ask("session/prompt", &prompt("withdraw terminal/create"));
    let asked = agent.wire.receive().await.unwrap();
    let cancel = agent.wire.receive().await.unwrap();
    assert_eq!(cancel.method.as_deref(), Some("$/cancel_request"));
    assert_eq!(cancel.params.as_deref(), Some(r#"{"requestId":0}"#));
    agent
        .wire
        .send(&asked.error(r#"{"code":-32800,"message":"x"}"#)[0]);
    agent.wire.response(&id).await;
    assert_eq!(chunks(&agent), [r#"error {"code":-32800,"message":"x"}"#]);
}

#[tokio::test]
async fn a_waiting_turn_ends_when_it_is_cancelled() {
    let mut agent = start(&[]);
    let id = agent.wire.ask("session/prompt", &prompt("wait"));
    let params = format!(r#"{{"requestId":{id}}}"#);
    agent.wire.notify("$/cancel_request", &params);
    let answer = agent.wire.response(&id).await;
    assert!(answer.error.unwrap().contains("-32800"));
    assert_eq!(chunks(&agent), ["cancel_request 1"]);

    let id = agent
        .wire
        .ask("session/prompt", &prompt("read /never/answered"));
    agent.wire.notify("session/cancel", r#"{"sessionId":"s"}"#);
    let answer = agent.wire.response(&id).await;
    assert_eq!(
        answer.result.as_deref(),
        Some(r#"{"stopReason":"cancelled"}"#)
    );
}

#[tokio::test]
async fn a_turn_that_is_never_answered_is_not_answered_when_cancelled_either() {
    let mut agent = start(&["--never", "session/list"]);
    let never = agent.wire.ask("session/prompt", &prompt("never"));
    let list = agent.wire.ask("session/list", "{}");
    let params = format!(r#"{{"requestId":{never}}}"#);
    agent.wire.notify("$/cancel_request", &params);
    agent.wire.notify("session/cancel", r#"{"sessionId":"s"}"#);
    let rest = finish(agent).await.rest;
    assert!(
        !rest
            .iter()
            .any(|message| message.answers(&never) || message.answers(&list))
    );
    assert_eq!(
        rest.len(),
        1,
        "only the report of the cancellation: {rest:?}"
    );
}

#[tokio::test]
async fn cancellation_can_be_ignored() {
    let mut agent = start(&["--ignore-cancel"]);
    let id = agent.wire.ask("session/prompt", &prompt("wait"));
    agent
        .wire
        .notify("$/cancel_request", &format!(r#"{{"requestId":{id}}}"#));
    assert!(finish(agent).await.rest.is_empty());
}

#[tokio::test]
async fn lines_have_exactly_the_length_that_was_asked_for() {
    let mut agent = start(&["--big-update", "600000"]);
    agent.wire.request("session/new", "{}").await;
    assert_eq!(agent.wire.line().await.unwrap().len(), 600_000);
    turn(&mut agent, &format!("line {}", 32 << 20)).await;
    let lines = agent.wire.transcript().received("client");
    assert!(lines.iter().any(|line| line.len() == 32 << 20));
    let long = "é".repeat(1 << 20);
    let (chunks, _) = turn(&mut agent, &format!("echo {long}")).await;
    assert_eq!(chunks, [long]);
}

#[tokio::test]
async fn it_shows_what_it_received_just_as_it_was_spelt() {
    let mut agent = start(&[]);
    let line = r#"{"params":{"sessionId":"\u0073", "x":1e400,"prompt":[{"text":"show"}]} ,"id":"\/","method":"session/prompt"}"#;
    agent.wire.send(line);
    let answer = agent.wire.response(r#""\/""#).await;
    assert!(answer.result.is_some());
    assert_eq!(chunks(&agent), [line]);
}

#[tokio::test]
async fn a_turn_can_be_answered_otherwise_twice_or_by_nobody_known() {
    let mut agent = start(&[]);
    let (_, answer) = turn(&mut agent, r#"stop {"stopReason": "refusal","n":1E+2}"#).await;
    assert_eq!(
        answer.result.as_deref(),
        Some(r#"{"stopReason": "refusal","n":1E+2}"#)
    );
    let (_, answer) = turn(&mut agent, r#"fail {"code":7,"message":"m"}"#).await;
    assert_eq!(answer.error.as_deref(), Some(r#"{"code":7,"message":"m"}"#));
    let (_, answer) = turn(&mut agent, "garbage-free\nunknown").await;
    assert!(answer.result.is_some());
    turn(&mut agent, "unknown\ntwice").await;
    let rest = finish(agent).await.rest;
    let unknown = rest
        .iter()
        .filter(|message| message.answers(r#""an-id-that-nobody-used""#));
    assert_eq!(unknown.count(), 1);
    assert_eq!(
        rest.iter().filter(|message| message.answers("4")).count(),
        1
    );
}

#[tokio::test]
async fn a_turn_can_write_any_line_and_be_answered_at_any_length() {
    let mut agent = start(&[]);
    let script = "raw {\"id\":{id}\nraw caf\u{e9}\nbulk 1000";
    agent.wire.ask("session/prompt", &prompt(script));
    assert_eq!(agent.wire.line().await.as_deref(), Some("{\"id\":1"));
    assert_eq!(agent.wire.line().await.as_deref(), Some("caf\u{e9}"));
    let answer = agent.wire.response("1").await;
    assert_eq!(answer.result.unwrap().len(), 1000);
    let latin1 = prompt("latin1 caf\u{e9}");
    agent.wire.ask("session/prompt", &latin1);
    let line = agent.wire.bytes().await.unwrap();
    assert_eq!(line, b"caf\xe9");
}

#[tokio::test]
async fn updates_are_sent_as_they_are_written() {
    let mut agent = start(&[]);
    let (chunks, _) = turn(&mut agent, "update {\"n\" :-0.0}\nstream 2\nstream 1 x").await;
    assert_eq!(chunks, ["chunk 0", "chunk 1", "x 0"]);
    let first = &agent.wire.transcript().received("client")[0];
    assert!(first.ends_with(r#""update":{"n" :-0.0}}}"#), "{first}");
}

#[tokio::test]
async fn it_exits_in_the_middle_of_a_turn() {
    let mut agent = start(&[]);
    agent
        .wire
        .ask("session/prompt", &prompt("stream 2\nexit 7"));
    assert_eq!(agent.exited().await.unwrap().code(), Some(7));
    let exit = finish(agent).await;
    assert_eq!(
        exit.rest.len(),
        2,
        "two chunks and no answer: {:?}",
        exit.rest
    );

    let mut agent = start(&[]);
    agent.wire.ask("session/prompt", &prompt("abort"));
    assert_eq!(agent.exited().await.unwrap().code(), None);
}

#[tokio::test]
async fn it_can_fail_before_it_says_anything() {
    let exit = finish(start(&["--stderr", "1000000", "--exit", "3"])).await;
    assert_eq!(exit.status.code(), Some(3));
    assert_eq!(exit.stderr.len(), 1_000_000);
    assert!(exit.rest.is_empty());
}

#[tokio::test]
async fn it_lives_on_after_the_end_of_its_input_and_so_does_its_child() {
    let file = std::env::temp_dir().join(format!("wild-agent-child-{}", std::process::id()));
    let transcript = Transcript::new();
    let mut command = command(&["--survive-eof", "--child"]);
    command.arg(&file).process_group(0).stderr(Stdio::inherit());
    let mut agent = Process::start("client", &transcript, command).unwrap();
    agent.wire.request("initialize", "{}").await;
    let child: u32 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    std::fs::remove_file(&file).unwrap();
    agent.wire.close();
    let message = agent.wire.receive().await.unwrap();
    assert_eq!(message.method.as_deref(), Some("_vendor/still_here"));

    // The child is in the agent's process group, and ends only when that group is killed.
    let id = agent.id().unwrap();
    let group = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    gone(&transcript, child).await.unwrap();
    let exit = finish(agent).await;
    assert_eq!(exit.status.code(), None);
}
