//! Servers of the client: messages pass unchanged, and from one dialect to the other.

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::InProcess;
use serde_json::{Value, json};

use super::agent::{Connection, SESSION, alone, connect, error, id, native, result, session};

/// A server in the dialect of the RFD, and one in the other dialect.
const CONNECTED: &str = r#"[{"type":"acp","name":"theirs","id":"own-id","_meta":{"x":"y"}}]"#;
const STATELESS: &str = r#"[{"type":"acp","name":"theirs","serverId":"own-id"}]"#;

/// The next message to the client, which is for its server.
async fn heard(chain: &mut InProcess) -> (Message, Value) {
    let message = chain
        .client
        .receive()
        .await
        .expect("a message for the server");
    let params = message.params.as_deref().unwrap_or("null");
    // A JSON value cannot hold this number.
    let params = serde_json::from_str(&params.replace("1e400", "0")).unwrap();
    (message, params)
}

/// The client answers a message.
fn answer(chain: &mut InProcess, message: &Message, result: &str) {
    for line in message.result(result) {
        chain.client.send(line);
    }
}

/// Connects the agent to the client's server, whose id for the connection is `theirs`.
async fn connected(chain: &mut InProcess, server: &str, theirs: &str) -> Connection {
    let ask = json!({ "acpId": server }).to_string();
    let ask = chain.agent.ask("mcp/connect", &ask);
    let (message, params) = heard(chain).await;
    assert_eq!(message.method.as_deref(), Some("mcp/connect"));
    assert_eq!(params["acpId"], "own-id");
    answer(
        chain,
        &message,
        &json!({ "connectionId": theirs }).to_string(),
    );
    let answer = result(&chain.agent.response(&ask).await);
    Connection(answer["connectionId"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn what_is_said_on_a_connection_passes_as_it_is() {
    let mut chain = native(&[("pass", "{}")]).await;
    let servers = session(&mut chain, SESSION, CONNECTED).await;
    assert_eq!(servers[0]["_meta"], json!({ "x": "y" }));
    let server = id(&servers[0]);
    let one = connected(&mut chain, &server, "theirs \u{1f980}").await;
    let two = connected(&mut chain, &server, "theirs-2").await;
    assert_ne!(one.0, two.0);

    let odd = r#"{ "n" : 1e400, "\u0061":[-0.0] }"#;
    let ask = chain
        .agent
        .ask("mcp/message", &two.wrap("resources/read", odd));
    let (message, params) = heard(&mut chain).await;
    assert_eq!(params["connectionId"], "theirs-2");
    assert_eq!(params["method"], "resources/read");
    assert!(
        message.params.as_ref().unwrap().contains(odd),
        "{}",
        message.line
    );
    answer(&mut chain, &message, odd);
    assert_eq!(
        chain.agent.response(&ask).await.result.as_deref(),
        Some(odd)
    );

    // And the other way: requests, with their answers, and notifications.
    let theirs = r#"{"connectionId":"theirs-2","method":"roots/list","params":{}}"#;
    let ask = chain.client.ask("mcp/message", theirs);
    let asked = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    assert_eq!(
        (&params["connectionId"], &params["method"]),
        (&json!(two.0), &json!("roots/list"))
    );
    for line in asked.result(r#"{"roots":[]}"#) {
        chain.agent.send(line);
    }
    let roots = chain.client.response(&ask).await;
    assert_eq!(roots.result.as_deref(), Some(r#"{"roots":[]}"#));
    let theirs = r#"{"connectionId":"theirs \ud83e\udd80","method":"notifications/message"}"#;
    chain.client.notify("mcp/message", theirs);
    let told = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(&told.params.unwrap()).unwrap();
    assert_eq!(params["connectionId"], json!(one.0));

    // Errors of the server pass unchanged.
    let ask = chain.agent.ask("mcp/message", &one.wrap("x", "{}"));
    let (message, _) = heard(&mut chain).await;
    for line in message.error(r#"{"code":-7,"message":"no","data":[1e400]}"#) {
        chain.client.send(line);
    }
    let refused = chain.agent.response(&ask).await;
    assert_eq!(
        refused.error.as_deref(),
        Some(r#"{"code":-7,"message":"no","data":[1e400]}"#)
    );
}

#[tokio::test]
async fn what_stands_alone_passes_as_it_is() {
    let mut chain = native(&[("pass", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, STATELESS).await[0]);
    let params = alone(&server, "r-1", "tools/call", &json!({ "name": "t" }));
    let ask = chain.agent.ask("mcp/message", &params);
    let (message, params) = heard(&mut chain).await;
    assert_eq!(params["serverId"], "own-id");
    assert_eq!(params["method"], "tools/call");
    assert_eq!(params["params"]["name"], "t");
    let request = params["requestId"].clone();
    let progress = json!({ "serverId": "own-id", "requestId": request, "method": "notifications/progress", "params": { "progress": 1 } });
    chain.client.notify("mcp/message", &progress.to_string());
    let told = chain.agent.receive().await.unwrap();
    let told: Value = serde_json::from_str(&told.params.unwrap()).unwrap();
    assert_eq!(told["requestId"], "r-1");
    assert_eq!(told["serverId"], json!(server));
    answer(
        &mut chain,
        &message,
        r#"{"result":{"resultType":"complete","n":1e400}}"#,
    );
    let outcome = chain.agent.response(&ask).await.result.unwrap();
    assert!(
        outcome.contains(r#"{"resultType":"complete","n":1e400}"#),
        "{outcome}"
    );

    let ask = chain
        .agent
        .ask("mcp/message", &alone(&server, "r-2", "x", &json!({})));
    let (message, _) = heard(&mut chain).await;
    answer(
        &mut chain,
        &message,
        r#"{"error":{"code":-32601,"message":"no x"}}"#,
    );
    let outcome = result(&chain.agent.response(&ask).await);
    assert_eq!(outcome["error"]["code"], -32601);

    let ask = chain
        .agent
        .ask("mcp/message", &alone(&server, "r-3", "x", &json!({})));
    let (message, _) = heard(&mut chain).await;
    for line in message.error(r#"{"code":-33002,"message":"down"}"#) {
        chain.client.send(line);
    }
    assert_eq!(error(&chain.agent.response(&ask).await).0, -33002);

    let ask = chain
        .agent
        .ask("mcp/message", &alone(&server, "r-4", "x", &json!({})));
    let (message, _) = heard(&mut chain).await;
    chain
        .agent
        .notify("$/cancel_request", &format!(r#"{{"requestId":{ask}}}"#));
    let (cancel, params) = heard(&mut chain).await;
    assert_eq!(cancel.method.as_deref(), Some("$/cancel_request"));
    assert_eq!(params["requestId"].to_string(), message.id.unwrap());
}

#[tokio::test]
async fn an_error_outside_of_mcp_passes_as_it_is() {
    let mut chain = native(&[("pass", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, STATELESS).await[0]);
    for refusal in [
        r#"{"code":-7,"message":"no","data":[1e400]}"#,
        r#"{"code":-32602,"message":"not so"}"#,
    ] {
        let params = alone(&server, "r", "x", &json!({}));
        let ask = chain.agent.ask("mcp/message", &params);
        let (message, _) = heard(&mut chain).await;
        chain.client.send_all(message.error(refusal));
        let refused = chain.agent.response(&ask).await;
        assert_eq!(refused.error.as_deref(), Some(refusal));
    }
}

/// Members beside the MCP message, which the chain does not interpret.
#[tokio::test]
async fn what_is_beside_a_message_passes_with_it() {
    const META: &str = r#"{ "n" : 1e400 }"#;
    let with = |params: &str| format!(r#"{},"_meta":{META}}}"#, &params[..params.len() - 1]);
    let mut chain = native(&[("pass", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, CONNECTED).await[0]);
    let there = |message: &Message| assert!(message.line.contains(META), "{}", message.line);

    let connect = with(&json!({ "acpId": server }).to_string());
    let ask = chain.agent.ask("mcp/connect", &connect);
    let (message, _) = heard(&mut chain).await;
    there(&message);
    answer(&mut chain, &message, &with(r#"{"connectionId":"c"}"#));
    let connected = chain.agent.response(&ask).await;
    there(&connected);
    let connected: Value =
        serde_json::from_str(&connected.result.unwrap().replace("1e400", "0")).unwrap();
    let connection = Connection(connected["connectionId"].as_str().unwrap().to_owned());

    let ask = chain
        .agent
        .ask("mcp/message", &with(&connection.wrap("x", "{}")));
    let (message, _) = heard(&mut chain).await;
    there(&message);
    answer(&mut chain, &message, "{}");
    chain.agent.response(&ask).await;
    let told = with(&connection.wrap("notifications/x", "{}"));
    chain.agent.notify("mcp/message", &told);
    there(&heard(&mut chain).await.0);
    let theirs = with(r#"{"connectionId":"c","method":"roots/list"}"#);
    chain.client.notify("mcp/message", &theirs);
    there(&chain.agent.receive().await.unwrap());
    let ask = chain.client.ask("mcp/message", &theirs);
    let asked = chain.agent.receive().await.unwrap();
    there(&asked);
    chain.agent.send_all(asked.result("{}"));
    chain.client.response(&ask).await;

    let bye = with(&json!({ "connectionId": connection.0 }).to_string());
    let ask = chain.agent.ask("mcp/disconnect", &bye);
    let (message, _) = heard(&mut chain).await;
    there(&message);
    answer(
        &mut chain,
        &message,
        &with(r#"{"x":1}"#).replace(r#""x":1,"#, ""),
    );
    there(&chain.agent.response(&ask).await);

    let server = id(&session(&mut chain, "session-2", STATELESS).await[0]);
    let params = with(&alone(&server, "r", "tools/call", &json!({})));
    let ask = chain.agent.ask("mcp/message", &params);
    let (message, params) = heard(&mut chain).await;
    there(&message);
    let progress = json!({ "serverId": "own-id", "requestId": params["requestId"], "method": "notifications/progress" });
    chain
        .client
        .notify("mcp/message", &with(&progress.to_string()));
    there(&chain.agent.receive().await.unwrap());
    answer(&mut chain, &message, &with(r#"{"result":{}}"#));
    there(&chain.agent.response(&ask).await);
}

/// According to schema 1.4 to 1.9.
#[tokio::test]
async fn a_server_with_a_server_id_that_misses_a_connection_gets_one() {
    let mut chain = native(&[("pass", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, STATELESS).await[0]);
    let connection = connect(&mut chain.agent, &server).await;
    let hello = json!({ "protocolVersion": "2025-06-18" }).to_string();
    let wrapped = connection.wrap("initialize", &hello);
    let ask = chain.agent.ask("mcp/message", &wrapped);
    let (message, params) = heard(&mut chain).await;
    assert_eq!(params["serverId"], "own-id");
    let missing =
        r#"{"code":-32602,"message":"Invalid params","data":"missing field `connectionId`"}"#;
    chain.client.send_all(message.error(missing));
    let (message, params) = heard(&mut chain).await;
    assert_eq!(message.method.as_deref(), Some("mcp/connect"));
    assert_eq!(params, json!({ "serverId": "own-id" }));
    answer(&mut chain, &message, r#"{"connectionId":"c"}"#);
    let (message, params) = heard(&mut chain).await;
    assert_eq!(
        (&params["connectionId"], &params["method"]),
        (&json!("c"), &json!("initialize"))
    );
    answer(&mut chain, &message, r#"{"protocolVersion":"2025-06-18"}"#);
    let hello = result(&chain.agent.response(&ask).await);
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    // Messages of the server on the connection arrive too.
    let told = r#"{"connectionId":"c","method":"notifications/message"}"#;
    chain.client.notify("mcp/message", told);
    let told = chain.agent.receive().await.unwrap();
    assert!(told.line.contains(&connection.0), "{}", told.line);
}

#[tokio::test]
async fn an_agent_whose_requests_stand_alone_uses_a_server_that_is_connected_to() {
    let mut chain = native(&[]).await;
    let server = id(&session(&mut chain, SESSION, CONNECTED).await[0]);
    let ask = chain.agent.ask(
        "mcp/message",
        &alone(&server, "r", "tools/list", &json!({})),
    );
    // The host connects, finds a server of an older version, and initializes it for the agent.
    let mut methods = Vec::new();
    loop {
        let (message, params) = heard(&mut chain).await;
        if message.method.as_deref() == Some("mcp/connect") {
            answer(&mut chain, &message, r#"{"connectionId":"c"}"#);
            continue;
        }
        let method = params["method"].as_str().unwrap().to_owned();
        match &*method {
            "server/discover" => {
                for line in message.error(r#"{"code":-32601,"message":"Method not found"}"#) {
                    chain.client.send(line);
                }
            }
            "initialize" => answer(
                &mut chain,
                &message,
                r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}"#,
            ),
            "tools/list" => answer(
                &mut chain,
                &message,
                r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#,
            ),
            _ => {}
        }
        methods.push(method);
        if methods.last().map(String::as_str) == Some("tools/list") {
            break;
        }
    }
    assert_eq!(
        methods,
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list"
        ]
    );
    let outcome = result(&chain.agent.response(&ask).await);
    assert_eq!(outcome["result"]["tools"][0]["name"], "t");
    assert_eq!(outcome["result"]["resultType"], "complete");
}

#[tokio::test]
async fn an_agent_that_connects_uses_a_server_whose_requests_stand_alone() {
    let mut chain = native(&[]).await;
    let server = id(&session(&mut chain, SESSION, STATELESS).await[0]);
    let connection = connect(&mut chain.agent, &server).await;
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": { "elicitation": {} }, "clientInfo": { "name": "a", "version": "1" } });
    let ask = chain.agent.ask(
        "mcp/message",
        &connection.wrap("initialize", &hello.to_string()),
    );
    let (message, params) = heard(&mut chain).await;
    assert_eq!(params["method"], "server/discover");
    assert_eq!(params["serverId"], "own-id");
    answer(
        &mut chain,
        &message,
        r#"{"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"new","version":"1"},"ttlMs":0,"cacheScope":"private"}}"#,
    );
    let hello = result(&chain.agent.response(&ask).await);
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    let told = connection.wrap("notifications/initialized", "{}");
    chain.agent.notify("mcp/message", &told);
    let call = r#"{"name":"t","arguments":{}}"#;
    let ask = chain
        .agent
        .ask("mcp/message", &connection.wrap("tools/call", call));
    let (message, params) = heard(&mut chain).await;
    let meta = &params["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "a");
    // The server needs input: the agent is asked, and the call is repeated with the answer.
    answer(
        &mut chain,
        &message,
        r#"{"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}}"#,
    );
    let asked = chain.agent.receive().await.unwrap();
    let wrapped: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    assert_eq!(wrapped["method"], "elicitation/create");
    for line in asked.result(r#"{"action":"accept","content":{}}"#) {
        chain.agent.send(line);
    }
    let (message, params) = heard(&mut chain).await;
    assert_eq!(params["params"]["requestState"], "s");
    assert_eq!(params["params"]["inputResponses"]["q"]["action"], "accept");
    answer(
        &mut chain,
        &message,
        r#"{"result":{"resultType":"complete","content":[]}}"#,
    );
    let called = result(&chain.agent.response(&ask).await);
    assert_eq!(called["content"], json!([]));
    assert_eq!(called.get("resultType"), None);
}
