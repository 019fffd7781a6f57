//! Turns through native proxies, and turns of their own.

use acp_chain::chain::Member;
use acp_chain_tests::host::{InProcess, played, proxy};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::Wire;

/// A chain of one native proxy, after `initialize`. The host's next id is 3.
async fn chain(name: &'static str) -> (InProcess, Wire, Transcript) {
    chain_of(name, Vec::new()).await
}

/// The same with components behind it.
async fn chain_of(name: &'static str, components: Vec<Member>) -> (InProcess, Wire, Transcript) {
    let transcript = Transcript::new();
    let (native, mut proxy) = played(name, &transcript);
    let mut members = vec![native.into()];
    members.extend(components);
    let mut chain = InProcess::of(members, &transcript);
    chain
        .client
        .send(r#"{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize","params":{}}}"#);
    chain.agent.line().await;
    chain.agent.send(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    chain.client.line().await;
    transcript.clear();
    (chain, proxy, transcript)
}

/// Proxy chains, "Context-providing proxy with session notifications".
#[tokio::test]
async fn a_proxy_runs_a_turn_of_its_own_before_the_users_first() {
    let (mut chain, mut sparkle, transcript) = chain("sparkle").await;
    let InProcess { client, agent, .. } = &mut chain;

    client.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
    );
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"sparkle","command":"/bin/sparkle","args":[],"env":[]}]}}}"#);
    agent.line().await;
    agent.send(r#"{"jsonrpc":"2.0","id":4,"result":{"sessionId":"S1"}}"#);
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":3,"result":{"sessionId":"S1"}}"#);
    client.line().await;

    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}"#);
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":2,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"you are sparkle"}]}}}"#);
    agent.line().await;
    for text in ["thinking", "embodiment complete"] {
        agent.send(format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"S1","update":"{text}"}}}}"#));
        sparkle.line().await;
        sparkle.send(format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"S1","update":"{text}"}}}}"#));
        client.line().await;
    }
    agent.send(r#"{"jsonrpc":"2.0","id":6,"result":{"stopReason":"end_turn"}}"#);
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":3,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}}"#);
    agent.line().await;
    agent.send(r#"{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}"#);
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}"#);
    client.line().await;

    transcript.assert(
        r#"
        client  → {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        sparkle ← {"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        sparkle → {"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"sparkle","command":"/bin/sparkle","args":[],"env":[]}]}}}
        agent   ← {"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"sparkle","command":"/bin/sparkle","args":[],"env":[]}]}}
        agent   → {"jsonrpc":"2.0","id":4,"result":{"sessionId":"S1"}}
        sparkle ← {"jsonrpc":"2.0","id":1,"result":{"sessionId":"S1"}}
        sparkle → {"jsonrpc":"2.0","id":3,"result":{"sessionId":"S1"}}
        client  ← {"jsonrpc":"2.0","id":1,"result":{"sessionId":"S1"}}
        client  → {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}
        sparkle ← {"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}
        sparkle → {"jsonrpc":"2.0","id":2,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"you are sparkle"}]}}}
        agent   ← {"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"you are sparkle"}]}}
        agent   → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":"thinking"}}
        sparkle ← {"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"sessionId":"S1","update":"thinking"}}}
        sparkle → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":"thinking"}}
        client  ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":"thinking"}}
        agent   → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":"embodiment complete"}}
        sparkle ← {"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"sessionId":"S1","update":"embodiment complete"}}}
        sparkle → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":"embodiment complete"}}
        client  ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":"embodiment complete"}}
        agent   → {"jsonrpc":"2.0","id":6,"result":{"stopReason":"end_turn"}}
        sparkle ← {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
        sparkle → {"jsonrpc":"2.0","id":3,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}}
        agent   ← {"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}
        agent   → {"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}
        sparkle ← {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        sparkle → {"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}
        client  ← {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
        "#,
    );
}

/// The same when the session begins the proxy's turn, and the user's prompt comes while the agent streams;
/// with a component between the two.
#[tokio::test]
async fn the_users_prompt_waits_while_a_proxys_own_turn_streams() {
    let component = proxy("component", "pass", "{}").await;
    let (mut chain, mut sparkle, transcript) = chain_of("sparkle", vec![component.into()]).await;
    let InProcess { client, agent, .. } = &mut chain;

    client.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
    );
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/","mcpServers":[]}}}"#);
    agent.line().await;
    agent.send(r#"{"jsonrpc":"2.0","id":4,"result":{"sessionId":"S1"}}"#);
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":3,"result":{"sessionId":"S1"}}"#);
    client.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":2,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"S1","prompt":[]}}}"#);
    agent.line().await;
    agent.send(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":1}}"#,
    );
    sparkle.line().await;
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}"#);
    sparkle.line().await;
    sparkle.send(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":1}}"#,
    );
    client.line().await;
    agent.send(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":2}}"#,
    );
    sparkle.line().await;
    agent.send(r#"{"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}"#);
    sparkle.line().await;
    sparkle.send(
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":2}}"#,
    );
    client.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":3,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}}"#);
    agent.line().await;
    agent.send(r#"{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}"#);
    sparkle.line().await;
    sparkle.send(r#"{"jsonrpc":"2.0","id":6,"result":{"stopReason":"end_turn"}}"#);
    client.line().await;

    transcript.of("agent").assert(
        r#"
        agent ← {"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        agent → {"jsonrpc":"2.0","id":4,"result":{"sessionId":"S1"}}
        agent ← {"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"S1","prompt":[]}}
        agent → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":1}}
        agent → {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":2}}
        agent → {"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}
        agent ← {"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}
        agent → {"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}
        "#,
    );
    transcript.of("client").assert(
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
        client ← {"jsonrpc":"2.0","id":1,"result":{"sessionId":"S1"}}
        client → {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"S1","prompt":[{"type":"text","text":"Hello"}]}}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":1}}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S1","update":2}}
        client ← {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
        "#,
    );
}

#[tokio::test]
async fn a_cancellation_reaches_each_hop_from_either_side() {
    let (mut chain, mut proxy, transcript) = chain("proxy").await;
    let InProcess { client, agent, .. } = &mut chain;

    client.send(
        r#"{"jsonrpc":"2.0","id":"u-1","method":"session/prompt","params":{"sessionId":"s"}}"#,
    );
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":0,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"s"}}}"#);
    agent.line().await;
    client.send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"u-1"}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#);
    agent.line().await;
    agent.send(r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32800,"message":"cancelled"}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"cancelled"}}"#);
    client.line().await;

    agent.send(r#"{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"s"}}"#);
    proxy.line().await;
    proxy.send(
        r#"{"jsonrpc":"2.0","id":"t","method":"terminal/create","params":{"sessionId":"s"}}"#,
    );
    client.line().await;
    agent.send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"t"}}"#);
    client.line().await;
    client.send(r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32800,"message":"cancelled"}}"#);
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"cancelled"}}"#);
    agent.line().await;

    transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":"u-1","method":"session/prompt","params":{"sessionId":"s"}}
        proxy  ← {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s"}}
        proxy  → {"jsonrpc":"2.0","id":0,"method":"proxy/successor","params":{"method":"session/prompt","params":{"sessionId":"s"}}}
        agent  ← {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s"}}
        client → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"u-1"}}
        proxy  ← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}
        proxy  → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}
        agent  ← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}
        agent  → {"jsonrpc":"2.0","id":4,"error":{"code":-32800,"message":"cancelled"}}
        proxy  ← {"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}
        proxy  → {"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"cancelled"}}
        client ← {"jsonrpc":"2.0","id":"u-1","error":{"code":-32800,"message":"cancelled"}}
        agent  → {"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"s"}}
        proxy  ← {"jsonrpc":"2.0","id":5,"method":"proxy/successor","params":{"method":"terminal/create","params":{"sessionId":"s"}}}
        proxy  → {"jsonrpc":"2.0","id":"t","method":"terminal/create","params":{"sessionId":"s"}}
        client ← {"jsonrpc":"2.0","id":6,"method":"terminal/create","params":{"sessionId":"s"}}
        agent  → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}
        proxy  ← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}
        proxy  → {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"t"}}
        client ← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":6}}
        client → {"jsonrpc":"2.0","id":6,"error":{"code":-32800,"message":"cancelled"}}
        proxy  ← {"jsonrpc":"2.0","id":"t","error":{"code":-32800,"message":"cancelled"}}
        proxy  → {"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"cancelled"}}
        agent  ← {"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}
        "#,
    );
}
