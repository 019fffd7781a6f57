//! The reference server with every feature, provided by the client, and a real MCP client of the agent:
//! neither end knows that there is a chain between them.

#![expect(
    deprecated,
    reason = "it is of a version that has subscriptions and levels"
)]

use acp_chain_tests::host::InProcess;
use acp_chain_tests::provider::Provider;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequestParams, LoggingLevel,
    ReadResourceRequestParams, SetLevelRequestParams, SubscribeRequestParams,
    UnsubscribeRequestParams,
};
use rmcp::service::PeerRequestOptions;
use serde_json::json;

use super::caller::{
    BOTH, Caller, HTTP, SAMPLE, STDIO, ServerNotice, either, legacy, text, watched,
};
use super::turns::Turns;

/// The declaration of the reference server.
const EVERYTHING: &str = r#"[{"type":"acp","name":"everything","id":"everything-id"}]"#;

/// An MCP client of the agent, connected to the reference server. Both live as long as the tasks.
async fn connected(
    agent: &str,
    mode: rmcp::ClientLifecycleMode,
) -> (Caller, tokio::task::JoinSet<()>) {
    let mut chain = InProcess::initialized_with(&[("pass", "{}")], agent).await;
    let declared = chain.session("session-1", EVERYTHING).await;
    let mut tasks = tokio::task::JoinSet::new();
    let InProcess { client, agent, .. } = chain;
    tasks.spawn(Provider::of("mcp-server-everything").serve(client));
    tasks.spawn(async move { drop(agent.serve().await) });
    (Caller::connect(&declared[0], mode).await, tasks)
}

#[tokio::test]
async fn tools_are_listed_and_called_with_progress_and_data() {
    for agent in BOTH {
        let (mut caller, _tasks) = connected(agent, legacy()).await;
        let tools = watched("the tools", caller.client.list_all_tools())
            .await
            .unwrap();
        assert!(tools.iter().any(|tool| tool.name == "get-sum"), "{tools:?}");
        let said = caller
            .call("echo", json!({ "message": "1e400 \u{1f980}" }))
            .await;
        assert_eq!(text(&said), "Echo: 1e400 \u{1f980}");
        let sum = caller.call("get-sum", json!({ "a": 2, "b": 40 })).await;
        assert!(text(&sum).contains("42"), "{sum:?}");
        let weather = caller
            .call("get-structured-content", json!({ "location": "Chicago" }))
            .await;
        assert!(weather.structured_content.unwrap()["temperature"].is_number());
        let image = caller.call("get-tiny-image", json!({})).await;
        let image = serde_json::to_value(image).unwrap();
        assert_eq!(image["content"][1]["mimeType"], "image/png");
        let steps = json!({ "duration": 0, "steps": 3 });
        caller.call("trigger-long-running-operation", steps).await;
        for expected in [1.0, 2.0, 3.0] {
            assert_eq!(caller.progress().await, ServerNotice::Progress(expected));
        }
    }
}

#[tokio::test]
async fn a_server_of_the_clients_asks_for_roots_and_samples_and_what_the_user_says() {
    for agent in BOTH {
        let (mut caller, _tasks) = connected(agent, legacy()).await;
        // The server has these tools once it knows the capabilities of its client.
        caller
            .hears("the change", |told| {
                (told == ServerNotice::ToolsChanged).then_some(())
            })
            .await;
        let roots = caller.call("get-roots-list", json!({})).await;
        assert!(text(&roots).contains("file:///project"), "{roots:?}");
        let sample = caller
            .call("trigger-sampling-request", json!({ "prompt": "?" }))
            .await;
        assert!(text(&sample).contains(SAMPLE), "{sample:?}");
        let asked = caller.call("trigger-elicitation-request", json!({})).await;
        assert!(text(&asked).contains("- Name: Ada"), "{asked:?}");
    }
}

