//! Sessions with proxies of their projects, from end to end: components with tools, and programs.

use acp_chain::chain::Member;
use acp_chain::channel::FailurePolicy;
use acp_chain_tests::declared::address;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{InProcess, passing, played, proxy};
use acp_chain_tests::projects::Folders;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::web;
use acp_chain_tests::wire::{Wire, in_time, watched};
use serde_json::{Value, json};

const INITIALIZE: &str = r#"{"protocolVersion":1}"#;

/// The `initialize` results of an agent that reaches servers over ACP, and of one that reaches them over HTTP.
const OVER_ACP: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
const OVER_HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;

/// A chain without proxies of the user, after `initialize`.
async fn begun(projects: Folders, transcript: &Transcript, agent: &str) -> InProcess {
    begun_with(Vec::new(), projects, transcript, agent).await
}

/// A chain with these proxies of the user, after `initialize`.
async fn begun_with(
    own: Vec<Member>,
    projects: Folders,
    transcript: &Transcript,
    agent: &str,
) -> InProcess {
    let mut chain = InProcess::with_projects(own, projects, transcript);
    let id = chain.client.ask("initialize", INITIALIZE);
    answers(&mut chain.agent, "initialize", agent).await;
    chain.client.response(&id).await;
    chain
}

/// Receives the next request, which must have this method, and answers it.
async fn answers(wire: &mut Wire, method: &str, result: &str) -> Message {
    let asked = wire.receive().await.expect("a request");
    assert_eq!(asked.method.as_deref(), Some(method), "{}", asked.line);
    wire.send_all(asked.result(result));
    asked
}

/// Sets up a session in a folder. Returns the MCP servers that the agent receives.
async fn session(chain: &mut InProcess, name: &str, folder: &str) -> Vec<Value> {
    let params = json!({ "cwd": folder, "mcpServers": [] }).to_string();
    let id = chain.client.ask("session/new", &params);
    let result = json!({ "sessionId": name }).to_string();
    let asked = answers(&mut chain.agent, "session/new", &result).await;
    let answer = chain.client.response(&id).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    let params: Value = serde_json::from_str(&asked.params.unwrap()).unwrap();
    params["mcpServers"].as_array().unwrap().clone()
}

async fn closes(chain: &mut InProcess, session: &str) {
    let params = json!({ "sessionId": session }).to_string();
    let id = chain.client.ask("session/close", &params);
    answers(&mut chain.agent, "session/close", "{}").await;
    let answer = chain.client.response(&id).await;
    assert!(answer.result.is_some(), "{}", answer.line);
}

fn value(answer: &Message) -> Value {
    let result = answer.result.as_deref();
    let result = result.unwrap_or_else(|| panic!("no result: {}", answer.line));
    serde_json::from_str(result).unwrap()
}

async fn tools() -> Vec<Member> {
    vec![proxy("tools", "tools", "{}").await.into()]
}

/// Calls the tool that returns the session in which it is called.
async fn called_in(agent: &mut Wire, server: &Value) -> Value {
    let connect = json!({ "acpId": server["id"] }).to_string();
    let connection = value(&agent.request("mcp/connect", &connect).await);
    let wrap = |method: &str, params: Value| {
        let connection = &connection["connectionId"];
        json!({ "connectionId": connection, "method": method, "params": params }).to_string()
    };
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" }
    });
    let said = wrap("initialize", hello);
    value(&agent.request("mcp/message", &said).await);
    let said = wrap("tools/call", json!({ "name": "session", "arguments": {} }));
    value(&agent.request("mcp/message", &said).await)["content"][0]["text"].clone()
}

#[tokio::test]
async fn a_session_has_the_tools_of_its_project_and_others_do_not() {
    let folders = Folders::default().with("/one", vec![tools().await, tools().await]);
    let mut chain = begun(folders, &Transcript::new(), OVER_ACP).await;
    assert!(session(&mut chain, "none", "/none").await.is_empty());
    for name in ["first", "again"] {
        let (mut servers, mut others) = (Vec::new(), Vec::new());
        for name in [name, "shared"] {
            servers.extend(session(&mut chain, name, "/one").await);
            others.extend(session(&mut chain, "none", "/none").await);
        }
        assert_eq!((servers.len(), others.len()), (2, 0));
        assert_eq!(called_in(&mut chain.agent, &servers[0]).await, name);
        assert_eq!(called_in(&mut chain.agent, &servers[1]).await, "shared");
        for name in [name, "shared"] {
            closes(&mut chain, name).await;
        }
        let connect = json!({ "acpId": servers[0]["id"] }).to_string();
        let gone = chain.agent.request("mcp/connect", &connect).await;
        assert!(
            gone.line
                .contains("it may have been closed with its session"),
            "{}",
            gone.line
        );
    }
    // Both sets of the project's proxies have joined, and cannot join again.
    let params = json!({ "cwd": "/one", "mcpServers": [] }).to_string();
    let refused = chain.client.request("session/new", &params).await;
    let expected = "the project `/one` cannot begin its proxies: its proxies are used up";
    assert!(refused.line.contains(expected), "{}", refused.line);
    assert!(session(&mut chain, "none", "/none").await.is_empty());
}

