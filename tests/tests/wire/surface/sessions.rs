//! Messages of clients and agents in sessions, with everything that they may contain.

use acp_chain_tests::host::InProcess;
use acp_chain_tests::wire::Wire;

use crate::surface::{arrives, crosses, mixed};

/// Members that no proxy may change, on any level: the trace context of W3C, names of vendors, numbers that
/// no program holds, and every way to write a character.
const META: &str = r#""_meta":{"traceparent":"00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01","tracestate":"vendor=a,b=\u0063","baggage":"k=v;p=\/","_vendor/x":{"n":[1e400,-0.0,1E+2,9007199254740993],"s":"\ud83e\udd80\u00e9\/"}},"unheard":-0"#;

/// A chain after `initialize`, in which both sides advertise additions of vendors.
async fn begun() -> InProcess {
    let mut chain = mixed().await;
    let params = with(
        r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"_meta":{"_vendor/x":true}},META},META}"#,
    );
    let result = with(
        r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"acp":true},META},"authMethods":[{"id":"key","name":"A key",META}],"agentInfo":{"name":"a","version":"1",META},META}"#,
    );
    crosses(
        &mut chain.client,
        &mut chain.agent,
        "initialize",
        &params,
        &result,
    )
    .await;
    chain
}

/// A text with [`META`] wherever it contains `META`.
fn with(text: &str) -> String {
    text.replace("META", META)
}

async fn cross_all(near: &mut Wire, far: &mut Wire, all: &[(&str, &str, &str)]) {
    for (method, params, result) in all {
        crosses(near, far, method, &with(params), &with(result)).await;
    }
}

