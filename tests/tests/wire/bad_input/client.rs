//! Bad input from the client.

use std::fs;

use crate::bad_input::{Chain, LIMIT, MEMORY};

/// Sends a line, expects exactly this answer to it, and checks that the connection still works.
async fn refused(line: &str, answer: &str) {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    chain.send(line);
    chain.receive().await;
    chain
        .transcript
        .assert(&format!("client → {line}\nclient ← {answer}"));
    chain.goes_on().await;
    chain.ends_well(&[]).await;
}

#[tokio::test]
async fn a_line_that_is_not_json_is_answered_under_the_id_null() {
    refused(
        "hello",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON: expected value at line 1 column 1"}}"#,
    )
    .await;
    refused(
        r#"{"jsonrpc":"2.0","id":7,"method":"session/list","params":{]}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON: …"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_line_that_is_no_object_is_no_message() {
    for line in ["7", "null", r#""hello""#] {
        refused(
            line,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is a JSON object"}}"#,
        )
        .await;
    }
}

#[tokio::test]
async fn a_batch_is_refused_as_a_whole() {
    for line in [
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"session/list"},{"jsonrpc":"2.0","id":2,"method":"session/list"}]"#,
    ] {
        refused(
            line,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"version 1 of the Agent Client Protocol has no batches, and in version 2 one has 1 to 4096 messages; send one message a line"}}"#,
        )
        .await;
    }
}

#[tokio::test]
async fn a_message_of_another_version_is_refused_under_its_own_id() {
    for line in [
        r#"{"jsonrpc":"1.0","id":"a","method":"session/list"}"#,
        r#"{"jsonrpc":3,"id":"a","method":"session/list"}"#,
        r#"{"id":"a","method":"session/list","level":"info"}"#,
    ] {
        refused(
            line,
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"the message lacks \"jsonrpc\": \"2.0\""}}"#,
        )
        .await;
    }
}

#[tokio::test]
async fn an_object_that_is_neither_request_nor_notification_nor_response_is_refused() {
    for (line, id, why) in [
        (r#"{"jsonrpc":"2.0"}"#, "null", "neither a method nor an id"),
        (
            r#"{"jsonrpc":"2.0","method":7,"id":3}"#,
            "3",
            "the method is not a string",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","id":[1]}"#,
            "null",
            "an id is a number, a string or null",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","id":3,"result":1}"#,
            "3",
            "a method or an outcome, not both",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","method":"n","id":3}"#,
            "3",
            "two fields `method`",
        ),
    ] {
        refused(
            line,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"…{why}…"}}}}"#
            ),
        )
        .await;
    }
}

