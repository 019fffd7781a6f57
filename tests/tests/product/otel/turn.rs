//! The spans and metrics of a turn.

use std::fs;

use acp_chain_tests::host;
use data_encoding::HEXLOWER;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};

use super::receiver::{Answer, ReceivedExports, Receiver};
use super::{ABOVE, KEY, SECRET, TRACE, client, meta, turn, turn_with};

pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The attributes of a span, as text.
pub fn attributes(span: &Span) -> String {
    format!("{:?}", span.attributes)
}

/// Whether everything about a turn has been exported.
pub fn is_all(exported: &ReceivedExports) -> bool {
    exported.names().contains(&"acp.connection") && exported.has_metric("gen_ai.client.token.usage")
}

#[tokio::test]
async fn one_trace_joins_the_client_the_turn_its_tools_and_its_calls_of_mcp() {
    let folder = tempfile::tempdir().unwrap();
    let mut receiver = Receiver::start(Answer::Good).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20mine"),
        ("OTEL_SERVICE_NAME", "our-editors"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        ),
    ];
    let mut client = client(folder.path(), &[], &variables);
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    let exported = receiver.until(is_all).await;

    let turn = exported.span("invoke_agent busy-agent");
    let tool = exported.span("execute_tool execute");
    let permission = exported.span("acp.permission");
    let call = exported.span("tools/call look");
    for (span, above) in [
        (turn, ABOVE),
        (tool, &hex(&turn.span_id)),
        (permission, &hex(&tool.span_id)),
        (call, &hex(&turn.span_id)),
    ] {
        assert_eq!(
            (&*hex(&span.trace_id), &*hex(&span.parent_span_id)),
            (TRACE, above),
            "{}",
            span.name
        );
        assert_eq!(span.trace_state, "vendor=1");
        assert!(attributes(span).contains("sess-1"), "{}", span.name);
    }
    for (span, said) in [
        (
            turn,
            [
                "gen_ai.response.finish_reasons",
                "end_turn",
                "IntValue(100)",
                "gen_ai.agent.version",
            ],
        ),
        (
            tool,
            [
                "gen_ai.tool.call.id",
                "call-1",
                "acp.tool.status",
                "completed",
            ],
        ),
        (
            permission,
            [
                "acp.permission.outcome",
                "allow_once",
                "acp.permission.decider",
                "client",
            ],
        ),
        (
            call,
            [
                "mcp.method.name",
                "gen_ai.tool.name",
                "error.type",
                "tool_error",
            ],
        ),
    ] {
        for said in said {
            assert!(
                attributes(span).contains(said),
                "{said}: {}",
                attributes(span)
            );
        }
    }
    for metric in [
        "acp.proxy.messages",
        "acp.proxy.decisions",
        "acp.proxy.duration",
    ] {
        assert!(exported.has_metric(metric), "{metric}");
    }
    assert!(
        exported.resource.contains("our-editors")
            && exported.resource.contains("deployment.environment.name")
    );
    assert!(
        exported
            .headers
            .to_lowercase()
            .contains("authorization: bearer mine")
    );
}

#[tokio::test]
async fn no_exported_byte_is_of_what_anybody_said_unless_content_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for capture in ["", "false", "NO_CONTENT", "EVENT_ONLY", "what?"] {
        let mut receiver = Receiver::start(Answer::Good).await;
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
            (
                "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
                capture,
            ),
            ("ACP_CHAIN_OTEL_HOPS", "1"),
        ];
        let mut client = client(folder.path(), &[], &variables);
        turn(&mut client).await;
        assert!(client.finish().await.unwrap().status.success());
        let exported = receiver.until(is_all).await;
        let text = String::from_utf8_lossy(&exported.bytes);
        assert!(text.contains("acp.proxy first"), "hops are enabled");
        assert!(!text.contains(SECRET) && !text.contains(KEY), "{text}");
    }
}

#[tokio::test]
async fn what_an_agent_calls_by_the_bridge_is_part_of_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let mut receiver = Receiver::start(Answer::Good).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
        ("BRIDGED", "1"),
    ];
    let mut client = client(folder.path(), &[], &variables);
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    let exported = receiver.until(is_all).await;
    let turn = exported.span("invoke_agent busy-agent");
    for name in ["initialize", "tools/call look"] {
        let call = exported.span(name);
        assert_eq!(
            (&call.trace_id, &call.parent_span_id),
            (&turn.trace_id, &turn.span_id),
            "{name}"
        );
        for said in ["mcp.method.name", "sess-1", "acp.mcp.provider"] {
            assert!(
                attributes(call).contains(said),
                "{said}: {}",
                attributes(call)
            );
        }
    }
    let call = attributes(exported.span("tools/call look"));
    assert!(call.contains("gen_ai.tool.name") && call.contains("tool_error"));
}

#[tokio::test]
async fn an_agent_is_told_of_the_span_of_its_turn_if_that_is_asked_for_and_the_client_says_nothing()
{
    let folder = tempfile::tempdir().unwrap();
    let propagate = &["--otel-propagate"][..];
    for (options, said, is_ours) in [
        (&[][..], None, false),
        (propagate, Some(meta()), false),
        (propagate, Some(json!({"x": 1, "traceparent": null})), true),
        (propagate, None, true),
    ] {
        let mut receiver = Receiver::start(Answer::Good).await;
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint)];
        let mut client = client(folder.path(), options, &variables);
        let heard = turn_with(&mut client, said.clone()).await;
        assert!(client.finish().await.unwrap().status.success());
        if !is_ours {
            assert_eq!(heard, said.unwrap_or_default());
            continue;
        }
        let exported = receiver.until(is_all).await;
        let turn = exported.span("invoke_agent busy-agent");
        let [trace, span] = [&turn.trace_id, &turn.span_id].map(|id| hex(id));
        let mut expected = said.unwrap_or(json!({}));
        expected["traceparent"] = format!("00-{trace}-{span}-01").into();
        assert_eq!(heard, expected);
    }
}

#[tokio::test]
async fn a_recorded_trace_gives_the_spans_that_were_exported() {
    let folder = tempfile::tempdir().unwrap();
    let mut receiver = Receiver::start(Answer::Good).await;
    let trace = folder.path().join("trace");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint)];
    let mut client = client(
        folder.path(),
        &["--trace", trace.to_str().unwrap()],
        &variables,
    );
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    let exported = receiver.until(is_all).await;
    assert!(fs::read_to_string(&trace).unwrap().contains(SECRET));

    let mut command = host::acp_chain("trace");
    let output = command
        .args(["export", "--to", "otlp"])
        .arg(&trace)
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !text.contains(SECRET));
    let json: Value = serde_json::from_str(&text).unwrap();
    let spans = json["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap();
    let ids = spans
        .iter()
        .map(|span| span["spanId"].as_str().unwrap().to_owned());
    let (mut recorded, mut sent): (Vec<_>, Vec<_>) = (
        ids.collect(),
        exported
            .spans
            .iter()
            .map(|span| hex(&span.span_id))
            .collect(),
    );
    recorded.sort();
    sent.sort();
    assert_eq!(recorded, sent);
}
