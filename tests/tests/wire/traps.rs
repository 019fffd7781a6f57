//! Habits of real clients and agents that other programs stumble over: these messages pass unchanged, through
//! no proxy and through three that see everything.

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::quoted;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use tempfile::TempDir;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// The numbers of proxies in the chains.
const CHAINS: [usize; 2] = [0, 3];

fn start(proxies: usize, flags: &[&str]) -> (Process, TempDir) {
    host::through(proxies, [AGENT].iter().chain(flags)).unwrap()
}

async fn initialized(proxies: usize, flags: &[&str]) -> (Process, TempDir) {
    let (mut client, folder) = start(proxies, flags);
    client.initialize().await;
    (client, folder)
}

async fn ends_well(client: Process) {
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    assert_eq!(exit.stderr, "");
}

#[tokio::test]
async fn a_client_may_use_the_ids_0_and_null_and_uuids() {
    for proxies in CHAINS {
        let (mut client, _folder) = start(proxies, &[]);
        for (id, method) in [
            ("0", "initialize"),
            ("null", "session/new"),
            (r#""5f2c1c7e-9d0b-4a6e-8c3f-000000000000""#, "session/list"),
            ("-1", "session/list"),
            ("0", "session/list"),
            (r#""""#, "session/list"),
            ("9007199254740993", "session/list"),
            (r#""0""#, "no/such"),
        ] {
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#);
            client.wire.send(line);
            client.wire.response(id).await;
        }
        client.wire.transcript().assert(
            r#"
            client → {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
            client ← {"jsonrpc":"2.0","id":0,"result":{…"protocolVersion":1}}
            client → {"jsonrpc":"2.0","id":null,"method":"session/new","params":{}}
            client ← {"jsonrpc":"2.0","id":null,"result":{"sessionId":"session-1"}}
            client → {"jsonrpc":"2.0","id":"5f2c1c7e-9d0b-4a6e-8c3f-000000000000","method":"session/list","params":{}}
            client ← {"jsonrpc":"2.0","id":"5f2c1c7e-9d0b-4a6e-8c3f-000000000000","result":{"sessions":[]}}
            client → {"jsonrpc":"2.0","id":-1,"method":"session/list","params":{}}
            client ← {"jsonrpc":"2.0","id":-1,"result":{"sessions":[]}}
            client → {"jsonrpc":"2.0","id":0,"method":"session/list","params":{}}
            client ← {"jsonrpc":"2.0","id":0,"result":{"sessions":[]}}
            client → {"jsonrpc":"2.0","id":"","method":"session/list","params":{}}
            client ← {"jsonrpc":"2.0","id":"","result":{"sessions":[]}}
            client → {"jsonrpc":"2.0","id":9007199254740993,"method":"session/list","params":{}}
            client ← {"jsonrpc":"2.0","id":9007199254740993,"result":{"sessions":[]}}
            client → {"jsonrpc":"2.0","id":"0","method":"no/such","params":{}}
            client ← {"jsonrpc":"2.0","id":"0","error":{"code":-32601,"message":"Method not found: no/such"}}
            "#,
        );
        ends_well(client).await;
    }
}

/// The agent repeats the text only if the answer has the id that the agent used.
#[tokio::test]
async fn an_agent_may_use_the_ids_0_and_null_and_uuids() {
    for proxies in CHAINS {
        for ids in ["number", "zero", "uuid", "null"] {
            let (mut client, _folder) = initialized(proxies, &["--ids", ids]).await;
            client.wire = client
                .wire
                .answering(|message| message.result(r#"{"content":"text"}"#));
            client.turn("read /a\nread /b").await;
            assert_eq!(client.chunks(), ["text", "text"], "{ids}");
            ends_well(client).await;
        }
    }
}

#[tokio::test]
async fn a_result_may_come_before_its_id() {
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &["--result-first"]).await;
        client.wire = client.wire.answering(|message| match &message.id {
            Some(id) => vec![format!(
                r#"{{"result":{{"content":"text"}},"id":{id},"jsonrpc":"2.0"}}"#
            )],
            None => Vec::new(),
        });
        let answer = client.turn("read /a").await;
        assert_eq!(client.chunks(), ["text"]);
        assert_eq!(
            answer.line,
            r#"{"result":{"stopReason":"end_turn"},"id":2,"jsonrpc":"2.0"}"#
        );
        let answer = client.turn(r#"fail {"code":1,"message":"m"}"#).await;
        assert_eq!(
            answer.line,
            r#"{"error":{"code":1,"message":"m"},"id":3,"jsonrpc":"2.0"}"#
        );
        ends_well(client).await;
    }
}

#[tokio::test]
async fn an_agent_need_not_say_what_it_can() {
    for proxies in CHAINS {
        let (mut client, _folder) = start(proxies, &["--no-capabilities"]);
        let answer = client.wire.request("initialize", "{}").await;
        let result = answer.result.unwrap();
        assert!(
            result.starts_with(r#"{"agentInfo":{"name":"wild-agent","#),
            "{result}"
        );
        // The chain adds nothing else.
        let said = r#""agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
        assert!(result.ends_with(said), "{result}");
        ends_well(client).await;
    }
}

#[tokio::test]
async fn a_session_may_speak_before_the_response_that_names_it() {
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &["--early-updates"]).await;
        client.wire.request("session/new", "{}").await;
        client.wire.transcript().assert(
            r#"
            client → {"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}
            client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1",…"before the session"…}
            client ← {"jsonrpc":"2.0","method":"_vendor/hello","params":{"sessionId":"session-1"}}
            client ← {"jsonrpc":"2.0","id":2,"result":{"sessionId":"session-1"}}
            "#,
        );
        ends_well(client).await;
    }
}

#[tokio::test]
async fn methods_that_no_schema_has_pass_both_ways() {
    let script =
        "tell vendor/told [1e400]\nask vendor/asked {\"n\":-0.0}\nask $/odd {\"sessionId\":\"s\"}";
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &["--ids", "zero"]).await;
        client.wire = client
            .wire
            .answering(|message| match message.method.as_deref() {
                Some("vendor/asked") => message.result(r#"{"s":"\u00e9", "n":1e400}"#),
                _ => message.error(r#"{"code": -32601,"message":"no"}"#),
            });
        client.wire.notify("vendor/heard", "{}");
        client.wire.request("vendor/unheard", r#"{"n":1E+2}"#).await;
        client.turn(script).await;
        client.wire.transcript().assert(&format!(
            r#"
            client → {{"jsonrpc":"2.0","method":"vendor/heard","params":{{}}}}
            client → {{"jsonrpc":"2.0","id":2,"method":"vendor/unheard","params":{{"n":1E+2}}}}
            client ← {{"jsonrpc":"2.0","id":2,"error":{{"code":-32601,"message":"Method not found: vendor/unheard"}}}}
            client → {{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{}}}
            client ← {{"jsonrpc":"2.0","method":"vendor/told","params":[1e400]}}
            client ← {{"jsonrpc":"2.0","id":…,"method":"vendor/asked","params":{{"n":-0.0}}}}
            client → {{"jsonrpc":"2.0","id":…,"result":{{"s":"\u00e9", "n":1e400}}}}
            client ← …"text":"result {{\"s\":\"\\u00e9\", \"n\":1e400}}"…
            client ← {{"jsonrpc":"2.0","id":…,"method":"$/odd","params":{{"sessionId":"s"}}}}
            client → {{"jsonrpc":"2.0","id":…,"error":{{"code": -32601,"message":"no"}}}}
            client ← …"text":"error {{\"code\": -32601,\"message\":\"no\"}}"…
            client ← {{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}
            "#,
            prompt("s", script)
        ));
        ends_well(client).await;
    }
}

#[tokio::test]
async fn a_line_of_600_kilobytes_passes_in_its_place() {
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &["--big-update", "600000"]).await;
        client.wire.request("session/new", "{}").await;
        let update = client.wire.receive().await.unwrap();
        assert_eq!(update.line.len(), 600_000);
        client.turn("echo behind").await;
        let lines = client.wire.transcript().received("client");
        let sizes: Vec<_> = lines.iter().map(|line| line.len() > 1000).collect();
        assert_eq!(sizes, [false, true, false, false]);
        ends_well(client).await;
    }
}

#[tokio::test]
async fn a_line_of_32_megabytes_passes_each_way() {
    const SIZE: usize = 32 << 20;
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &[]).await;
        let content = "0123456789abcdef".repeat(SIZE / 16);
        let result = format!(r#"{{"content":"{content}"}}"#);
        client.wire = client
            .wire
            .answering(move |message| message.result(&result));
        client.turn(&format!("line {SIZE}\nread /x")).await;
        let lines = client.wire.transcript().received("client");
        assert!(lines.iter().any(|line| line.len() == SIZE));
        let [chunk] = &client.chunks()[..] else {
            panic!("one chunk")
        };
        let is_whole = *chunk == content;
        assert!(is_whole, "{} bytes", chunk.len());
        let text = format!("echo {content}");
        client.wire.transcript().clear();
        client.turn(&text).await;
        let is_whole = client.chunks() == [&*content];
        assert!(is_whole, "{} chunks", client.chunks().len());
        ends_well(client).await;
    }
}

#[tokio::test]
async fn an_agent_that_lives_on_without_input_does_not_keep_the_program() {
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &["--survive-eof"]).await;
        client.turn("echo alive").await;
        ends_well(client).await;
    }
}

#[tokio::test]
async fn a_child_that_keeps_the_agents_output_open_does_not_keep_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let child = folder.path().join("child");
    for proxies in CHAINS {
        let (mut client, _folder) =
            initialized(proxies, &["--child", child.to_str().unwrap()]).await;
        client.turn("echo alive").await;
        ends_well(client).await;
    }
}

#[tokio::test]
async fn megabytes_on_the_agents_standard_error_neither_stop_it_nor_come_out() {
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &["--stderr", "4000000"]).await;
        client.turn("stderr 4000000\necho still here").await;
        assert_eq!(client.chunks(), ["still here"]);
        ends_well(client).await;
    }
}

#[tokio::test]
async fn words_before_the_first_message_of_the_agent_are_passed_over() {
    for proxies in CHAINS {
        let (mut client, _folder) = start(proxies, &["--garbage"]);
        client.wire.request("initialize", "{}").await;
        client.wire.transcript().assert(
            r#"
            client → {"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
            client ← {"jsonrpc":"2.0","id":1,"result":{…}}
            "#,
        );
        ends_well(client).await;
    }
}

#[tokio::test]
async fn text_of_any_spelling_reaches_the_agent_as_it_was() {
    let spelt = r#"{"sessionId":"\u0073", "x":1e400,"-0":-0.0,"prompt":[{"type":"text","text":"show"}],"_meta":{"\ud800":"\/"}}"#;
    for proxies in CHAINS {
        let (mut client, _folder) = initialized(proxies, &[]).await;
        client.wire.request("session/prompt", spelt).await;
        let [shown] = &client.chunks()[..] else {
            panic!("one chunk")
        };
        let expected = format!(r#""method":"session/prompt","params":{spelt}}}"#);
        assert!(shown.ends_with(&expected), "{}", quoted(shown));
        ends_well(client).await;
    }
}
