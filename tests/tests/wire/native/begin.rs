//! How a chain begins.

use acp_chain_tests::host::{InProcess, played};
use acp_chain_tests::transcript::Transcript;

/// Proxy chains, "Initialization of a 4-component proxy chain".
#[tokio::test]
async fn four_components_begin_as_the_protocol_says() {
    let transcript = Transcript::new();
    let (context, mut p1) = played("context", &transcript);
    let (filter, mut p2) = played("filter", &transcript);
    let mut chain = InProcess::of(vec![context.into(), filter.into()], &transcript);

    chain.client.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"x":1e400}}"#);
    p1.line().await;
    p1.send(r#"{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1,"x":1e400}}}"#);
    p2.line().await;
    p2.send(r#"{"jsonrpc":"2.0","id":0,"method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1,"x":1e400},"_meta":{"hop":2}}}"#);
    chain.agent.line().await;
    chain.agent.send(r#"{"jsonrpc":"2.0","id":3,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}},"agentInfo":{"name":"a","version":"1"}}}"#);
    p2.line().await;
    p2.send(r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":1,"agentCapabilities":{"by":"filter"}}}"#);
    p1.line().await;
    p1.send(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"by":"context"}}}"#);
    chain.client.line().await;

    transcript.assert(
        r#"
        client  → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"x":1e400}}
        context ← {"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1,"x":1e400}}
        context → {"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1,"x":1e400}}}
        filter  ← {"jsonrpc":"2.0","id":2,"method":"proxy/initialize","params":{"protocolVersion":1,"x":1e400}}
        filter  → {"jsonrpc":"2.0","id":0,"method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1,"x":1e400},"_meta":{"hop":2}}}
        agent   ← {"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":1,"x":1e400}}
        agent   → {"jsonrpc":"2.0","id":3,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}},"agentInfo":{"name":"a","version":"1"}}}
        filter  ← {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}},"agentInfo":{"name":"a","version":"1"}}}
        filter  → {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":1,"agentCapabilities":{"by":"filter"}}}
        context ← {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1,"agentCapabilities":{"by":"filter","mcpCapabilities":{"acp":true}}}}
        context → {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"by":"context"}}}
        client  ← {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"by":"context","mcpCapabilities":{"acp":true}}}}
        "#,
    );
}

#[tokio::test]
async fn an_agent_without_mcp_over_acp_has_it_for_the_proxies() {
    let transcript = Transcript::new();
    let (native, mut proxy) = played("proxy", &transcript);
    let mut chain = InProcess::of(vec![native.into()], &transcript);
    chain.client.ask("initialize", r#"{"protocolVersion":1}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}"#);
    chain.agent.line().await;
    chain
        .agent
        .send(r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#);
    let answer = proxy.line().await.unwrap();
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}"#
    );
}

#[tokio::test]
async fn a_proxy_of_the_older_dialect_is_found_out_by_its_answer() {
    let transcript = Transcript::new();
    let (native, mut proxy) = played("proxy", &transcript);
    let mut chain = InProcess::of(vec![native.into()], &transcript);
    chain
        .client
        .send(r#"{"jsonrpc":"2.0","id":"c","method":"initialize","params":{}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":0,"method":"_proxy/successor","params":{"method":"initialize","params":{},"meta":{}}}"#);
    chain.agent.line().await;
    chain.agent.send(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    chain.client.line().await;
    chain
        .agent
        .send(r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}"#);
    proxy.line().await;
    transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":"c","method":"initialize","params":{}}
        proxy  ← {"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{}}
        proxy  → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
        proxy  ← {"jsonrpc":"2.0","id":1,"method":"_proxy/initialize","params":{}}
        proxy  → {"jsonrpc":"2.0","id":0,"method":"_proxy/successor","params":{"method":"initialize","params":{},"meta":{}}}
        agent  ← {"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}
        agent  → {"jsonrpc":"2.0","id":2,"result":{}}
        proxy  ← {"jsonrpc":"2.0","id":0,"result":{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}
        proxy  → {"jsonrpc":"2.0","id":1,"result":{}}
        client ← {"jsonrpc":"2.0","id":"c","result":{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}
        proxy  ← {"jsonrpc":"2.0","method":"_proxy/successor","params":{"method":"session/update","params":{"sessionId":"s"}}}
        "#,
    );
}
