//! How a connection begins, and begins again: versions, the capabilities of both sides, and those that the
//! host adds for all agents.

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{InProcess, passing, proxy};
use acp_chain_tests::transcript::Transcript;

use crate::surface::{arrives, crosses, mixed};

/// The `initialize` result of an agent of a version, without servers over ACP, and the result that the host
/// forwards. Unknown members and the agent's own name are kept.
fn results(version: u32) -> (String, String) {
    let (mcp, shown, info) = match version {
        1 => (
            r#""agentCapabilities":{"loadSession":true,"x":1e400,"mcpCapabilities":{"http":true}}"#,
            r#""agentCapabilities":{"loadSession":true,"x":1e400,"mcpCapabilities":{"http":true,"acp":true}}"#,
            "agentInfo",
        ),
        _ => (
            r#""capabilities":{"x":1e400,"session":{"mcp":{"stdio":{}}}}"#,
            r#""capabilities":{"x":1e400,"session":{"mcp":{"stdio":{},"acp":{}}}}"#,
            "info",
        ),
    };
    let result = |capabilities| {
        format!(
            r#"{{"protocolVersion":{version},{capabilities},"{info}":{{"name":"\u0061","version":"1.0","x":-0.0}},"unheard":[1E+2]}}"#
        )
    };
    (result(mcp), result(shown))
}