#[tokio::test]
async fn what_a_client_asks_crosses_with_all_that_stands_in_it() {
    let mut chain = begun().await;
    cross_all(
        &mut chain.client,
        &mut chain.agent,
        &[
            ("authenticate", r#"{"methodId":"key",META}"#, "{META}"),
            ("session/new", r#"{"cwd":"/","mcpServers":[{"name":"m","command":"/m","args":[],"env":[{"name":"a","value":"b",META}],META}],META}"#, r#"{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[{"id":"m","name":"M",META}],META},"configOptions":[{"id":"o",META}],META}"#),
            ("session/resume", r#"{"sessionId":"old","cwd":"/","mcpServers":[],META}"#, "{META}"),
            ("session/list", r#"{"cursor":"\u0061",META}"#, r#"{"sessions":[{"sessionId":"s","cwd":"/",META}],"nextCursor":null,META}"#),
            ("session/fork", r#"{"sessionId":"s","cwd":"/","mcpServers":[],META}"#, r#"{"sessionId":"s2",META}"#),
            ("session/set_mode", r#"{"sessionId":"s","modeId":"m",META}"#, "{META}"),
            ("session/set_config_option", r#"{"sessionId":"s","configId":"o","value":"v",META}"#, r#"{"configOptions":[{"id":"o",META}],META}"#),
            ("session/prompt", r#"{"sessionId":"s","messageId":"m-1","prompt":[{"type":"text","text":"\u0048i","annotations":{META},META},{"type":"resource","resource":{"uri":"file:\/\/a","text":"",META}}],META}"#, r#"{"stopReason":"end_turn","userMessageId":"m-1","usage":{"inputTokens":1e400,META},META}"#),
            ("session/close", r#"{"sessionId":"s2",META}"#, "{META}"),
            ("session/delete", r#"{"sessionId":"s2",META}"#, "{META}"),
            ("logout", "{META}", "{META}"),
            ("_vendor/x", "[1e400,-0.0]", "-0.0"),
            ("_vendor/x", r#"{"sessionId":"s",META}"#, r#""\u0061""#),
            ("_vendor/x", r#""text""#, "null"),
        ],
    )
    .await;
    let (client, agent) = (&mut chain.client, &mut chain.agent);
    arrives(client, agent, "_vendor/told", &with("{META}")).await;
    arrives(
        client,
        agent,
        "session/cancel",
        &with(r#"{"sessionId":"s",META}"#),
    )
    .await;
}

#[tokio::test]
async fn what_an_agent_asks_crosses_with_all_that_stands_in_it() {
    let mut chain = begun().await;
    cross_all(
        &mut chain.agent,
        &mut chain.client,
        &[
            ("fs/read_text_file", r#"{"sessionId":"s","path":"/a","line":1,"limit":1e2,META}"#, r#"{"content":"\u0061\n",META}"#),
            ("fs/write_text_file", r#"{"sessionId":"s","path":"/a","content":"\/",META}"#, "{META}"),
            ("terminal/create", r#"{"sessionId":"s","command":"ls","args":[],"env":[{"name":"A","value":"b",META}],"outputByteLimit":9007199254740993,META}"#, r#"{"terminalId":"t",META}"#),
            ("terminal/output", r#"{"sessionId":"s","terminalId":"t",META}"#, r#"{"output":"\u001b[0m","truncated":false,"exitStatus":{"exitCode":0,META},META}"#),
            ("terminal/wait_for_exit", r#"{"sessionId":"s","terminalId":"t",META}"#, r#"{"exitCode":null,"signal":"SIGKILL",META}"#),
            ("terminal/kill", r#"{"sessionId":"s","terminalId":"t",META}"#, "{META}"),
            ("terminal/release", r#"{"sessionId":"s","terminalId":"t",META}"#, "{META}"),
            ("session/request_permission", r#"{"sessionId":"s","toolCall":{"toolCallId":"c",META},"options":[{"optionId":"o","name":"O","kind":"allow_once",META}],META}"#, r#"{"outcome":{"outcome":"selected","optionId":"o",META},META}"#),
            ("elicitation/create", r#"{"sessionId":"s","mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","minimum":-1e400}}},META}"#, r#"{"action":"accept","content":{"n":-0.0},META}"#),
            ("elicitation/create", r#"{"sessionId":"s","mode":"url","elicitationId":"e","url":"https:\/\/a","message":"",META}"#, r#"{"action":"cancel",META}"#),
            ("_vendor/x", r#"{"sessionId":"s",META}"#, "[1e400]"),
            ("unknown/and_without_underscore", "{META}", "1E+2"),
        ],
    )
    .await;
    let (client, agent) = (&mut chain.client, &mut chain.agent);
    for (method, params) in [
        ("elicitation/complete", r#"{"elicitationId":"e",META}"#),
        ("_vendor/told", r#"{"sessionId":"s",META}"#),
        ("auth/status_update", "{META}"),
    ] {
        arrives(agent, client, method, &with(params)).await;
    }
    for update in [
        r#""sessionUpdate":"user_message_chunk","messageId":"m-1","content":{"type":"text","text":"\u0048i",META}"#,
        r#""sessionUpdate":"agent_message_chunk","messageId":"m-2","content":{"type":"text","text":"","annotations":{META}}"#,
        r#""sessionUpdate":"agent_thought_chunk","messageId":null,"content":{"type":"image","data":"\/","mimeType":"image/png"}"#,
        r#""sessionUpdate":"tool_call","toolCallId":"c","title":"\u0054","kind":"edit","rawInput":{"n":1e400},"content":[{"type":"diff","path":"/a","oldText":null,"newText":"",META}],"locations":[{"path":"/a","line":1,META}]"#,
        r#""sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":-0.0"#,
        r#""sessionUpdate":"plan","entries":[{"content":"\u0061","priority":"high","status":"pending",META}]"#,
        r#""sessionUpdate":"plan_update","plan":{"type":"items","id":"p","entries":[],META}"#,
        r#""sessionUpdate":"plan_removed","id":"p""#,
        r#""sessionUpdate":"available_commands_update","availableCommands":[{"name":"c","description":"\/","input":{"hint":"h",META},META}]"#,
        r#""sessionUpdate":"current_mode_update","currentModeId":"m""#,
        r#""sessionUpdate":"config_option_update","configOptions":[{"id":"o",META}]"#,
        r#""sessionUpdate":"session_info_update","title":"\u0054","updatedAt":null"#,
        r#""sessionUpdate":"usage_update","used":9007199254740993,"size":1e400,"cost":{"amount":0.10,"currency":"EUR",META}"#,
        r#""sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress""#,
        r#""sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"\u0073"}"#,
        r#""sessionUpdate":"of_tomorrow","and":{"more":[null]}"#,
    ] {
        let params = with(&format!(
            r#"{{"sessionId":"s","update":{{{update},META}},META}}"#
        ));
        arrives(agent, client, "session/update", &params).await;
    }
}

#[tokio::test]
async fn a_session_that_is_loaded_is_replayed_before_the_answer_and_in_order() {
    let mut chain = begun().await;
    let (client, agent) = (&mut chain.client, &mut chain.agent);
    let params = with(r#"{"sessionId":"s","cwd":"/","mcpServers":[],META}"#);
    let id = client.ask("session/load", &params);
    let load = agent.receive().await.expect("the session is asked for");
    assert_eq!(load.params.as_deref(), Some(&*params));
    let replayed = |count: usize| {
        with(&format!(
            r#"{{"sessionId":"s","update":{{"count":{count},META}}}}"#
        ))
    };
    for count in 0..200 {
        agent.send(acp_chain_tests::envelope::notification(
            "session/update",
            &replayed(count),
        ));
    }
    agent.send_all(load.result(&with("{META}")));
    for count in 0..200 {
        let update = client.receive().await.expect("an update");
        assert_eq!(update.params.as_deref(), Some(&*replayed(count)));
    }
    let answer = client.receive().await.expect("the answer");
    assert!(answer.answers(&id), "{}", answer.line);
    assert_eq!(answer.result.as_deref(), Some(&*with("{META}")));
}

#[tokio::test]
async fn errors_cross_as_they_are() {
    let mut chain = begun().await;
    let (client, agent) = (&mut chain.client, &mut chain.agent);
    let error = with(r#"{"code":-32000,"message":"\u0041uthenticate first","data":{META},META}"#);
    let id = client.ask("session/new", r#"{"cwd":"/","mcpServers":[]}"#);
    let asked = agent.receive().await.expect("the request");
    agent.send_all(asked.error(&error));
    assert_eq!(client.response(&id).await.error, Some(error.clone()));
    let id = agent.ask("terminal/create", r#"{"sessionId":"s","command":"ls"}"#);
    let asked = client.receive().await.expect("the request");
    client.send_all(asked.error(&error));
    assert_eq!(agent.response(&id).await.error, Some(error));
}