#[tokio::test]
async fn resources_are_listed_and_read_and_subscribed_to() {
    let (mut caller, _tasks) = connected(HTTP, legacy()).await;
    let client = &caller.client;
    let resources = watched("the resources", client.list_all_resources())
        .await
        .unwrap();
    assert!(!resources.is_empty());
    let templates = client.list_all_resource_templates();
    let templates = watched("the templates", templates).await.unwrap();
    assert!(
        templates
            .iter()
            .any(|template| template.uri_template.contains("{resourceId}"))
    );
    let uri = "demo://resource/dynamic/text/7";
    let read = client.read_resource(ReadResourceRequestParams::new(uri));
    let read = serde_json::to_value(watched("the resource", read).await.unwrap()).unwrap();
    let words = read["contents"][0]["text"].as_str().unwrap();
    assert!(words.contains("Resource 7"), "{words}");
    let missing = ReadResourceRequestParams::new("demo://resource/dynamic/text/x");
    assert!(
        watched("an error", client.read_resource(missing))
            .await
            .is_err()
    );
    let subscribed = client.subscribe(SubscribeRequestParams::new(uri));
    watched("the subscription", subscribed).await.unwrap();
    caller.call("toggle-subscriber-updates", json!({})).await;
    let updated = caller.hears("an update", |told| match told {
        ServerNotice::Updated(uri) => Some(uri),
        _ => None,
    });
    assert_eq!(updated.await, uri);
    let over = caller
        .client
        .unsubscribe(UnsubscribeRequestParams::new(uri));
    watched("the end of the subscription", over).await.unwrap();
}

#[tokio::test]
async fn prompts_are_listed_and_got_and_completed() {
    let (caller, _tasks) = connected(HTTP, legacy()).await;
    let client = &caller.client;
    let prompts = watched("the prompts", client.list_all_prompts())
        .await
        .unwrap();
    assert!(prompts.iter().any(|prompt| prompt.name == "args-prompt"));
    let arguments = json!({ "city": "Łódź" }).as_object().unwrap().clone();
    let prompt = GetPromptRequestParams::new("args-prompt").with_arguments(arguments);
    let prompt = watched("the prompt", client.get_prompt(prompt))
        .await
        .unwrap();
    let prompt = serde_json::to_string(&prompt).unwrap();
    assert!(prompt.contains("What's weather in Łódź?"), "{prompt}");
    let completed = client.complete_prompt_simple("completable-prompt", "department", "Eng");
    assert_eq!(
        watched("a completion", completed).await.unwrap(),
        ["Engineering"]
    );
}

#[tokio::test]
async fn what_a_server_logs_reaches_the_agents_client() {
    let (mut caller, _tasks) = connected(STDIO, legacy()).await;
    let level = SetLevelRequestParams::new(LoggingLevel::Debug);
    watched("the level", caller.client.set_level(level))
        .await
        .unwrap();
    let uri = "demo://resource/dynamic/text/1";
    let subscribed = caller.client.subscribe(SubscribeRequestParams::new(uri));
    watched("the subscription", subscribed).await.unwrap();
    caller
        .hears("a log", |told| match told {
            ServerNotice::Log(data) if data.to_string().contains(uri) => Some(()),
            _ => None,
        })
        .await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_and_others_go_on() {
    for agent in BOTH {
        let (mut caller, _tasks) = connected(agent, legacy()).await;
        let forever = json!({ "duration": 100_000, "steps": 1_000_000 });
        let forever = CallToolRequestParams::new("trigger-long-running-operation")
            .with_arguments(forever.as_object().unwrap().clone());
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(forever));
        let sent = caller
            .client
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let pending = watched("the request", sent).await.unwrap();
        caller
            .hears("progress", |told| {
                matches!(told, ServerNotice::Progress(_)).then_some(())
            })
            .await;
        watched("the cancellation", pending.cancel(None))
            .await
            .unwrap();
        let said = caller
            .call("echo", json!({ "message": "still here" }))
            .await;
        assert_eq!(text(&said), "Echo: still here");
    }
}

