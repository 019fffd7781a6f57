//! Proxies that declare a server in `session/new` and answer `mcp/*` themselves.

use serde_json::{Value, json};

use super::agent::{SESSION, connect, error, id, native, result, session};

/// Such a proxy, with the server that it declares in every session.
fn provider(server: &Value, requests: &Value) -> String {
    let mut requests = requests.clone();
    requests["session/new"] = json!([{ "edit": { "pointer": "/mcpServers/-", "value": server } }]);
    json!({ "requests": requests }).to_string()
}

#[tokio::test]
async fn two_of_them_may_choose_the_same_ids_and_are_told_apart() {
    let answers = |name: &str| {
        let asks = json!({ "connectionId": "c", "method": "roots/list", "params": { "by": name } });
        let tells = json!({ "connectionId": "c", "method": "notifications/message", "params": { "by": name } });
        let server = json!({ "type": "acp", "name": "raw", "id": "own" });
        // Messages for other servers have ids of the host.
        let own = |pointer: &str, id: &str| json!({ "unless": { "pointer": pointer, "is": id } });
        let requests = json!({
            "mcp/connect": [own("/acpId", "own"), { "respond": { "connectionId": "c" } }],
            "mcp/message": [
                own("/connectionId", "c"),
                { "tell": { "to": "agent", "method": "mcp/message", "params": tells } },
                { "ask": { "to": "agent", "method": "mcp/message", "params": asks } },
                { "respond": { "by": name } },
            ],
            "mcp/disconnect": [own("/connectionId", "c"), { "respond": {} }],
        });
        provider(&server, &requests)
    };
    let (one, two) = (answers("one"), answers("two"));
    let mut chain = native(&[("does", &one), ("pass", "{}"), ("does", &two)]).await;
    let servers = session(&mut chain, SESSION, "[]").await;
    let names: Vec<_> = servers
        .iter()
        .map(|server| server["name"].clone())
        .collect();
    assert_eq!(names, ["raw", "raw-2"]);
    for (server, by) in servers.iter().zip(["one", "two"]) {
        let connection = connect(&mut chain.agent, &id(server)).await;
        let ask = connection.wrap("tools/call", r#"{"name":"t"}"#);
        let ask = chain.agent.ask("mcp/message", &ask);
        for method in ["notifications/message", "roots/list"] {
            let said = chain.agent.receive().await.unwrap();
            let params: Value = serde_json::from_str(said.params.as_ref().unwrap()).unwrap();
            assert_eq!(params["connectionId"], json!(connection.0));
            assert_eq!(params["method"], method);
            assert_eq!(params["params"]["by"], by);
            if said.id.is_some() {
                for line in said.result(r#"{"roots":[]}"#) {
                    chain.agent.send(line);
                }
            }
        }
        let answer = chain.agent.response(&ask).await;
        assert_eq!(result(&answer), json!({ "by": by }));
        let bye = json!({ "connectionId": connection.0 }).to_string();
        let answer = chain.agent.request("mcp/disconnect", &bye).await;
        assert_eq!(result(&answer), json!({}));
    }
}

#[tokio::test]
async fn one_that_does_not_answer_for_its_server_is_named_in_the_error() {
    let server = json!({ "type": "acp", "name": "raw", "id": "own" });
    let silent = provider(&server, &json!({}));
    let mut chain = native(&[("pass", "{}"), ("does", &silent)]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let params = json!({ "acpId": server }).to_string();
    let (code, words) = error(&chain.agent.request("mcp/connect", &params).await);
    assert_eq!(code, -33001);
    assert!(words.contains("`does-1`"), "{words}");
}

#[tokio::test]
async fn one_that_breaks_in_a_call_leaves_no_call_open() {
    let server = json!({ "type": "acp", "name": "raw", "serverId": "own" });
    let breaks = provider(&server, &json!({ "mcp/message": [{ "break": "panic" }] }));
    let mut chain = native(&[("does", &breaks)]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let params = super::agent::alone(&server, "r", "tools/list", &json!({}));
    let (_, words) = error(&chain.agent.request("mcp/message", &params).await);
    assert!(words.contains("`does-0`"), "{words}");
}
