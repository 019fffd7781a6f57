//! rmcp, a client of MCP, with the tools of proxies, over each bridge and in each form of MCP.

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, SubscriptionFilter};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Value, json};

use super::caller::{BOTH, Caller, ServerNotice, bridged, either, legacy, modern, text, watched};

const TOOLS: &[(&str, &str)] = &[("tools", "{}")];

/// The code and the message of an MCP error.
fn error(result: Result<rmcp::model::CallToolResult, ServiceError>) -> (i32, String) {
    match result {
        Err(ServiceError::McpError(error)) => (error.code.0, error.message.into_owned()),
        other => panic!("no error of MCP: {other:?}"),
    }
}

#[tokio::test]
async fn clients_list_and_call_tools_and_hear_of_progress() {
    for agent in BOTH {
        let (_chain, declared) = bridged(TOOLS, agent).await;
        for mode in [legacy(), modern(), either()] {
            let mut caller = Caller::connect(&declared[0], mode).await;
            let tools = watched("the tools", caller.client.list_all_tools())
                .await
                .unwrap();
            assert_eq!(tools[0].name, "echo");
            let sum = caller.call("add", json!({ "a": 2, "b": 40 })).await;
            assert_eq!(sum.structured_content, Some(json!({ "sum": 42.0 })));
            assert_eq!(text(&caller.call("session", json!({})).await), "session-1");
            let failed = caller.call("fail", json!({})).await;
            assert_eq!(failed.is_error, Some(true));
            let refused = error(caller.try_call("protocol-error", json!({})).await);
            assert_eq!(refused, (-32602, "not like this".to_owned()));
            let (code, words) = error(caller.try_call("bad-result", json!({})).await);
            assert!(
                code == -32603 && words.contains("tools-0"),
                "{code} {words}"
            );
            assert_eq!(
                text(&caller.call("progress", json!({})).await),
                "three steps"
            );
            for progress in [1.0, 2.0, 3.0] {
                let told = watched("progress", caller.told.recv()).await.unwrap();
                assert_eq!(told, ServerNotice::Progress(progress));
            }
            watched("the end", caller.client.cancel()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_call_that_a_client_cancels_is_told_to_the_tool() {
    for agent in BOTH {
        let (mut chain, declared) = bridged(TOOLS, agent).await;
        for mode in [legacy(), modern()] {
            let caller = Caller::connect(&declared[0], mode).await;
            let slow = CallToolRequest::new(CallToolRequestParams::new("slow"));
            let request = ClientRequest::CallToolRequest(slow);
            let options = PeerRequestOptions::no_options();
            let sent = caller.client.send_cancellable_request(request, options);
            let pending = watched("the request", sent).await.unwrap();
            let gate = chain.client.receive().await.unwrap();
            assert_eq!(gate.method.as_deref(), Some("_test/gate"));
            watched("the cancellation", pending.cancel(None))
                .await
                .unwrap();
            let given_up = chain.client.receive().await.unwrap();
            assert_eq!(given_up.method.as_deref(), Some("$/cancel_request"));
            assert!(given_up.params.unwrap().contains(&gate.id.unwrap()));
            // The connection keeps working.
            let said = caller.call("echo", json!({ "text": "still here" })).await;
            assert_eq!(text(&said), "still here");
        }
    }
}

#[tokio::test]
async fn clients_that_listed_the_tools_are_told_when_they_change() {
    for agent in BOTH {
        let (_chain, declared) = bridged(TOOLS, agent).await;
        let mut old = Caller::connect(&declared[0], legacy()).await;
        watched("the tools", old.client.list_all_tools())
            .await
            .unwrap();
        let new = Caller::connect(&declared[0], modern()).await;
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let listening = watched("a subscription", new.client.listen(filter)).await;
        let mut listening = listening.unwrap();
        assert_eq!(
            text(&new.call("change", json!({})).await),
            "there is `extra` now"
        );
        old.hears("the change", |told| {
            (told == ServerNotice::ToolsChanged).then_some(())
        })
        .await;
        let told = watched("the change", listening.next()).await.unwrap();
        let told: Value = serde_json::to_value(told).unwrap();
        assert_eq!(told["method"], "notifications/tools/list_changed");
        assert_eq!(text(&old.call("extra", json!({})).await), "extra");
    }
}

#[tokio::test]
async fn long_texts_pass_whole() {
    let long = "a\u{301}\u{1f980}\"\\\n".repeat(200_000);
    for agent in BOTH {
        let (_chain, declared) = bridged(TOOLS, agent).await;
        for mode in [legacy(), modern()] {
            let caller = Caller::connect(&declared[0], mode).await;
            let said = caller.call("echo", json!({ "text": long })).await;
            assert!(text(&said) == long, "{agent}: {}", text(&said).len());
        }
    }
}

#[tokio::test]
async fn each_of_many_clients_gets_its_own_answers() {
    const SERVERS: usize = 10;
    const CLIENTS: usize = 4;
    const CALLS: usize = 5;
    let (_chain, declared) = bridged(&[TOOLS[0]; SERVERS], super::caller::HTTP).await;
    assert_eq!(declared.len(), SERVERS);
    let mut calling = tokio::task::JoinSet::new();
    for (server, declared) in declared.into_iter().enumerate() {
        for client in 0..CLIENTS {
            let declared = declared.clone();
            calling.spawn(async move {
                let mode = if client % 2 == 0 { legacy() } else { modern() };
                let caller = Caller::connect(&declared, mode).await;
                let calls = (0..CALLS).map(async |call| {
                    let said = format!("call {call} of client {client} of server {server}");
                    let answer = caller.call("echo", json!({ "text": said })).await;
                    assert_eq!(text(&answer), said);
                });
                futures_util::future::join_all(calls).await;
            });
        }
    }
    while let Some(called) = calling.join_next().await {
        called.unwrap();
    }
}