#[tokio::test]
async fn a_client_that_asks_what_the_server_is_falls_back() {
    for agent in BOTH {
        let (caller, _tasks) = connected(agent, either()).await;
        let said = caller.call("echo", json!({ "message": "hello" })).await;
        assert_eq!(text(&said), "Echo: hello");
    }
}

#[tokio::test]
async fn a_client_that_goes_ends_its_connection() {
    for agent in BOTH {
        let mut chain = InProcess::initialized_with(&[], agent).await;
        let declared = chain.session("session-1", EVERYTHING).await;
        let InProcess {
            mut client, agent, ..
        } = chain;
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { drop(agent.serve().await) });
        tasks.spawn(async move {
            let caller = Caller::connect(&declared[0], legacy()).await;
            watched("the end", caller.client.cancel()).await.unwrap();
        });
        let mut provider = Provider::of("mcp-server-everything");
        let mut connections = 0;
        while connections == 0 || provider.connections() > 0 {
            let lines = tokio::select! {
                message = client.receive() => provider.hear(&message.unwrap()).await,
                lines = provider.next() => lines,
            };
            connections = connections.max(provider.connections());
            for line in lines {
                client.send(line);
            }
        }
        assert_eq!(connections, 1);
    }
}

/// Plays one turn; returns all streamed text. The turn is cancelled as soon as `until` arrives.
async fn turn(
    turns: &mut Turns,
    provider: &mut Provider,
    text: &str,
    until: Option<&str>,
) -> String {
    let id = turns.begin(text);
    let (mut until, cancel) = (until, json!({ "sessionId": turns.session }).to_string());
    loop {
        let wire = &mut turns.chain.client.wire;
        let lines = tokio::select! {
            message = wire.receive() => {
                let message = message.expect("the turn ends first");
                if message.answers(&id) {
                    return turns.chain.client.chunks().concat();
                }
                if until.take_if(|until| message.line.contains(*until)).is_some() {
                    wire.notify("session/cancel", &cancel);
                }
                provider.hear(&message).await
            }
            lines = provider.next() => lines,
        };
        for line in lines {
            wire.send(line);
        }
    }
}

/// The dialects, and the versions of MCP, differ at the two ends.
#[tokio::test]
async fn an_agent_whose_requests_stand_alone_uses_a_server_of_an_older_version() {
    let servers = serde_json::from_str(EVERYTHING).unwrap();
    let mut turns = Turns::start("", &["npm-mcp-agent"], &servers).await;
    let mut provider = Provider::of("mcp-server-everything");
    for (prompt, expected) in [
        ("List tools from everything", r#""name":"get-sum""#),
        (
            r#"Use tool everything::echo with {"message":"hello"}"#,
            "Echo: hello",
        ),
        (r#"Use tool everything::get-sum with {"a":2,"b":40}"#, "42"),
        (
            r#"Ask everything for resources/read with {"uri":"demo://resource/dynamic/text/7"}"#,
            "Resource 7",
        ),
        (
            r#"Ask everything for prompts/get with {"name":"args-prompt","arguments":{"city":"X"}}"#,
            "weather in X",
        ),
        (r"Use tool everything::nothing with {}", "nothing not found"),
        (
            "Ask everything for server/discover with {}",
            "Everything Reference Server",
        ),
    ] {
        let said = turn(&mut turns, &mut provider, prompt, None).await;
        assert!(
            said.contains("outcome: ") && said.contains(expected),
            "{prompt}: {said}"
        );
    }
    for (prompt, until, end) in [
        (
            r#"Use tool everything::trigger-long-running-operation with {"duration":100000,"steps":1000000}"#,
            "notifications/progress",
            "failed: -32800",
        ),
        (
            r#"Ask everything for subscriptions/listen with {"notifications":{"toolsListChanged":true}}"#,
            "notifications/subscriptions/acknowledged",
            r#"outcome: {"result":{"resultType":"complete""#,
        ),
    ] {
        let said = turn(&mut turns, &mut provider, prompt, Some(until)).await;
        assert!(said.contains(end), "{prompt}: {said}");
    }
    // All of these requests used one connection.
    assert_eq!(provider.connections(), 1);
}