/// The component's configuration: it adds a member to an answer with this version and the host's capability.
fn sees(version: u32) -> String {
    let pointer = match version {
        1 => r#"{"pointer":"/agentCapabilities/mcpCapabilities/acp","is":true}"#,
        _ => r#"{"pointer":"/capabilities/session/mcp/acp","is":{}}"#,
    };
    let version = format!(r#"{{"pointer":"/protocolVersion","is":{version}}}"#);
    let seen = r#"{"edit":{"pointer":"/_meta","value":{"acp-chain/component":true}}}"#;
    format!(
        r#"{{"responses":{{"initialize":[{{"unless":{version}}},{{"unless":{pointer}}},{seen}]}}}}"#
    )
}

#[tokio::test]
async fn the_agent_has_the_last_word_on_the_version_and_every_proxy_sees_it() {
    for (asked, given) in [(1, 1), (2, 2), (2, 1), (1, 2), (7, 1)] {
        let transcript = Transcript::new();
        let component = proxy("component", "does", &sees(given)).await;
        let members = vec![
            passing("before", &transcript).into(),
            component.into(),
            passing("behind", &transcript).into(),
        ];
        let mut chain = InProcess::of(members, &transcript);
        let params = format!(
            r#"{{"protocolVersion":{asked},"clientInfo":{{"name":"c","version":"0"}},"x":1e400}}"#
        );
        let (result, shown) = results(given);
        let id = chain.client.ask("initialize", &params);
        let came = chain.agent.receive().await.expect("initialize");
        assert_eq!(came.params.as_deref(), Some(&*params));
        let answer = came.result(&result);
        chain.agent.send_all(answer);
        let answer = chain.client.response(&id).await;
        let seen = format!(
            r#"{},"_meta":{{"acp-chain/component":true}}}}"#,
            &shown[..shown.len() - 1]
        );
        assert_eq!(answer.result, Some(seen.clone()), "{asked} {given}");
        for (end, result) in [("before", seen), ("behind", shown)] {
            let lines = transcript.received(end);
            let [begin, answer] = &lines[..] else {
                panic!("{end}: {lines:?}")
            };
            let begin = Message::parse(begin).expect("a message");
            assert_eq!(begin.method.as_deref(), Some("proxy/initialize"), "{end}");
            assert_eq!(begin.params.as_deref(), Some(&*params), "{end}");
            let answer = Message::parse(answer).expect("a message");
            assert_eq!(answer.result, Some(result), "{end}");
        }
    }
}

#[tokio::test]
async fn a_refusal_of_the_agents_is_passed_back_and_the_client_may_ask_for_less() {
    let mut chain = mixed().await;
    let error = r#"{"code":-32602,"message":"v\u0031 only","data":{"x":1e400}}"#;
    let id = chain.client.ask("initialize", r#"{"protocolVersion":2}"#);
    let came = chain.agent.receive().await.expect("initialize");
    chain.agent.send_all(came.error(error));
    assert_eq!(
        chain.client.response(&id).await.error.as_deref(),
        Some(error)
    );
    let result = r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
    let params = r#"{"protocolVersion":1}"#;
    crosses(
        &mut chain.client,
        &mut chain.agent,
        "initialize",
        params,
        result,
    )
    .await;
}

/// The number of `proxy/initialize` requests that a native proxy received.
fn introductions(chain: &InProcess, end: &str) -> usize {
    let lines = chain.transcript.received(end);
    let begins = |line: &&String| line.contains(r#""method":"proxy/initialize""#);
    lines.iter().filter(begins).count()
}

#[tokio::test]
async fn initialize_may_be_repeated_before_and_after_sessions() {
    let mut chain = mixed().await;
    let result = |count: usize| {
        format!(
            r#"{{"protocolVersion":1,"count":{count},"agentCapabilities":{{"mcpCapabilities":{{"acp":true}}}}}}"#
        )
    };
    for count in 0..4 {
        let params = format!(r#"{{"protocolVersion":1,"count":{count}}}"#);
        let (client, agent) = (&mut chain.client, &mut chain.agent);
        crosses(client, agent, "initialize", &params, &result(count)).await;
        let session = format!(r#"{{"sessionId":"s-{count}"}}"#);
        let set_up = r#"{"cwd":"/","mcpServers":[]}"#;
        crosses(client, agent, "session/new", set_up, &session).await;
        // Earlier sessions keep working.
        arrives(agent, client, "session/update", r#"{"sessionId":"s-0"}"#).await;
        crosses(
            client,
            agent,
            "session/prompt",
            r#"{"sessionId":"s-0"}"#,
            "{}",
        )
        .await;
        for end in ["before", "behind"] {
            assert_eq!(introductions(&chain, end), count + 1, "{end}");
        }
    }
}

#[tokio::test]
async fn two_initialize_at_once_are_answered_each_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let mut chain = mixed().await;
        let params = |count| format!(r#"{{"protocolVersion":1,"count":{count}}}"#);
        let ids = [0, 1].map(|count| chain.client.ask("initialize", &params(count)));
        let mut asked = Vec::new();
        for count in 0..2 {
            let came = chain.agent.receive().await.expect("initialize");
            assert_eq!(came.params, Some(params(count)));
            asked.push(came);
        }
        let result = |count: usize| format!(r#"{{"count":{count}}}"#);
        for count in order {
            let answer = asked[count].result(&result(count));
            chain.agent.send_all(answer);
        }
        for (count, id) in ids.iter().enumerate() {
            let answer = chain.client.response(id).await.result.unwrap_or_default();
            assert!(answer.contains(&format!(r#""count":{count}"#)), "{answer}");
        }
        let (client, agent) = (&mut chain.client, &mut chain.agent);
        crosses(client, agent, "test/any", "{}", "{}").await;
    }
}

#[tokio::test]
async fn a_proxy_cannot_hide_that_servers_are_reached_over_acp() {
    let change =
        r#"{"edit":{"pointer":"/agentCapabilities","value":{"mcpCapabilities":{"acp":false}}}}"#;
    let config = format!(r#"{{"responses":{{"initialize":[{change}]}}}}"#);
    let mut chain = InProcess::start(&[("does", &config)]).await;
    let id = chain.client.ask("initialize", "{}");
    let came = chain.agent.receive().await.expect("initialize");
    let result = came.result(r#"{"protocolVersion":1}"#);
    chain.agent.send_all(result);
    let answer = chain.client.response(&id).await;
    let error = answer.error.expect("an error");
    assert!(error.contains("lets it change"), "{error}");
}
