//! The servers that the agent receives, and the agent's capabilities that the client and the proxies receive.

use acp_chain_tests::host::InProcess;
use serde_json::{Value, json};

use super::agent::{NATIVE, SESSION, connect, error, id, native, session};

const PLAIN: &str = r#"{"protocolVersion":1}"#;
/// Stdio comes first where an agent has both, and every agent of version 1 has stdio.
const BOTH: &str = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}"#;
const HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;

#[tokio::test]
async fn to_the_client_every_agent_reaches_servers_over_acp() {
    for said in [PLAIN, BOTH, NATIVE] {
        let mut chain = InProcess::start(&[]).await;
        let id = chain.client.ask("initialize", r#"{"protocolVersion":1}"#);
        let asked = chain.agent.receive().await.unwrap();
        for line in asked.result(said) {
            chain.agent.send(line);
        }
        let answer = chain.client.response(&id).await.result.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let mut expected: Value = serde_json::from_str(said).unwrap();
        expected["agentCapabilities"]["mcpCapabilities"]["acp"] = json!(true);
        assert_eq!(answer, expected);
    }
}

#[tokio::test]
async fn servers_that_are_no_list_are_for_the_agent_to_judge() {
    let chains: [&[(&str, &str)]; 2] = [&[], &[("tools", "{}")]];
    for config in chains {
        let mut chain = InProcess::initialized_with(config, PLAIN).await;
        let params = r#"{"cwd":"/", "mcpServers":{"f":{"command":"/f"}}}"#;
        let id = chain.client.ask("session/new", params);
        let asked = chain.agent.receive().await.unwrap();
        assert_eq!(asked.params.as_deref(), Some(params));
        let begun = r#"{"sessionId":"s"}"#;
        for line in asked.result(begun) {
            chain.agent.send(line);
        }
        let answer = chain.client.response(&id).await;
        assert_eq!(answer.result.as_deref(), Some(begun));
    }
}

#[tokio::test]
async fn no_server_over_acp_reaches_an_agent_that_did_not_ask_for_it() {
    let servers = r#"[{"type":"acp","name":"mine","serverId":"x"},{"type":"acp","name":"lost"},{"name":"f","command":"/f","args":[],"env":[]}]"#;
    for said in [PLAIN, BOTH, HTTP] {
        let mut chain = InProcess::initialized_with(&[("tools", "{}")], said).await;
        let servers = session(&mut chain, SESSION, servers).await;
        let names: Vec<_> = servers
            .iter()
            .map(|server| server["name"].clone())
            .collect();
        assert_eq!(names, ["mine", "f", "tools-0"]);
        assert!(
            servers.iter().all(|server| server["type"] != "acp"),
            "{servers:?}"
        );
        let secrets: Vec<_> = [&servers[0], &servers[2]]
            .map(|server| match said {
                HTTP => {
                    assert_eq!(server["type"], "http");
                    let url = server["url"].as_str().unwrap();
                    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
                    server["headers"][0]["value"].to_string()
                }
                _ => {
                    assert_eq!(server["args"], json!(["mcp-shim"]));
                    let env = server["env"].as_array().unwrap();
                    let secret = env
                        .iter()
                        .find(|entry| entry["name"] == "ACP_CHAIN_MCP_SECRET");
                    secret.unwrap()["value"].to_string()
                }
            })
            .into();
        assert_ne!(
            secrets[0], secrets[1],
            "each server has a secret of its own"
        );
    }
}

#[tokio::test]
async fn an_agent_of_version_2_gets_servers_by_type() {
    let said = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"stdio":{}}}}}"#;
    let mut chain = InProcess::initialized_with(&[("tools", "{}")], said).await;
    let servers = session(&mut chain, SESSION, "[]").await;
    assert_eq!(servers[0]["type"], "stdio");
    assert_eq!(servers[0]["args"], json!(["mcp-shim"]));
}

