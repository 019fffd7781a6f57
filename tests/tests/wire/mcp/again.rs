//! Sessions that are set up again, and agents that keep one connection to a server for all of their sessions: the entry
//! of a server stays the same, and connected MCP clients stay connected.

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::InProcess;
use serde_json::{Value, json};

use super::agent::{Connection, SESSION, connect, error, id, native, result, session, text};

const PLAIN: &str = r#"{"protocolVersion":1}"#;
const OTHER: &str = "session-2";

/// Agents that keep one connection for all sessions, by their names in `initialize`.
const SHARING: [&str; 5] = [
    "auggie",
    "fast-agent-acp",
    "OpenCode",
    "Kilo",
    "hermes-agent",
];

async fn sharing(name: &str) -> InProcess {
    let said = json!({
        "protocolVersion": 1,
        "agentInfo": { "name": name, "version": "1" },
        "agentCapabilities": { "mcpCapabilities": { "acp": true } },
    });
    InProcess::initialized_with(&[("tools", "{}")], &said.to_string()).await
}

/// The client sends this request about a session. Returns its id, and the request that the agent receives.
async fn asks(
    chain: &mut InProcess,
    method: &str,
    name: &str,
    servers: &Value,
) -> (String, Message) {
    let params = json!({ "sessionId": name, "cwd": "/", "mcpServers": servers });
    let ask = chain.client.ask(method, &params.to_string());
    (ask, chain.agent.receive().await.unwrap())
}

fn declared(asked: &Message) -> Vec<Value> {
    let params: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    params["mcpServers"].as_array().unwrap().clone()
}

async fn answer(chain: &mut InProcess, ask: &str, lines: Vec<String>) {
    for line in lines {
        chain.agent.send(line);
    }
    chain.client.response(ask).await;
}

/// Sets up a session that is already open. Returns the servers that the agent receives.
async fn again(chain: &mut InProcess, method: &str, name: &str, servers: &Value) -> Vec<Value> {
    let (ask, asked) = asks(chain, method, name, servers).await;
    answer(chain, &ask, asked.result("{}")).await;
    declared(&asked)
}

async fn connected(chain: &mut InProcess, server: &Value) -> Connection {
    let connection = connect(&mut chain.agent, &id(server)).await;
    connection.initialize(&mut chain.agent, "2025-11-25").await;
    connection
}

/// The session of a call, as the tool sees it.
async fn called_in(chain: &mut InProcess, connection: &Connection) -> String {
    text(&connection.call(&mut chain.agent, "session", "{}").await)
}

/// The client opens a turn. Returns the id of its prompt, and the prompt that the agent receives.
async fn prompted(chain: &mut InProcess, name: &str) -> (String, Message) {
    let prompt = json!({ "sessionId": name, "prompt": [] }).to_string();
    let ask = chain.client.ask("session/prompt", &prompt);
    (ask, chain.agent.receive().await.unwrap())
}