/// A guard that sees everything.
async fn guard() -> Member {
    let mut guard = proxy("guard", "pass", "{}").await;
    guard.registration.guard = true;
    guard.into()
}

#[tokio::test]
async fn tools_behind_a_guard_are_the_same_with_a_project_and_without() {
    let folders = Folders::default().with("/one", vec![tools().await]);
    let own = vec![guard().await, proxy("own", "tools", "{}").await.into()];
    let mut chain = begun_with(own, folders, &Transcript::new(), OVER_ACP).await;
    for (name, folder, expected) in [
        ("plain", "/none", &["own"][..]),
        ("with", "/one", &["tools", "own"]),
    ] {
        let servers = session(&mut chain, name, folder).await;
        let names: Vec<_> = servers
            .iter()
            .map(|server| server["name"].clone())
            .collect();
        assert_eq!(names, expected);
        for server in &servers {
            assert_eq!(called_in(&mut chain.agent, server).await, name);
        }
    }
}

#[tokio::test]
async fn what_is_said_with_a_server_of_the_clients_passes_the_programs_of_its_session() {
    let transcript = Transcript::new();
    let folders =
        Folders::default().with("/one", vec![vec![passing("joined", &transcript).into()]]);
    let own = vec![
        passing("front", &transcript).into(),
        guard().await,
        passing("behind", &transcript).into(),
    ];
    let mut chain = begun_with(own, folders, &transcript, OVER_ACP).await;
    for (name, folder, passed) in [("plain", "/none", false), ("with", "/one", true)] {
        let mine = json!([{ "type": "acp", "name": "mine", "id": "own-id" }]);
        let params = json!({ "cwd": folder, "mcpServers": mine }).to_string();
        let id = chain.client.ask("session/new", &params);
        let result = json!({ "sessionId": name }).to_string();
        let asked = answers(&mut chain.agent, "session/new", &result).await;
        chain.client.response(&id).await;
        let params: Value = serde_json::from_str(&asked.params.unwrap()).unwrap();
        let server = params["mcpServers"][0]["id"].clone();
        transcript.clear();

        let id = chain
            .agent
            .ask("mcp/connect", &json!({ "acpId": server }).to_string());
        let theirs = json!({ "connectionId": name }).to_string();
        answers(&mut chain.client, "mcp/connect", &theirs).await;
        let connection = value(&chain.agent.response(&id).await);
        // The agent sends the server a request, and the server the agent.
        let said = json!({ "connectionId": connection["connectionId"], "method": "tools/list", "params": {} });
        let id = chain.agent.ask("mcp/message", &said.to_string());
        answers(&mut chain.client, "mcp/message", r#"{"tools":[]}"#).await;
        assert_eq!(
            value(&chain.agent.response(&id).await),
            json!({ "tools": [] })
        );
        let said = json!({ "connectionId": name, "method": "roots/list", "params": {} });
        let id = chain.client.ask("mcp/message", &said.to_string());
        answers(&mut chain.agent, "mcp/message", r#"{"roots":[]}"#).await;
        assert_eq!(
            value(&chain.client.response(&id).await),
            json!({ "roots": [] })
        );
        for (program, sees) in [("front", true), ("joined", passed), ("behind", true)] {
            let saw = !transcript.received(program).is_empty();
            assert_eq!(saw, sees, "{program} with {name}:\n{transcript}");
        }
    }
}

#[tokio::test]
async fn an_agent_without_mcp_over_acp_reaches_the_tools_of_a_project_by_the_door() {
    let folders = Folders::default().with("/one", vec![tools().await]);
    let mut chain = begun(folders, &Transcript::new(), OVER_HTTP).await;
    assert!(session(&mut chain, "none", "/none").await.is_empty());
    let servers = session(&mut chain, "one", "/one").await;
    let (url, bearer) = address(&servers[0]);
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "session",
            "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let called = web::client()
        .post(url)
        .header("authorization", bearer)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "session")
        .body(call.to_string());
    let answer = in_time("the answer", called.send()).await.unwrap();
    let text = in_time("its text", answer.text()).await.unwrap();
    assert!(text.contains(r#""text":"one""#), "{text}");
}

#[tokio::test]
async fn a_program_that_joins_is_begun_for_its_first_session_and_let_go_with_the_last() {
    let transcript = Transcript::new();
    let (native, mut program) = played("program", &transcript);
    let folders = Folders::default().with("/one", vec![vec![native.into()]]);
    let mut chain = begun(folders, &transcript, OVER_ACP).await;
    let params = json!({ "cwd": "/one" }).to_string();
    let id = chain.client.ask("session/new", &params);
    let asked = answers(&mut program, "proxy/initialize", "{}").await;
    assert_eq!(asked.params.as_deref(), Some(INITIALIZE));
    answers(&mut program, "session/new", r#"{"sessionId":"s"}"#).await;
    chain.client.response(&id).await;
    // Messages outside the program's session do not pass it.
    chain.client.notify("m", "{}");
    let told = chain.agent.receive().await.expect("the notification");
    assert_eq!(told.method.as_deref(), Some("m"));
    let id = chain.client.ask("session/close", r#"{"sessionId":"s"}"#);
    answers(&mut program, "session/close", "{}").await;
    chain.client.response(&id).await;
    assert_eq!(program.line().await, None, "its input ends");
}

#[tokio::test]
async fn a_program_of_a_project_that_ends_takes_only_its_sessions_along() {
    let transcript = Transcript::new();
    let (native, mut program) = played("program", &transcript);
    let folders = Folders::default()
        .with("/one", vec![vec![native.into()]])
        .telling("it was asked for");
    let mut chain = begun(folders, &transcript, OVER_ACP).await;
    session(&mut chain, "other", "/none").await;
    let params = json!({ "cwd": "/one" }).to_string();
    let setup = chain.client.ask("session/new", &params);
    answers(&mut program, "proxy/initialize", "{}").await;
    program.receive().await.expect("the request for a session");
    program.hang_up();
    let answer = chain.client.response(&setup).await;
    let expected = "the proxy `program` of the project `/one` failed on session/new";
    assert!(answer.line.contains(expected), "{}", answer.line);
    let id = chain
        .client
        .ask("session/prompt", r#"{"sessionId":"other","prompt":[]}"#);
    answers(
        &mut chain.agent,
        "session/prompt",
        r#"{"stopReason":"end_turn"}"#,
    )
    .await;
    let answer = chain.client.response(&id).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    let told = transcript.received("client").concat();
    for notice in [
        "it was asked for",
        "the proxy `program` of the project `/one` broke",
    ] {
        assert!(told.contains(notice), "{transcript}");
    }
}

/// When a program of a project ends.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Stage {
    /// Before it has answered `proxy/initialize`.
    Introduction,
    /// It has the request for a session.
    Setup,
    /// It has a prompt.
    Prompt,
}

/// A program of a project, under a policy.
fn under(policy: FailurePolicy, name: &'static str, transcript: &Transcript) -> (Member, Wire) {
    let (mut native, wire) = played(name, transcript);
    native.on_failure = policy;
    (native.into(), wire)
}

async fn ends(stage: Stage, policy: FailurePolicy, transcript: &Transcript) {
    let (first, mut program) = under(policy, "program", transcript);
    let (second, mut next) = under(policy, "next", transcript);
    let folders = Folders::default().with("/one", vec![vec![first], vec![second]]);
    let mut chain = begun(folders, transcript, OVER_ACP).await;
    session(&mut chain, "other", "/none").await;

    let setup = json!({ "cwd": "/one" }).to_string();
    let mut id = chain.client.ask("session/new", &setup);
    if stage > Stage::Introduction {
        answers(&mut program, "proxy/initialize", "{}").await;
    }
    if stage > Stage::Setup {
        answers(&mut program, "session/new", r#"{"sessionId":"s"}"#).await;
        chain.client.response(&id).await;
        let params = r#"{"sessionId":"s","prompt":[]}"#;
        id = chain.client.ask("session/prompt", params);
    }
    program.receive().await.expect("the last message");
    program.hang_up();

    let failed = chain.client.response(&id).await;
    let expected = "the proxy `program` of the project `/one` failed on";
    assert!(failed.line.contains(expected), "{}", failed.line);
    let params = r#"{"sessionId":"other","prompt":[]}"#;
    let other = chain.client.ask("session/prompt", params);
    answers(
        &mut chain.agent,
        "session/prompt",
        r#"{"stopReason":"end_turn"}"#,
    )
    .await;
    let answer = chain.client.response(&other).await;
    assert!(answer.result.is_some(), "{}", answer.line);

    let is_restarting = policy == FailurePolicy::Restart && stage > Stage::Introduction;
    if stage < Stage::Prompt && !is_restarting {
        // No session has this program any more: the next one gets another.
        let again = chain.client.ask("session/new", &setup);
        answers(&mut next, "proxy/initialize", "{}").await;
        answers(&mut next, "session/new", r#"{"sessionId":"s"}"#).await;
        let answer = chain.client.response(&again).await;
        assert!(answer.result.is_some(), "{}", answer.line);
    }
    let lines = transcript.received("client");
    let answers = lines
        .iter()
        .filter_map(|line| Message::parse(line.as_str()).ok());
    let answers = answers.filter(|message| message.answers(&id));
    assert_eq!(answers.count(), 1);
}

#[tokio::test]
async fn whenever_a_program_of_a_project_ends_every_request_is_answered_once_and_others_go_on() {
    for stage in [Stage::Introduction, Stage::Setup, Stage::Prompt] {
        for policy in [
            FailurePolicy::Refuse,
            FailurePolicy::Bypass,
            FailurePolicy::Restart,
        ] {
            let transcript = Transcript::new();
            let what = format!("{stage:?} under {policy:?}");
            watched(&transcript, &what, ends(stage, policy, &transcript)).await;
        }
    }
}