#[tokio::test]
async fn of_two_servers_with_one_name_the_clients_keeps_it() {
    let mut chain = native(&[("tools", "{}"), ("tools", "{}")]).await;
    let servers = r#"[{"name":"tools-0","command":"/f","args":[],"env":[]},{"type":"acp","name":"tools-1","id":"same"},{"type":"acp","name":"tools-1","id":"same"}]"#;
    let servers = session(&mut chain, SESSION, servers).await;
    let names: Vec<_> = servers
        .iter()
        .map(|server| server["name"].clone())
        .collect();
    assert_eq!(
        names,
        ["tools-0", "tools-1", "tools-1", "tools-0-2", "tools-1-2"]
    );
    let mut ids: Vec<_> = servers[1..].iter().map(id).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4, "ids are the host's: {ids:?}");
    // The user is notified in the next turn.
    let prompt = format!(r#"{{"sessionId":"{SESSION}","prompt":[]}}"#);
    chain.client.ask("session/prompt", &prompt);
    let mut told = String::new();
    for _ in 0..2 {
        told += &chain.client.receive().await.unwrap().line;
    }
    for name in ["tools-0-2", "tools-1-2"] {
        assert!(told.contains(name), "{told}");
    }
}

#[tokio::test]
async fn whatever_could_be_read_as_over_acp_is_kept_from_an_agent_without_it() {
    for entry in [
        r#"{"type":"acp","name":"a"}"#,
        r#"{"type":"acp","name":"a","id":7}"#,
        r#"{"type":"acp","type":"stdio","name":"a","command":"/c","args":[],"env":[]}"#,
        r#"{"\ud800":0,"type":"acp","name":"a"}"#,
        r#"{"ty\u0070e":"\u0061cp","name":"a"}"#,
    ] {
        let mut chain = InProcess::initialized_with(&[], PLAIN).await;
        let servers = session(&mut chain, SESSION, &format!("[{entry}]")).await;
        assert!(servers.is_empty(), "{entry}: {servers:?}");
    }
    for entry in [
        r#"{"type":"acp","name":"a","id":"1","id":"2"}"#,
        r#"{"\ud800":0,"type":"acp","name":"a","id":"1"}"#,
    ] {
        let mut chain = InProcess::initialized_with(&[], PLAIN).await;
        let servers = session(&mut chain, SESSION, &format!("[{entry}]")).await;
        assert_eq!(servers[0]["args"], json!(["mcp-shim"]), "{entry}");
    }
    let mut chain = InProcess::initialized_with(&[], PLAIN).await;
    let servers = r#"{"mcpServers":[{"type":"acp","name":"a","id":"1"}]}"#;
    chain.client.notify("session/new", servers);
    let told = chain.agent.receive().await.unwrap();
    assert_eq!(told.params.as_deref(), Some(r#"{"mcpServers":[]}"#));
    let many = format!(r#"{{"mcpServers":[0{}]}}"#, ",0".repeat(256));
    let answer = chain.client.request("session/new", &many).await;
    assert_eq!(error(&answer).0, -32602);
}

#[tokio::test]
async fn an_id_that_looks_like_the_hosts_is_but_its_providers_own() {
    let mut chain = native(&[("tools", "{}")]).await;
    let tools = session(&mut chain, SESSION, "[]").await;
    let own = id(&tools[0]);
    let theirs = json!([{ "type": "acp", "name": "mine", "id": own, "serverId": own }]);
    let servers = session(&mut chain, "session-2", &theirs.to_string()).await;
    let server = id(&servers[0]);
    assert_ne!(server, own);
    let ask = json!({ "acpId": server }).to_string();
    chain.agent.ask("mcp/connect", &ask);
    let asked = chain.client.receive().await.unwrap();
    let params: Value = serde_json::from_str(&asked.params.unwrap()).unwrap();
    assert_eq!(params["acpId"], json!(own));
}

#[tokio::test]
async fn a_fork_has_servers_of_its_own_and_leaves_those_of_the_other() {
    let mut chain = native(&[("tools", "{}")]).await;
    let first = id(&session(&mut chain, SESSION, "[]").await[0]);
    let params = json!({ "sessionId": SESSION, "cwd": "/" }).to_string();
    let ask = chain.client.ask("session/fork", &params);
    let asked = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    let forked = id(&params["mcpServers"][0]);
    for line in asked.result("{}") {
        chain.agent.send(line);
    }
    chain.client.response(&ask).await;
    for server in [first, forked] {
        let connection = connect(&mut chain.agent, &server).await;
        connection.initialize(&mut chain.agent, "2025-11-25").await;
    }
}