async fn ended(chain: &mut InProcess, (ask, asked): (String, Message)) {
    answer(chain, &ask, asked.result(r#"{"stopReason":"end_turn"}"#)).await;
}

#[tokio::test]
async fn a_session_that_is_set_up_again_keeps_its_servers_and_their_clients() {
    for method in ["session/load", "session/resume"] {
        let mut chain = native(&[("tools", "{}")]).await;
        let first = session(&mut chain, SESSION, "[]").await;
        let connection = connected(&mut chain, &first[0]).await;
        assert_eq!(again(&mut chain, method, SESSION, &json!([])).await, first);
        assert_eq!(called_in(&mut chain, &connection).await, SESSION);
        // Once more, with a request that fails.
        let (ask, asked) = asks(&mut chain, method, SESSION, &json!([])).await;
        assert_eq!(declared(&asked), first);
        answer(
            &mut chain,
            &ask,
            asked.error(r#"{"code":-1,"message":"no"}"#),
        )
        .await;
        assert_eq!(called_in(&mut chain, &connection).await, SESSION);
        // Another session has its own server.
        assert_ne!(session(&mut chain, OTHER, "[]").await, first);
    }
}

#[tokio::test]
async fn the_entry_of_a_bridge_is_the_same_when_its_session_is_set_up_again() {
    const HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;
    for said in [PLAIN, HTTP] {
        let mut chain = InProcess::initialized_with(&[("tools", "{}")], said).await;
        let first = session(&mut chain, SESSION, "[]").await;
        assert_eq!(
            again(&mut chain, "session/load", SESSION, &json!([])).await,
            first
        );
        assert_ne!(session(&mut chain, OTHER, "[]").await, first);
        assert_eq!(
            again(&mut chain, "session/resume", SESSION, &json!([])).await,
            first
        );
    }
}

#[tokio::test]
async fn a_server_that_a_session_is_set_up_again_without_lives_until_the_session_ends() {
    let mut chain = native(&[]).await;
    let of = |id: &str| json!([{ "type": "acp", "name": "mine", "id": id }]);
    let first = session(&mut chain, SESSION, &of("one").to_string()).await;
    let same = again(&mut chain, "session/load", SESSION, &of("one")).await;
    assert_eq!(same, first);
    let second = again(&mut chain, "session/load", SESSION, &of("two")).await;
    assert_ne!(second, first);
    let connect = |server: &Value| json!({ "acpId": server["id"] }).to_string();
    let early = chain.agent.ask("mcp/connect", &connect(&first[0]));
    let asked = chain.client.receive().await.unwrap();
    let params: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    assert_eq!(params["acpId"], "one");
    for line in asked.result(r#"{"connectionId":"c"}"#) {
        chain.client.send(line);
    }
    result(&chain.agent.response(&early).await);
    let (ask, asked) = asks(&mut chain, "session/close", SESSION, &json!([])).await;
    answer(&mut chain, &ask, asked.result("{}")).await;
    for server in [&first[0], &second[0]] {
        let late = chain.agent.request("mcp/connect", &connect(server)).await;
        assert_eq!(error(&late).0, -33001);
    }
}

#[tokio::test]
async fn an_agent_with_one_connection_for_all_sessions_gets_one_entry() {
    for name in SHARING {
        let mut chain = sharing(name).await;
        let first = session(&mut chain, SESSION, "[]").await;
        let connection = connected(&mut chain, &first[0]).await;
        assert_eq!(called_in(&mut chain, &connection).await, SESSION);
        assert_eq!(session(&mut chain, OTHER, "[]").await, first, "{name}");
        // The entry lives as long as one of its sessions.
        let (ask, asked) = asks(&mut chain, "session/close", SESSION, &json!([])).await;
        answer(&mut chain, &ask, asked.result("{}")).await;
        assert_eq!(called_in(&mut chain, &connection).await, OTHER);
        let (ask, asked) = asks(&mut chain, "session/close", OTHER, &json!([])).await;
        answer(&mut chain, &ask, asked.result("{}")).await;
        let late = connection.call(&mut chain.agent, "session", "{}").await;
        assert_eq!(error(&late).0, -32602);
    }
}

#[tokio::test]
async fn a_call_on_a_connection_for_all_sessions_belongs_to_the_one_with_a_turn() {
    let mut chain = sharing(SHARING[0]).await;
    let server = session(&mut chain, SESSION, "[]").await;
    session(&mut chain, OTHER, "[]").await;
    let connection = connected(&mut chain, &server[0]).await;
    assert_eq!(called_in(&mut chain, &connection).await, "none");
    let one = prompted(&mut chain, SESSION).await;
    assert_eq!(called_in(&mut chain, &connection).await, SESSION);
    let two = prompted(&mut chain, OTHER).await;
    assert_eq!(called_in(&mut chain, &connection).await, "none");
    ended(&mut chain, one).await;
    assert_eq!(called_in(&mut chain, &connection).await, OTHER);
    ended(&mut chain, two).await;
    assert_eq!(called_in(&mut chain, &connection).await, "none");
}
