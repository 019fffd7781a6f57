//! The content of messages in spans, if enabled: without the secrets that are found.

use opentelemetry_proto::tonic::common::v1::any_value::Value as OtelValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};

use super::receiver::{Answer, Receiver};
use super::turn::is_all;
use super::{KEY, SECRET, client, turn};

/// The replacement of the key.
const MARKER: &str = "[secret: aws-access-token 1]";

fn said(span: &Span, key: &str) -> Value {
    let mut attributes = span.attributes.iter();
    let found = attributes.find(|attribute| attribute.key == key);
    let found = found.unwrap_or_else(|| panic!("no {key}: {:?}", span.attributes));
    match found.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(OtelValue::StringValue(text)) => serde_json::from_str(text).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn content_that_is_asked_for_leaves_without_secrets_whatever_the_trace_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let options = ["--trace", trace.to_str().unwrap(), "--trace-bodies"];
    let mut receiver = Receiver::start(Answer::Good).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
        (
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
            "SPAN_ONLY",
        ),
        ("ACP_CHAIN_OTEL_HOPS", "1"),
    ];
    let mut client = client(folder.path(), &options, &variables);
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    let exported = receiver.until(is_all).await;
    let kept = std::fs::read_to_string(&trace).unwrap();
    assert!(kept.contains(KEY));
    let text = String::from_utf8_lossy(&exported.bytes);
    // Neither whole nor in the chunks in which it was sent.
    for part in [&KEY[..9], &KEY[9..]] {
        assert!(!text.contains(part), "{text}");
    }
    let words = format!("sk-live-{SECRET} {MARKER}");
    let turn = exported.span("invoke_agent busy-agent");
    assert_eq!(
        said(turn, "gen_ai.input.messages"),
        json!([{"role": "user", "parts": [{"type": "text", "content": format!("{SECRET} {MARKER}")}]}])
    );
    let answer = format!("{words} and more");
    assert_eq!(
        said(turn, "gen_ai.output.messages"),
        json!([{
            "role": "assistant",
            "parts": [{"type": "text", "content": answer}],
            "finish_reason": "end_turn",
        }])
    );
    let tool = exported.span("execute_tool execute");
    let call = exported.span("tools/call look");
    for (span, arguments) in [
        (tool, json!({"command": words})),
        (call, json!({"at": words})),
    ] {
        assert_eq!(said(span, "gen_ai.tool.call.arguments"), arguments);
    }
    assert_eq!(
        said(tool, "gen_ai.tool.call.result"),
        json!({"text": words})
    );
    let result = said(call, "gen_ai.tool.call.result");
    assert_eq!(result["content"][0]["text"], format!("{SECRET} {MARKER}"));
}
