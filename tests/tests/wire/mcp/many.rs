//! Many servers, each with several callers, all at once.

use serde_json::json;

use super::agent::{SESSION, connect, id, native, session, text};

#[tokio::test]
async fn each_of_many_callers_gets_its_own_answers() {
    const SERVERS: usize = 10;
    const CONNECTIONS: usize = 4;
    const CALLS: usize = 5;
    let mut chain = native(&[("tools", "{}"); SERVERS]).await;
    let servers = session(&mut chain, SESSION, "[]").await;
    assert_eq!(servers.len(), SERVERS);
    let mut connections = Vec::new();
    for server in &servers {
        for _ in 0..CONNECTIONS {
            let connection = connect(&mut chain.agent, &id(server)).await;
            connection.initialize(&mut chain.agent, "2025-11-25").await;
            connections.push(connection);
        }
    }
    let mut asked = Vec::new();
    for call in 0..CALLS {
        for (number, connection) in connections.iter().enumerate() {
            let said = format!("call {call} on connection {number}");
            let call = json!({ "name": "echo", "arguments": { "text": said } }).to_string();
            let wrapped = connection.wrap("tools/call", &call);
            asked.push((chain.agent.ask("mcp/message", &wrapped), said));
        }
    }
    for (id, said) in asked.iter().rev() {
        assert_eq!(text(&chain.agent.response(id).await), *said);
    }
}