#[tokio::test]
async fn a_response_that_nobody_waits_for_is_logged_and_dropped() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    for id in ["99", r#""hello""#, "null"] {
        chain.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    chain.send(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#);
    chain.goes_on().await;
    let dropped = "dropped a response of the client to no open request: id ";
    let of = |id: &str| format!("{dropped}{id}");
    let (number, text, null) = (of("99"), of(r#""hello""#), of("null"));
    chain.ends_well(&[&number, &text, &null, &of("1")]).await;
}

#[tokio::test]
async fn what_comes_to_nothing_takes_little_of_the_log_however_long_and_however_often() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let long = "\u{2028}".repeat(1 << 19);
    for number in 0..8 {
        let response = format!(r#"{{"jsonrpc":"2.0","id":"{number}{long}","result":{{}}}}"#);
        chain.send(response);
        chain.send(long.clone());
        chain.receive().await;
    }
    for _ in 0..10_000 {
        chain.send("[]");
        chain.receive().await;
    }
    chain.goes_on().await;
    let path = chain.log.clone();
    let garbage = r"its 1572864 bytes begin with `\u{2028}";
    let (often, rest) = ("has no batches", "count=8192");
    let exit = chain.process.finish().await.expect("an exit");
    assert!(exit.status.success(), "{exit:?}");
    let logged = fs::read_to_string(path).expect("a log");
    for text in [garbage, often, rest, "count=100"] {
        assert!(logged.contains(text), "{logged}\nlacks {text}");
    }
    let len = logged.len();
    assert!(len < 64 << 10, "the log has {len} bytes");
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_used_again_until_it_is_answered() {
    let mut chain = Chain::initialized(&["--never", "session/list"])
        .await
        .unwrap();
    chain.send(r#"{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{"sessionId":"s","prompt":[{"text":"wait"}]}}"#);
    chain.send(
        r#"{"jsonrpc":"2.0","id":"\u0061","method":"session/resume","params":{"sessionId":"s"}}"#,
    );
    chain.receive().await;
    chain.send(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
    chain.receive().await;
    chain
        .send(r#"{"jsonrpc":"2.0","id":"a","method":"session/resume","params":{"sessionId":"s"}}"#);
    chain.receive().await;
    chain.transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{"sessionId":"s","prompt":[{"text":"wait"}]}}
        client → {"jsonrpc":"2.0","id":"\u0061","method":"session/resume","params":{"sessionId":"s"}}
        client ← {"jsonrpc":"2.0","id":"\u0061","error":{"code":-32600,"message":"the id \"\\u0061\" belongs to a request that is still open"}}
        client → {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
        client ← {"jsonrpc":"2.0","id":"a","result":{"stopReason":"cancelled"}}
        client → {"jsonrpc":"2.0","id":"a","method":"session/resume","params":{"sessionId":"s"}}
        client ← {"jsonrpc":"2.0","id":"a","result":{}}
        "#,
    );
}

#[tokio::test]
async fn a_line_that_is_not_utf8_is_a_parse_error() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"a":"#.to_vec();
    line.extend(b"\xff}}\n");
    chain.process.wire.send_bytes(line);
    let answer = chain.receive().await;
    assert!(
        answer.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not UTF-8: "#),
        "{answer}"
    );
    chain.goes_on().await;
    chain
        .ends_well(&["a line of the client is lost: the message is not UTF-8"])
        .await;
}

#[tokio::test]
async fn a_line_over_the_limit_takes_no_more_memory_than_the_limit_and_is_refused_under_its_id() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let sent = 200 << 20;
    let (head, tail) = (
        r#"{"jsonrpc":"2.0","id":"big","method":"m","params":""#,
        "\"}",
    );
    let wire = &mut chain.process.wire;
    wire.send_bytes(head);
    wire.send_repeated(b'x', sent);
    wire.send(tail);
    let answer = chain.receive().await;
    let size = head.len() + sent + tail.len();
    assert_eq!(
        answer,
        format!(
            r#"{{"jsonrpc":"2.0","id":"big","error":{{"code":-32600,"message":"a message of {size} bytes is over the limit of {LIMIT} bytes"}}}}"#
        )
    );
    let peak = chain.process.peak_memory().unwrap();
    assert!(peak < MEMORY, "{peak} bytes");
    chain.goes_on().await;
    chain.ends_well(&["over the limit"]).await;
}

#[tokio::test]
async fn noise_without_an_end_takes_no_more_memory_than_the_limit() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    chain.process.wire.send_repeated(b'{', 200 << 20);
    chain.send("");
    let answer = chain.receive().await;
    assert!(
        answer.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#),
        "{answer}"
    );
    let peak = chain.process.peak_memory().unwrap();
    assert!(peak < MEMORY, "{peak} bytes");
    chain.goes_on().await;
}

#[tokio::test]
async fn ten_thousand_levels_of_nesting_pass_both_ways() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}0{}", open.repeat(10_000), close.repeat(10_000));
        chain
            .process
            .turn(&format!("stop {{\"deep\":{deep}}}"))
            .await;
        let answers = chain.transcript.received("client");
        let answer = answers.last().unwrap();
        assert!(answer.contains(&format!(r#""result":{{"deep":{deep}}}"#)));
        chain.send(format!(
            r#"{{"jsonrpc":"2.0","id":"d","method":"session/list","params":{{"deep":{deep}}}}}"#
        ));
        let answer = chain.receive().await;
        assert!(answer.contains(r#""result":{"sessions":[]}"#), "{answer}");
    }
    chain.goes_on().await;
    chain.ends_well(&[]).await;
}

#[tokio::test]
async fn nesting_without_an_end_is_a_parse_error() {
    let line = "[".repeat(10_000);
    let mut chain = Chain::initialized(&[]).await.unwrap();
    chain.send(line);
    let answer = chain.receive().await;
    assert!(
        answer.contains(r#""id":null,"error":{"code":-32700,"#),
        "{answer}"
    );
    chain.goes_on().await;
}

#[tokio::test]
async fn a_client_that_ends_in_mid_line_is_told_so() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    chain
        .process
        .wire
        .send_bytes(r#"{"jsonrpc":"2.0","id":1,"method":"sess"#);
    let exit = chain.ends_well(&["a line of the client is lost"]).await;
    let [answer] = &exit.rest[..] else {
        panic!("one answer: {exit:?}")
    };
    assert_eq!(answer.id.as_deref(), Some("null"));
    assert!(answer.error.as_ref().unwrap().contains("-32700"));
}

#[tokio::test]
async fn a_last_line_may_lack_its_line_feed() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let line = r#"{"jsonrpc":"2.0","id":"x","method":"session/list"}"#;
    chain.process.wire.send_bytes(line);
    let exit = chain.ends_well(&[]).await;
    assert!(exit.rest[0].answers(r#""x""#), "{exit:?}");
}

#[tokio::test]
async fn even_initialize_may_lack_its_line_feed_or_break_off() {
    let mut chain = Chain::start(&[]).unwrap();
    let line = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    chain.process.wire.send_bytes(line);
    let exit = chain.ends_well(&[]).await;
    assert!(
        exit.rest[0].answers("0") && exit.rest[0].result.is_some(),
        "{exit:?}"
    );

    let mut chain = Chain::start(&[]).unwrap();
    chain.process.wire.send_bytes(&line.as_bytes()[..20]);
    let exit = chain.ends_well(&["a line of the client is lost"]).await;
    assert!(exit.rest[0].answers("null"), "{exit:?}");
    assert!(exit.rest[0].error.as_ref().unwrap().contains("-32700"));
}

#[tokio::test]
async fn nothing_but_initialize_is_taken_first_and_the_client_may_go_on() {
    let mut chain = Chain::start(&[]).unwrap();
    chain.send(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}"#);
    chain.send(r#"{"jsonrpc":"2.0","id":2,"method":"proxy/initialize","params":{}}"#);
    chain.send(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{}}"#);
    chain.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    chain.send("hello");
    chain.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    for _ in 0..4 {
        chain.receive().await;
    }
    chain.transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}
        client → {"jsonrpc":"2.0","id":2,"method":"proxy/initialize","params":{}}
        client → {"jsonrpc":"2.0","method":"session/cancel","params":{}}
        client → {"jsonrpc":"2.0","id":1,"result":{}}
        client → hello
        client → {"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
        client ← {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"session/new came before initialize"}}
        client ← {"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"acp-chain: an agent is named, so this chain is not a proxy, …"}}
        client ← {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"…"}}
        client ← {"jsonrpc":"2.0","id":1,"result":{…"protocolVersion":1}}
        "#,
    );
    chain.goes_on().await;
    chain
        .ends_well(&["before initialize: session/cancel"])
        .await;
}

#[tokio::test]
async fn before_initialize_the_log_is_neither_flooded_nor_deceived() {
    let mut chain = Chain::start(&[]).unwrap();
    let many = "{\"jsonrpc\":\"2.0\",\"method\":\"a\\n2026-01-01T00:00:00Z ERROR all is lost\"}\n";
    chain.process.wire.send_bytes(many.repeat(20_000));
    chain.process.initialize().await;
    chain.goes_on().await;
    let log = chain.log.clone();
    let exit = chain.process.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    let log = std::fs::read_to_string(log).unwrap();
    // The first hundred, then the 128th, the 256th, …
    let lines = log.lines().filter(|line| line.contains("all is lost"));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 108);
    for line in lines {
        assert!(
            !line.starts_with("2026-01-01") && line.contains("before initialize"),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_second_initialize_is_for_the_agent_to_judge() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    chain.send(r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#);
    chain.receive().await;
    chain.transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}
        client ← {"jsonrpc":"2.0","id":5,"result":{…"protocolVersion":1}}
        "#,
    );
    chain.goes_on().await;
}

#[tokio::test]
async fn what_conductors_say_to_proxies_is_not_for_the_ends() {
    for method in ["proxy/initialize", "proxy/successor"] {
        let error = format!(
            r#"{{"code":-32600,"message":"{method} is spoken between a conductor and its proxies"}}"#
        );
        refused(
            &format!(r#"{{"jsonrpc":"2.0","id":4,"method":"{method}","params":{{}}}}"#),
            &format!(r#"{{"jsonrpc":"2.0","id":4,"error":{error}}}"#),
        )
        .await;

        let mut chain = Chain::initialized(&[]).await.unwrap();
        chain.send(format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#));
        chain
            .process
            .turn(&format!("tell {method}\nask {method}"))
            .await;
        let of = |end| format!("dropped a notification from the {end}: {method}");
        let [client, agent, answer] = &chain.process.chunks()[..] else {
            panic!("{}", chain.transcript)
        };
        assert!(client.contains(&of("client")), "{client}");
        assert!(agent.contains(&of("agent")), "{agent}");
        assert_eq!(*answer, format!("error {error}"));
        chain.goes_on().await;
        chain.ends_well(&[&of("client"), &of("agent")]).await;
    }
}
