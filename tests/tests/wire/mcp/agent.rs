//! An agent that the test plays, in either dialect of MCP over ACP.

use acp_chain_tests::envelope::{Message, quoted};
use acp_chain_tests::host::InProcess;
use acp_chain_tests::wire::Wire;
use serde_json::{Value, json};

/// The session of tests that have only one.
pub const SESSION: &str = "session-1";

/// An agent that reaches servers over ACP.
pub const NATIVE: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;

/// A chain in front of an agent that reaches servers over ACP.
pub async fn native(proxies: &[(&str, &str)]) -> InProcess {
    InProcess::initialized_with(proxies, NATIVE).await
}

/// Sets up a session with these servers of the client. Returns the servers that the agent receives.
pub async fn session(chain: &mut InProcess, name: &str, servers: &str) -> Vec<Value> {
    chain.session(name, servers).await
}

/// A chain with tools of this configuration, its server, and an initialized connection to that server.
pub async fn with_tools(config: &str) -> (InProcess, String, Connection) {
    let mut chain = native(&[("tools", config)]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let connection = connect(&mut chain.agent, &server).await;
    connection.initialize(&mut chain.agent, "2025-11-25").await;
    (chain, server, connection)
}

/// The id of a server over ACP.
pub fn id(server: &Value) -> String {
    assert_eq!(server["type"], "acp", "{server}");
    assert_eq!(server["id"], server["serverId"], "{server}");
    server["id"].as_str().unwrap().to_owned()
}

/// A connection in the dialect of the RFD.
pub struct Connection(pub String);

/// Connects to a server.
pub async fn connect(agent: &mut Wire, server: &str) -> Connection {
    let params = json!({ "acpId": server }).to_string();
    let answer = result(&agent.request("mcp/connect", &params).await);
    Connection(answer["connectionId"].as_str().unwrap().to_owned())
}

impl Connection {
    /// The params of a message on the connection.
    pub fn wrap(&self, method: &str, params: &str) -> String {
        let (connection, method) = (quoted(&self.0), quoted(method));
        format!(r#"{{"connectionId":{connection},"method":{method},"params":{params}}}"#)
    }

    /// Sends the server a request, and waits for the answer.
    pub async fn request(&self, agent: &mut Wire, method: &str, params: &str) -> Message {
        agent
            .request("mcp/message", &self.wrap(method, params))
            .await
    }

    /// Initializes the connection as a client of this version of MCP.
    pub async fn initialize(&self, agent: &mut Wire, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": { "roots": {}, "sampling": {}, "elicitation": {} },
            "clientInfo": { "name": "agent", "version": "1" },
        });
        let answer = self.request(agent, "initialize", &params.to_string()).await;
        let told = self.wrap("notifications/initialized", "{}");
        agent.notify("mcp/message", &told);
        result(&answer)
    }

    /// Calls a tool.
    pub async fn call(&self, agent: &mut Wire, tool: &str, arguments: &str) -> Message {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        self.request(agent, "tools/call", &params).await
    }
}

/// The params of a request that stands alone, of MCP 2026-07-28. `params` is an object.
pub fn alone(server: &str, request: &str, method: &str, params: &Value) -> String {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "a", "version": "1" });
    json!({ "serverId": server, "requestId": request, "method": method, "params": params })
        .to_string()
}

/// Sends a request that stands alone, and returns the content of its answer.
pub async fn ask_alone(agent: &mut Wire, server: &str, method: &str, params: &Value) -> Value {
    let params = alone(server, "r", method, params);
    result(&agent.request("mcp/message", &params).await)
}

/// The result of an answer.
pub fn result(answer: &Message) -> Value {
    let result = answer.result.as_deref();
    let result = result.unwrap_or_else(|| panic!("no result: {}", answer.line));
    serde_json::from_str(result).unwrap()
}

/// The code and the message of an error.
pub fn error(answer: &Message) -> (i64, String) {
    let error = answer.error.as_deref();
    let error = error.unwrap_or_else(|| panic!("no error: {}", answer.line));
    let error: Value = serde_json::from_str(error).unwrap();
    let words = error["message"].as_str().unwrap();
    (error["code"].as_i64().unwrap(), words.to_owned())
}

/// The text in the result of a tool.
pub fn text(answer: &Message) -> String {
    let result = result(answer);
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {result}"))
        .to_owned()
}
