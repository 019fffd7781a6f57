use super::*;
use crate::Reader;

fn exported(format: Format, trace: &str) -> String {
    let lines = Reader::new(trace.as_bytes()).map(|line| line.unwrap().1);
    let mut out = Vec::new();
    export(format, lines, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn formats_have_the_names_by_which_they_are_asked_for() {
    for format in Format::ALL {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
    }
    let told = "pcap".parse::<Format>().unwrap_err().to_string();
    assert_eq!(
        told,
        "there is no format `pcap`; there are conductor, chrome, har"
    );
}

#[test]
fn an_empty_trace_is_an_empty_document() {
    assert_eq!(exported(Format::Conductor, ""), "");
    for format in [Format::Chrome, Format::Har] {
        let text = exported(format, "");
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

/// A connection with everything that converters must tell apart.
const TRACE: &str = r#"{"time":"2026-01-02T03:04:05.000000Z","connection":"abc","version":1,"program":"acp-chain 0.1.0","role":"agent","proxies":["one","two"],"masked":true}
{"time":"2026-01-02T03:04:05.001000Z","connection":"abc","from":"client","to":"acp-chain","kind":"request","id":"a","request":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]},"size":90}
{"time":"2026-01-02T03:04:05.002000Z","connection":"abc","from":"client","to":"one","kind":"request","id":"a","request":1,"method":"session/new","params":{"cwd":"/"},"size":80,"waited":500}
{"time":"2026-01-02T03:04:05.003000Z","connection":"abc","proxy":"one","decision":"forward","request":1,"method":"session/new","worked":700}
{"time":"2026-01-02T03:04:05.003100Z","connection":"abc","from":"one","to":"agent","kind":"request","id":"a","request":1,"method":"session/new","params":{"cwd":"/"},"size":80}
{"time":"2026-01-02T03:04:05.004000Z","connection":"abc","from":"agent","to":"client","kind":"response","id":"a","request":1,"method":"session/new","result":{"sessionId":"s"},"size":50}
{"time":"2026-01-02T03:04:05.005000Z","connection":"abc","from":"agent","to":"two","kind":"notification","method":"session/update","session":"s","params":{"sessionId":"s"},"size":60,"waited":10}
{"time":"2026-01-02T03:04:05.006000Z","connection":"abc","proxy":"two","decision":"hold","method":"session/update","session":"s","worked":20}
{"time":"2026-01-02T03:04:05.007000Z","connection":"abc","proxy":"two","decision":"change","method":"session/update","session":"s","worked":30,"held":1000}
{"time":"2026-01-02T03:04:05.007100Z","connection":"abc","from":"two","to":"client","kind":"notification","method":"session/update","session":"s","params":{"sessionId":"s","x":1},"size":60}
{"time":"2026-01-02T03:04:05.008000Z","connection":"abc","from":"agent","to":"two","kind":"request","id":7,"request":2,"method":"mcp/message","params":{"connectionId":"c","method":"tools/call","params":{"name":"t"}},"size":70}
{"time":"2026-01-02T03:04:05.009000Z","connection":"abc","proxy":"two","denied":1,"invalid":0,"full":0}
{"time":"2026-01-02T03:04:05.010000Z","connection":"abc","from":"two","to":"agent","kind":"response","id":7,"request":2,"method":"mcp/message","error":{"code":-32603,"message":"it broke"},"size":70}
{"time":"2026-01-02T03:04:05.011000Z","connection":"abc","from":"client","to":"agent","kind":"request","id":"b","request":3,"method":"session/prompt","session":"s","params":{"sessionId":"s"},"size":70}
"#;

#[test]
fn each_format_says_what_the_trace_does() {
    for format in Format::ALL {
        insta::assert_snapshot!(format.name(), exported(format, TRACE));
    }
}

#[test]
fn what_the_reference_conductor_wrote_is_read_as_ours() {
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
        told.to_string()
            .starts_with("3: this is no line of a trace"),
        "{told}"
    );
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
    for format in [Format::Chrome, Format::Har] {
        serde_json::from_str::<serde_json::Value>(&exported(format, hostile)).unwrap();
    }
    for line in exported(Format::Conductor, hostile).lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}
