use super::*;
use crate::Reader;

fn exported(export: Export, trace: &str) -> String {
    let mut lines = Reader::new(trace.as_bytes()).map(|line| line.unwrap().1);
    let mut out = Vec::new();
    export(&mut lines, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_empty_trace_is_an_empty_document() {
    assert_eq!(exported(conductor, ""), "");
    for export in [chrome as Export, har] {
        let text = exported(export, "");
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

/// A connection with all kinds of lines that converters must distinguish.
const TRACE: &str = r#"{"time":"2026-01-02T03:04:05.000000Z","connection":"abc","version":1,"program":"acp-chain 0.1.0","role":"agent","proxies":["one","two"],"masked":true}
{"time":"2026-01-02T03:04:05.001000Z","connection":"abc","from":"client","to":"acp-chain","kind":"request","id":"a","message":1,"request":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]},"size":90}
{"time":"2026-01-02T03:04:05.002000Z","connection":"abc","from":"client","to":"one","kind":"request","id":"a","message":1,"request":1,"method":"session/new","params":{"cwd":"/"},"size":80,"waited":500}
{"time":"2026-01-02T03:04:05.003000Z","connection":"abc","proxy":"one","decision":"forward","message":1,"request":1,"method":"session/new","worked":700}
{"time":"2026-01-02T03:04:05.003100Z","connection":"abc","from":"one","to":"agent","kind":"request","id":"a","message":1,"request":1,"method":"session/new","params":{"cwd":"/"},"size":80}
{"time":"2026-01-02T03:04:05.004000Z","connection":"abc","from":"agent","to":"client","kind":"response","id":"a","message":2,"request":1,"method":"session/new","result":{"sessionId":"s"},"size":50}
{"time":"2026-01-02T03:04:05.005000Z","connection":"abc","from":"agent","to":"two","kind":"notification","message":3,"method":"session/update","session":"s","params":{"sessionId":"s"},"size":60,"waited":10}
{"time":"2026-01-02T03:04:05.006000Z","connection":"abc","proxy":"two","decision":"hold","message":3,"method":"session/update","session":"s","worked":20}
{"time":"2026-01-02T03:04:05.007000Z","connection":"abc","proxy":"two","decision":"change","message":3,"method":"session/update","session":"s","worked":30,"held":1000}
{"time":"2026-01-02T03:04:05.007100Z","connection":"abc","from":"two","to":"client","kind":"notification","message":3,"method":"session/update","session":"s","params":{"sessionId":"s","x":1},"size":60}
{"time":"2026-01-02T03:04:05.008000Z","connection":"abc","from":"agent","to":"two","kind":"request","id":7,"message":4,"request":2,"method":"mcp/message","params":{"connectionId":"c","method":"tools/call","params":{"name":"t"}},"size":70}
{"time":"2026-01-02T03:04:05.009000Z","connection":"abc","proxy":"two","denied":1,"invalid":0,"full":0}
{"time":"2026-01-02T03:04:05.010000Z","connection":"abc","from":"two","to":"agent","kind":"response","id":7,"message":5,"request":2,"method":"mcp/message","error":{"code":-32603,"message":"it broke"},"size":70}
{"time":"2026-01-02T03:04:05.011000Z","connection":"abc","from":"client","to":"agent","kind":"request","id":"b","message":6,"request":3,"method":"session/prompt","session":"s","params":{"sessionId":"s"},"size":70}
"#;

#[test]
fn each_format_says_what_the_trace_does() {
    let formats: [(&str, Export); 3] = [("conductor", conductor), ("chrome", chrome), ("har", har)];
    for (name, export) in formats {
        insta::assert_snapshot!(name, exported(export, TRACE));
    }
}

#[test]
fn requests_for_the_client_have_the_ids_that_it_received() {
    let trace = r#"{"connection":"a","from":"agent","to":"p","kind":"request","id":7,"request":12,"method":"m","params":{}}
{"connection":"a","from":"p","to":"client","kind":"request","id":7,"request":12,"method":"m","params":{}}
{"connection":"a","from":"p","to":"client","kind":"request","request":13,"method":"n","params":{}}
{"connection":"a","from":"client","to":"p","kind":"response","id":7,"request":12,"method":"m","result":1}
{"connection":"a","from":"client","to":"p","kind":"request","id":"c","request":14,"method":"o","params":{}}
{"connection":"a","from":"p","to":"client","kind":"response","id":"c","request":14,"method":"o","result":2}
"#;
    let archive: serde_json::Value = serde_json::from_str(&exported(har, trace)).unwrap();
    let frames = archive["log"]["entries"][0]["_webSocketMessages"].as_array();
    let frames = frames.unwrap().iter().map(|frame| {
        let data: serde_json::Value =
            serde_json::from_str(frame["data"].as_str().unwrap()).unwrap();
        data["id"].clone()
    });
    let ids: Vec<_> = frames.collect();
    assert_eq!(
        serde_json::json!(ids),
        serde_json::json!([12, 13, 12, "c", "c"])
    );
}

/// The spans and flows of a trace.
fn events(trace: &str) -> Vec<serde_json::Value> {
    let trace = exported(chrome, trace);
    let mut trace: serde_json::Value = serde_json::from_str(&trace).unwrap();
    serde_json::from_value(trace["traceEvents"].take()).unwrap()
}

#[test]
fn a_request_answered_by_a_proxy_ends_although_no_answer_crosses() {
    let trace = r#"{"time":"2026-01-01T00:00:00Z","connection":"a","from":"agent","to":"p","kind":"request","request":1,"method":"mcp/message"}
{"time":"2026-01-01T00:00:01Z","connection":"a","proxy":"p","decision":"DECISION","request":1,"method":"mcp/message","worked":5}
{"time":"2026-01-01T00:00:02Z","connection":"a","from":"agent","to":"p","kind":"notification","method":"n"}
"#;
    for (decision, dur, unanswered) in [
        ("answer", 1_000_000, None),
        ("refuse", 1_000_000, None),
        ("forward", 2_000_000, Some(true)),
    ] {
        let events = events(&trace.replace("DECISION", decision));
        let asked = events.iter().find(|event| event["cat"] == "request");
        let asked = asked.unwrap();
        assert_eq!(asked["dur"], dur, "{decision}");
        assert_eq!(
            asked["args"]["unanswered"].as_bool(),
            unanswered,
            "{decision}"
        );
    }
}

#[test]
fn a_flow_joins_the_hops_of_a_notification_despite_held_ones() {
    let trace = r#"{"time":"2026-01-01T00:00:01Z","connection":"a","from":"agent","to":"p","kind":"notification","message":1,"method":"n"}
{"time":"2026-01-01T00:00:02Z","connection":"a","proxy":"p","decision":"hold","message":1,"method":"n","worked":5}
{"time":"2026-01-01T00:00:03Z","connection":"a","from":"agent","to":"p","kind":"notification","message":2,"method":"n"}
{"time":"2026-01-01T00:00:04Z","connection":"a","proxy":"p","decision":"forward","message":2,"method":"n","worked":5}
{"time":"2026-01-01T00:00:05Z","connection":"a","from":"p","to":"client","kind":"notification","message":2,"method":"n"}
{"time":"2026-01-01T00:00:06Z","connection":"a","proxy":"p","decision":"forward","message":1,"method":"n","held":5}
{"time":"2026-01-01T00:00:07Z","connection":"a","from":"p","to":"client","kind":"notification","message":1,"method":"n"}
"#;
    let events = events(trace);
    let begun = events.iter().filter(|event| event["cat"] == "message");
    let mut flows: std::collections::BTreeMap<u64, Vec<u64>> = std::collections::BTreeMap::new();
    for event in begun {
        let [flow, at] = ["id", "ts"].map(|name| event[name].as_u64().unwrap());
        flows.entry(flow).or_default().push(at / 1_000_000 % 60);
    }
    let flows: Vec<_> = flows.into_values().collect();
    assert_eq!(flows, [[1, 7], [3, 5]]);
}

#[test]
fn traces_of_the_reference_conductor_are_converted() {
    // As written by version 5.0.0 with `--trace` and one proxy.
    let theirs = r#"{"type":"request","ts":0.001,"protocol":"acp","from":"Client","to":"Proxy(0)","id":"x1","method":"session/prompt","params":{"sessionId":"s"}}
{"type":"request","ts":0.002,"protocol":"acp","from":"Proxy(0)","to":"Agent","id":"y1","method":"session/prompt","params":{"sessionId":"s"}}
{"type":"notification","ts":0.003,"protocol":"acp","from":"Agent","to":"Proxy(0)","method":"session/update","params":{"sessionId":"s"}}
{"type":"response","ts":0.004,"from":"Agent","to":"Proxy(0)","id":"y1","is_error":false,"payload":{"stopReason":"end_turn"}}
{"type":"response","ts":0.005,"from":"Proxy(0)","to":"Client","id":"x1","is_error":true,"error_domain":"acp","payload":{"code":1,"message":"no"}}
{"type":"req"#;
    let mut reader = Reader::new(theirs.as_bytes());
    let lines: Vec<Line> = reader.by_ref().map(|line| line.unwrap().1).collect();
    assert_eq!(reader.cut(), 1);
    let text: Vec<_> = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap())
        .collect();
    insta::assert_snapshot!("from_conductor", text.join("\n"));
    let wrong = theirs.replace("\"type\":\"notification\"", "\"type\":\"gossip\"");
    let told = Reader::new(wrong.as_bytes()).find_map(Result::err).unwrap();
    assert!(
        told.to_string().starts_with("3: not a line of a trace"),
        "{told}"
    );
}

#[test]
fn a_time_of_the_reference_conductor_that_has_no_date_is_left_out() {
    for (ts, is_date) in [
        ("253402300799", true),
        ("253402300800", false),
        ("1e300", false),
        ("-1", false),
    ] {
        let theirs = format!(
            r#"{{"type":"notification","ts":{ts},"from":"Client","to":"Agent","method":"m","params":{{}}}}"#
        );
        let (_, line) = Reader::new(theirs.as_bytes()).next().unwrap().unwrap();
        assert_eq!(!line.time.is_empty(), is_date, "{ts}: {}", line.time);
    }
}

#[test]
fn no_trace_makes_a_converter_panic_or_lose_its_form() {
    let hostile = r#"{"connection":"x","version":1,"time":"9999-99-99","proxies":["client","agent","client"]}
{"connection":"x","time":"2026-01-01T00:00:00Z","from":"agent","to":"agent","kind":"request","request":18446744073709551615,"waited":18446744073709551615}
{"connection":"\"<","from":"client","to":"client","kind":"response","request":1}
{"connection":"x","from":"a","to":"b","kind":"notification","method":"mcp/message","params":[]}
{"connection":"x","proxy":"zzz","decision":"change","worked":18446744073709551615,"held":3}
{"connection":"x","time":"1969-01-01T00:00:00Z","from":"client","to":"agent","kind":"response","request":18446744073709551615}
"#;
    for export in [chrome as Export, har] {
        serde_json::from_str::<serde_json::Value>(&exported(export, hostile)).unwrap();
    }
    for line in exported(conductor, hostile).lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}
