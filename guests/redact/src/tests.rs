use std::time::Duration;

use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use acp_chain_proxy::{Error, MessageId, Peer};
use acp_chain_secrets::{Detector, Effort, Marker, pattern};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Redact;

mod restart;
mod runs;

/// A secret by the configuration of these tests, which has no other.
const SECRET: &str = "acme-0123456789";
const MARKER: &str = "[redacted: acme]";

/// The marker of a secret in a text of the agent.
const HIDDEN: &str = "[hidden here, the agent has it: acme]";

/// The powers in the README.
const LEAST: &[&str] = &[
    "capabilities.read",
    "prompts.read",
    "prompts.change",
    "answers.read",
    "answers.change",
    "answers.send",
    "tool-calls.read",
    "tool-calls.change",
    "tool-calls.send",
    "plans.read",
    "plans.change",
    "other-updates.read",
    "other-updates.change",
    "turns.read",
    "session-setup.read",
    "permissions.read",
    "permissions.change",
    "questions.read",
    "questions.change",
    "files.watch",
    "files.change",
    "files.refuse",
    "terminals.watch",
    "terminals.change",
    "tool-runs.read",
    "tool-runs.refuse",
    "tool-results.read",
    "tool-results.change",
];

fn host() -> Host {
    host_with(json!({}))
}

fn host_with(more: Value) -> Host {
    let mut config = json!({ "patterns": [{ "name": "acme", "regex": "acme-[0-9]{10}" }] });
    for (key, value) in more.as_object().expect("a table") {
        config[key] = value.clone();
    }
    let mut host = Host::start::<Redact>(config).expect("the configuration is right");
    host.powers(LEAST);
    host
}

fn prompt(host: &mut Host) -> MessageId {
    let text = json!({ "type": "text", "text": "go on" });
    let id = host.request(
        Peer::Client,
        "session/prompt",
        json!({ "sessionId": "s", "prompt": [text] }),
    );
    host.sent();
    id
}

fn chunk(host: &mut Host, kind: &str, message: &str, text: &str) {
    let content = json!({ "type": "text", "text": text });
    update(
        host,
        json!({ "sessionUpdate": kind, "messageId": message, "content": content }),
    );
}

fn update(host: &mut Host, update: Value) {
    host.notify(
        Peer::Agent,
        "session/update",
        json!({ "sessionId": "s", "update": update }),
    );
}

/// The texts that were streamed to the client, concatenated.
fn streamed(sent: &[SentMessage]) -> String {
    sent.iter()
        .filter_map(|sent| sent.get::<String>("/update/content/text"))
        .collect()
}

#[test]
fn prompts_lose_their_secrets_in_text_and_embedded_resources() {
    let mut host = host();
    let params = json!({ "sessionId": "s", "prompt": [
        { "type": "text", "text": format!("use {SECRET}") },
        { "type": "resource", "resource": {
            "uri": format!("file:///{SECRET}"), "text": format!("KEY={SECRET}\n") } },
        { "type": "image", "mimeType": "image/png", "data": SECRET },
    ] });
    host.request(Peer::Client, "session/prompt", &params);
    let sent = host.sent().remove(0);
    assert_eq!(sent.at("/prompt/0/text"), format!("use {MARKER}"));
    assert_eq!(
        sent.at("/prompt/1/resource/text"),
        format!("KEY={MARKER}\n")
    );
    assert_eq!(
        sent.at("/prompt/1/resource/uri"),
        params["prompt"][1]["resource"]["uri"]
    );
    assert_eq!(sent.at("/prompt/2"), params["prompt"][2]);
}

#[test]
fn a_prompt_is_examined_however_long_its_images_are() {
    let image =
        |size: usize| json!({ "type": "image", "mimeType": "image/png", "data": "A".repeat(size) });
    let text = |text: String| json!({ "type": "text", "text": text });
    let mib = 1024 * 1024;
    let mut host = host();
    let mut ask = |prompt: Value| {
        let params = json!({ "sessionId": "s", "prompt": prompt });
        host.request(Peer::Client, "session/prompt", params);
        host.sent().remove(0)
    };
    let sent = ask(json!([image(20 * mib), text(SECRET.into())]));
    assert_eq!(
        (sent.to, sent.at("/prompt/1/text")),
        (Peer::Agent, MARKER.into())
    );
    for (prompt, expected) in [
        (
            json!([image(16 * mib), text("a ".repeat(3 * mib))]),
            "block 2 of the prompt has a text of 6291456 bytes",
        ),
        (json!([image(41 * mib)]), "leave out its largest attachment"),
        (
            json!([image(25 * mib), text(SECRET.into())]),
            "block 2 of the prompt has a secret (acme)",
        ),
    ] {
        let Err(Error { message, .. }) = ask(prompt).body else {
            panic!("an error")
        };
        assert!(message.contains(expected), "{message}");
    }
    let sent = ask(json!([text("a ".repeat(3 * mib))]));
    assert_eq!(sent.to, Peer::Agent, "alone it is");
}

#[test]
fn a_prompt_without_blocks_loses_its_secrets() {
    let mut host = host();
    let params = json!({ "sessionId": "s", "prompt": format!("use {SECRET}") });
    host.request(Peer::Client, "session/prompt", params);
    assert_eq!(host.sent()[0].at("/prompt"), format!("use {MARKER}"));
}

#[test]
fn a_prompt_that_no_power_covers_goes_on() {
    let mut host = host();
    host.powers(&["prompts.answer", "answers.send"]);
    let text = json!({ "type": "text", "text": SECRET });
    let params = json!({ "sessionId": "s", "prompt": [text] });
    host.request(Peer::Client, "session/prompt", &params);
    assert_eq!(host.sent()[0].at("/prompt/0/text"), SECRET);
}

#[test]
fn a_secret_in_two_chunks_is_found_and_the_rest_is_not_delayed() {
    let mut host = host();
    prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "it is acme-01234");
    assert_eq!(streamed(&host.sent()), "it is ");
    chunk(&mut host, "agent_message_chunk", "1", "56789, they say!");
    assert_eq!(streamed(&host.sent()), format!("{HIDDEN}, they say!"));
}

/// Some agents say when each chunk was made.
#[test]
fn a_secret_in_two_chunks_is_found_whatever_else_differs_in_them() {
    let mut host = host();
    prompt(&mut host);
    for (time, text) in [("10:00", "it is acme-01234"), ("10:01", "56789, they say!")] {
        let content = json!({ "type": "text", "text": text });
        update(
            &mut host,
            json!({ "sessionUpdate": "agent_message_chunk", "time": time, "content": content }),
        );
    }
    let shown = streamed(&host.sent());
    assert_eq!(shown, format!("it is {HIDDEN}, they say!"));
}

#[test]
fn withheld_text_is_sent_before_the_turn_ends() {
    let mut host = host();
    let id = prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "a word: acme");
    host.answer(id, json!({ "stopReason": "end_turn" }));
    let sent = host.sent();
    let kinds: Vec<_> = sent.iter().map(|sent| sent.what).collect();
    assert_eq!(
        kinds,
        [
            SentKind::Notification,
            SentKind::Notification,
            SentKind::Response
        ]
    );
    assert_eq!(sent[1].at("/update/content/text"), "acme");
    assert_eq!(sent[1].at("/update/messageId"), "1");
    assert_eq!(sent[1].at("/sessionId"), "s");
}

#[test]
fn the_beginning_of_withheld_text_is_sent_when_the_agent_pauses() {
    let mut host = host();
    prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "m", "It is acme-012");
    assert_eq!(streamed(&host.sent()), "It is ");
    host.elapse(Duration::from_secs(2));
    assert_eq!(streamed(&host.sent()), "acme-");
    host.elapse(Duration::from_mins(1));
    assert!(host.sent().is_empty());
    chunk(&mut host, "agent_message_chunk", "m", "3456789. Then ");
    assert_eq!(streamed(&host.sent()), format!("{HIDDEN}. Then "));
}

#[test]
fn withheld_text_stays_while_the_agent_continues() {
    let mut host = host();
    prompt(&mut host);
    for piece in ["It is acme", "-012", "345", "6789", ". "] {
        chunk(&mut host, "agent_message_chunk", "m", piece);
        host.elapse(Duration::from_millis(900));
    }
    assert_eq!(streamed(&host.sent()), format!("It is {HIDDEN}. "));
}

#[test]
fn withheld_text_is_sent_before_other_updates() {
    let other_things: &[fn(&mut Host)] = &[
        |host| chunk(host, "agent_thought_chunk", "1", "!"),
        |host| chunk(host, "agent_message_chunk", "2", "!"),
        |host| {
            update(
                host,
                json!({ "sessionUpdate": "tool_call", "toolCallId": "t" }),
            );
        },
        |host| {
            update(
                host,
                json!({ "sessionUpdate": "state_update", "state": "idle" }),
            );
        },
        |host| {
            let params = json!({ "sessionId": "s", "options": [] });
            host.request(Peer::Agent, "session/request_permission", params);
        },
        |host| {
            host.request(
                Peer::Agent,
                "elicitation/create",
                json!({ "sessionId": "s" }),
            );
        },
    ];
    for other in other_things {
        let mut host = host();
        prompt(&mut host);
        chunk(&mut host, "agent_message_chunk", "1", "acme");
        other(&mut host);
        let sent = host.sent();
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[0].at("/update/content/text"), "acme");
    }
}

#[test]
fn in_version_2_a_prompt_that_arrives_in_a_turn_does_not_cut_a_secret_in_two() {
    // An agent that leaves out the id does not cut a secret either.
    for answer in [json!({ "messageId": "2" }), json!({})] {
        let mut host = host();
        chunk(&mut host, "agent_message_chunk", "1", "acme-01234");
        let id = prompt(&mut host);
        host.answer(id, answer);
        chunk(&mut host, "agent_message_chunk", "1", "56789");
        let idle =
            json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" });
        update(&mut host, idle);
        assert_eq!(streamed(&host.sent()), HIDDEN);
    }
}

#[test]
fn the_output_of_terminals_in_version_2_loses_its_secrets_however_it_is_cut() {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    let text = format!("ä {SECRET} \u{1f600}\n").into_bytes();
    let bytes = |sent: &SentMessage, place: &str| {
        let data: String = sent.get(place).expect("data");
        BASE64_STANDARD.decode(data).expect("Base64")
    };
    let expected = format!("ä {HIDDEN} \u{1f600}\n").into_bytes();
    for size in 1..text.len() {
        let mut host = host();
        for piece in text.chunks(size) {
            let data = BASE64_STANDARD.encode(piece);
            let chunk = json!({
                "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data,
            });
            update(&mut host, chunk);
        }
        update(
            &mut host,
            json!({ "sessionUpdate": "state_update", "state": "idle" }),
        );
        let sent = host.sent();
        let (_, chunks) = sent.split_last().expect("the state");
        let shown: Vec<u8> = chunks
            .iter()
            .flat_map(|sent| bytes(sent, "/update/data"))
            .collect();
        assert_eq!(shown, expected, "{size}");
    }
    let mut host = host();
    let output = json!({ "data": BASE64_STANDARD.encode(&text) });
    let whole = json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "output": output });
    update(&mut host, whole);
    assert_eq!(bytes(&host.sent()[0], "/update/output/data"), expected);
    // Data without secrets stays as it is, if all decode it to the same.
    for (data, shown) in [("IQ==", "IQ=="), ("IQ", "IQ=="), ("%", "")] {
        let chunk =
            json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data });
        update(&mut host, chunk);
        assert_eq!(host.sent()[0].at("/update/data"), shown);
    }
}

#[test]
fn the_output_of_terminals_loses_its_secrets_in_every_spelling_that_decodes() {
    use base64::Engine;
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};

    let bytes = format!("??>>{SECRET}").into_bytes();
    let usual = BASE64_STANDARD.encode(&bytes);
    let lines = usual.as_bytes().chunks(5).map(String::from_utf8_lossy);
    for data in [
        BASE64_URL_SAFE_NO_PAD.encode(&bytes),
        lines.collect::<Vec<_>>().join("\n*"),
        format!("data:text/plain;base64,{usual}"),
        format!("YQ=={usual}"),
        format!("{usual}="),
        format!("\u{feff}{usual}!"),
        usual.trim_end_matches('=').to_owned() + "A",
    ] {
        for shown in [
            json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data }),
            json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "output": { "data": data } }),
        ] {
            let mut host = host();
            update(&mut host, shown);
            update(
                &mut host,
                json!({ "sessionUpdate": "state_update", "state": "idle" }),
            );
            let sent = host.sent();
            let shown = sent.iter().filter_map(|sent| {
                let data: Option<String> = sent.get("/update/data");
                data.or_else(|| sent.get("/update/output/data"))
            });
            let text: Vec<u8> = shown
                .flat_map(|data| BASE64_STANDARD.decode(data).expect("Base64"))
                .collect();
            let text = String::from_utf8_lossy(&text);
            assert!(
                !text.contains(SECRET) && text.contains(HIDDEN),
                "{data}: {text}"
            );
        }
    }
}

/// Agents send chunks after the answer, or of background tasks.
#[test]
fn a_late_chunk_is_shown_at_once_and_whole() {
    let mut host = host();
    let late = |host: &mut Host, text: &str| {
        chunk(host, "agent_message_chunk", "1", text);
        streamed(&host.sent())
    };
    let id = host.request(
        Peer::Client,
        "session/new",
        json!({ "cwd": "/", "mcpServers": [] }),
    );
    host.answer(id, json!({ "sessionId": "s" }));
    host.sent();
    assert_eq!(late(&mut host, "welcome to acme"), "welcome to acme");
    let id = prompt(&mut host);
    assert_eq!(late(&mut host, "all is acme"), "all is ");
    host.answer(id, json!({ "stopReason": "end_turn" }));
    assert_eq!(streamed(&host.sent()), "acme");
    assert_eq!(late(&mut host, "done, acme"), "done, acme");
    assert_eq!(late(&mut host, SECRET), HIDDEN);
    // In version 2, until the agent is idle.
    let id = prompt(&mut host);
    host.answer(id, json!({ "messageId": "m" }));
    host.sent();
    assert_eq!(late(&mut host, "more acme"), "more ");
    update(
        &mut host,
        json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" }),
    );
    assert_eq!(streamed(&host.sent()), "acme");
    assert_eq!(late(&mut host, "and acme"), "and acme");
    // Histories come in pieces.
    let id = host.request(
        Peer::Client,
        "session/load",
        json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] }),
    );
    host.sent();
    assert_eq!(late(&mut host, "acme-01234"), "");
    assert_eq!(late(&mut host, "56789"), "");
    host.answer(id, json!({}));
    assert_eq!(streamed(&host.sent()), HIDDEN);
}

#[test]
fn what_is_withheld_is_shown_before_the_answer_that_ends_a_session() {
    for method in ["session/close", "session/archive"] {
        let mut host = host();
        prompt(&mut host);
        chunk(&mut host, "agent_message_chunk", "1", "it is acme");
        assert_eq!(streamed(&host.sent()), "it is ");
        let id = host.request(Peer::Client, method, json!({ "sessionId": "s" }));
        host.sent();
        host.answer(id, json!({}));
        let sent = host.sent();
        assert_eq!(streamed(&sent), "acme", "{method}");
        assert_eq!(sent.last().expect("the answer").what, SentKind::Response);
    }
}

/// Other proxies search them for their own additions.
#[test]
fn the_users_own_words_keep_their_chunks() {
    let mut host = host();
    let load = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    host.request(Peer::Client, "session/load", load);
    host.sent();
    for text in ["it is acme", "-", "and acme-0"] {
        chunk(&mut host, "user_message_chunk", "1", text);
        assert_eq!(streamed(&host.sent()), text);
    }
    chunk(
        &mut host,
        "user_message_chunk",
        "2",
        &format!("it is {SECRET} or acme"),
    );
    assert_eq!(streamed(&host.sent()), format!("it is {HIDDEN} or acme"));
}

#[test]
fn a_chunk_that_is_withheld_entirely_is_not_sent_empty() {
    let mut host = host();
    prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "acme");
    assert!(host.sent().is_empty());
    chunk(&mut host, "agent_message_chunk", "1", " is it! ");
    assert_eq!(streamed(&host.sent()), "acme is it! ");
    // One that the agent sends empty stays.
    chunk(&mut host, "agent_message_chunk", "2", "");
    assert_eq!(host.sent().len(), 1);
}

#[test]
fn the_history_of_a_fork_is_shown_whole_before_its_answer() {
    let mut host = host();
    let fork = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    let id = host.request(Peer::Client, "session/fork", fork);
    host.sent();
    let text = json!({ "type": "text", "text": "it is acme" });
    let replayed =
        json!({ "sessionUpdate": "agent_message_chunk", "messageId": "1", "content": text });
    host.notify(
        Peer::Agent,
        "session/update",
        json!({ "sessionId": "t", "update": replayed }),
    );
    host.answer(id, json!({ "sessionId": "t" }));
    let sent = host.sent();
    assert_eq!(streamed(&sent), "it is acme");
    assert_eq!(sent.last().expect("the answer").what, SentKind::Response);
}

#[test]
fn the_update_forms_of_version_2_lose_their_secrets() {
    let text = json!({ "type": "text", "text": SECRET });
    let items = json!({ "type": "items", "planId": "p", "entries": [{ "content": SECRET }] });
    for (shown, place) in [
        (
            json!({ "sessionUpdate": "agent_message", "content": [text] }),
            "/content/0/text",
        ),
        (
            json!({ "sessionUpdate": "user_message", "content": [text] }),
            "/content/0/text",
        ),
        (
            json!({ "sessionUpdate": "plan_update", "plan": items }),
            "/plan/entries/0/content",
        ),
        (
            json!({ "sessionUpdate": "notice", "title": SECRET }),
            "/title",
        ),
        (
            json!({ "sessionUpdate": "prompt_suggestions_update", "suggestions": [{ "prompt": [text] }] }),
            "/suggestions/0/prompt/0/text",
        ),
        (
            json!({ "sessionUpdate": "terminal_update", "command": SECRET }),
            "/command",
        ),
        (
            json!({
                "sessionUpdate": "state_update", "state": "idle", "stopReason": "error",
                "error": { "code": -32603, "message": SECRET, "data": { "why": SECRET } },
            }),
            "/error/message",
        ),
        (
            json!({
                "sessionUpdate": "state_update", "state": "idle", "stopReason": "error",
                "error": { "code": -32603, "message": "x", "data": { "why": SECRET } },
            }),
            "/error/data/why",
        ),
        (
            json!({
                "sessionUpdate": "subagent_update", "sessionId": "child",
                "state": { "error": { "code": -32603, "message": "x", "data": [SECRET] } },
            }),
            "/state/error/data/0",
        ),
    ] {
        let mut host = host();
        update(&mut host, shown.clone());
        let sent = host.sent().remove(0);
        assert_eq!(sent.at(&format!("/update{place}")), HIDDEN, "{shown}");
    }
    let mut host = host();
    let subject = json!({ "type": "command", "command": SECRET, "cwd": "/p" });
    let params = json!({ "sessionId": "s", "title": SECRET, "subject": subject, "options": [] });
    host.request(Peer::Agent, "session/request_permission", params);
    let sent = host.sent().remove(0);
    assert_eq!(
        (sent.at("/title"), sent.at("/subject/command")),
        (HIDDEN.into(), HIDDEN.into())
    );
}

#[test]
fn updates_outside_of_the_conversation_do_not_cut_a_secret_in_two() {
    let mut host = host();
    prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "acme-01234");
    update(
        &mut host,
        json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }),
    );
    chunk(&mut host, "agent_message_chunk", "1", "56789");
    chunk(&mut host, "agent_message_chunk", "1", " is it!");
    assert_eq!(streamed(&host.sent()), format!("{HIDDEN} is it!"));
}

#[test]
fn sessions_do_not_mix() {
    let mut host = host();
    for (session, text) in [
        ("a", "acme-01"),
        ("b", "acme-98"),
        ("a", "23456789 !"),
        ("b", "76543210 !"),
    ] {
        let content = json!({ "type": "text", "text": text });
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        host.notify(
            Peer::Agent,
            "session/update",
            json!({ "sessionId": session, "update": update }),
        );
    }
    let (a, b): (Vec<_>, Vec<_>) = host
        .sent()
        .into_iter()
        .partition(|sent| sent.at("/sessionId") == "a");
    assert_eq!(
        (streamed(&a), streamed(&b)),
        (format!("{HIDDEN} !"), format!("{HIDDEN} !"))
    );
}

#[test]
fn the_text_of_a_subagent_ends_with_the_update_that_it_has_ended() {
    let mut host = host();
    let content = json!({ "type": "text", "text": "acme" });
    let chunk = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    host.notify(
        Peer::Agent,
        "session/update",
        json!({ "sessionId": "child", "update": chunk }),
    );
    update(
        &mut host,
        json!({ "sessionUpdate": "subagent_update", "sessionId": "child" }),
    );
    assert_eq!(streamed(&host.sent()), "acme");
}

#[test]
fn tool_calls_lose_their_secrets_and_keep_their_ids() {
    let mut host = host();
    update(
        &mut host,
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": SECRET,
            "content": [{ "type": "content", "content": { "type": "text", "text": SECRET } }],
            "rawInput": { "command": ["echo", SECRET] }, "rawOutput": SECRET,
        }),
    );
    let sent = host.sent().remove(0);
    assert_eq!(sent.at("/update/toolCallId"), SECRET);
    assert_eq!(sent.at("/update/content/0/content/text"), HIDDEN);
    assert_eq!(sent.at("/update/rawInput/command/1"), HIDDEN);
    assert_eq!(sent.at("/update/rawOutput"), HIDDEN);
}

#[test]
fn a_message_without_secrets_goes_on_unchanged() {
    let mut host = host();
    let params = r#"{"update":{"content":{"text":"\u0041b!","type":"text"},"sessionUpdate":"agent_message_chunk","x":1e400},"sessionId":"s"}"#;
    let params: acp_chain_proxy::Json = params.parse().expect("JSON");
    host.notify(Peer::Agent, "session/update", &params);
    assert_eq!(host.sent()[0].body, Ok(params));
}

fn read(host: &mut Host) {
    let params = json!({ "sessionId": "s", "path": "/p/.env" });
    let id = host.request(Peer::Agent, "fs/read_text_file", params);
    host.answer(id, json!({ "content": format!("KEY={SECRET}\n") }));
}

fn write(host: &mut Host, content: &str) -> SentMessage {
    let params = json!({ "sessionId": "s", "path": "/p/.env", "content": content });
    host.request(Peer::Agent, "fs/write_text_file", params);
    host.sent().pop().expect("the request or its answer")
}

#[test]
fn files_and_output_that_the_agent_reads_lose_their_secrets_unless_switched_off() {
    for (reads, expected) in [(true, MARKER), (false, SECRET)] {
        let mut host = host_with(json!({ "reads": reads }));
        read(&mut host);
        assert_eq!(host.sent()[1].at("/content"), format!("KEY={expected}\n"));
        let id = host.request(Peer::Agent, "terminal/output", json!({ "sessionId": "s" }));
        host.answer(id, json!({ "output": SECRET, "truncated": false }));
        assert_eq!(host.sent()[1].at("/output"), expected);
    }
}

#[test]
fn a_permission_request_loses_the_secrets_that_it_shows() {
    let mut host = host();
    let call = json!({ "toolCallId": "t", "title": format!("curl -H {SECRET}") });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": [] });
    host.request(Peer::Agent, "session/request_permission", params);
    let title = host.sent()[0].at("/toolCall/title");
    assert_eq!(title, format!("curl -H {HIDDEN}"));
}

#[test]
fn a_question_loses_the_secrets_that_it_shows_and_none_that_its_answer_needs() {
    let mut host = host();
    let field =
        json!({ "type": "string", "title": SECRET, "description": SECRET, "enum": [SECRET] });
    let schema = json!({ "type": "object", "properties": { "path": field } });
    let params = json!({
        "sessionId": "s", "mode": "form", "message": SECRET, "requestedSchema": schema,
    });
    host.request(Peer::Agent, "elicitation/create", params);
    let sent = host.sent().remove(0);
    let field = "/requestedSchema/properties/path";
    for (place, expected) in [
        ("/message".to_owned(), HIDDEN),
        (format!("{field}/title"), HIDDEN),
        (format!("{field}/description"), HIDDEN),
        (format!("{field}/enum/0"), SECRET),
    ] {
        assert_eq!(sent.at(&place), expected, "{place}");
    }
}

#[test]
fn a_secret_that_no_power_covers_is_refused_and_its_place_is_named() {
    let option = json!({ "optionId": "1", "kind": "allow_once", "name": SECRET });
    let permission = json!({ "sessionId": "s", "toolCall": {}, "options": [option] });
    let prompt = json!({ "sessionId": "s", "prompt": [], "_meta": { "key": SECRET } });
    for (sender, method, params, place) in [
        (
            Peer::Agent,
            "session/request_permission",
            permission,
            "/options/0/name",
        ),
        (Peer::Client, "session/prompt", prompt, "/_meta/key"),
    ] {
        let mut host = host();
        host.request(sender, method, params);
        let sent = host.sent().remove(0);
        let Err(Error { message, .. }) = sent.body else {
            panic!("an error")
        };
        assert!(message.contains(place), "{message}");
    }
}

#[test]
fn a_secret_is_restored_in_the_file_that_it_was_read_from() {
    let mut host = host();
    let before = write(&mut host, MARKER);
    assert_eq!(before.what, SentKind::Request, "the agent's own words");
    read(&mut host);
    let written = write(&mut host, &format!("KEY={MARKER}\nMORE=1\n"));
    assert_eq!(written.to, Peer::Client);
    assert_eq!(written.at("/content"), format!("KEY={SECRET}\nMORE=1\n"));
    assert_eq!(write(&mut host, "MORE=1\n").to, Peer::Client);
}

#[test]
fn a_write_that_would_destroy_a_secret_is_refused_and_the_user_is_notified() {
    let mut host = host();
    read(&mut host);
    host.sent();
    let params = json!({ "sessionId": "s", "path": "/p/other", "content": MARKER });
    host.request(Peer::Agent, "fs/write_text_file", params);
    let sent = host.sent();
    let notice: String = sent[0].get("/update/content/text").expect("a message");
    assert!(
        notice.contains(r#"the agent's change of "/p/other" was not written: in line 1"#),
        "{notice}"
    );
    assert_eq!(sent[1].to, Peer::Agent);
    let Err(Error { message, .. }) = &sent[1].body else {
        panic!("an error")
    };
    assert!(message.contains(MARKER), "{message}");
    // A new instance has no secrets, only markers.
    host.restart().expect("restores the saved state");
    let refused = write(&mut host, &format!("KEY={MARKER}\n"));
    assert_eq!(refused.to, Peer::Agent);
    read(&mut host);
    host.sent();
    let written = write(&mut host, &format!("KEY={MARKER}\n"));
    assert_eq!(written.at("/content"), format!("KEY={SECRET}\n"));
}

#[test]
fn a_write_that_is_no_text_destroys_no_secret() {
    let mut host = host();
    read(&mut host);
    host.sent();
    let mut half = |text: &str| {
        let params = format!(r#"{{"sessionId":"s","path":"/p/.env","content":"{text} \ud83d"}}"#);
        let params: acp_chain_proxy::Json = params.parse().expect("JSON");
        host.request(Peer::Agent, "fs/write_text_file", &params);
        host.sent().pop().expect("the request or its answer")
    };
    assert_eq!(half("A=1").to, Peer::Client);
    let Err(Error { message, .. }) = half(MARKER).body else {
        panic!("an error")
    };
    assert!(message.contains("half of a surrogate pair"), "{message}");
}

#[test]
fn secrets_quoted_in_an_error_are_redacted() {
    let mut host = host();
    let id = prompt(&mut host);
    let mut error = Error::new(-32000, format!("refused: {SECRET}"));
    error.data = Some(json!({ "path": [SECRET], "n": 1e300 }).into());
    host.fail(id, error);
    let Err(error) = host.sent().remove(0).body else {
        panic!("an error")
    };
    assert_eq!(error.message, format!("refused: {HIDDEN}"));
    let data = error.data.expect("data");
    assert_eq!(data.at::<String>("/path/0").as_deref(), Some(HIDDEN));
}

#[test]
fn the_stored_amount_of_many_sessions_is_bounded_and_none_starves_another() {
    let mut host = host();
    let say = |host: &mut Host, session: &str, text: &str| {
        let content = json!({ "type": "text", "text": text });
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        let params = json!({ "sessionId": session, "update": update });
        host.notify(Peer::Agent, "session/update", params);
    };
    say(&mut host, "small", "it is acme-01234");
    let half = format!("-----BEGIN PRIVATE KEY-----\n{}", "MIIE0123".repeat(700));
    for session in 0..200 {
        say(&mut host, &format!("large-{session}"), &half);
    }
    assert!(host.saved().expect("a state").to_string().len() < 512 * 1024);
    say(&mut host, "small", "56789!!");
    let (small, large): (Vec<_>, Vec<_>) = host
        .sent()
        .into_iter()
        .partition(|sent| sent.at("/sessionId") == "small");
    assert_eq!(streamed(&small), format!("it is {HIDDEN}!!"));
    let shown = streamed(&large);
    assert!(shown.contains("[hidden here, the agent has it: unclear]") && !shown.contains("MIIE"));
}

#[test]
fn of_two_texts_in_a_chunk_none_hides_a_secret() {
    // The host rejects such a message before a guard; the proxy does not rely on that.
    let config = json!({ "patterns": [{ "name": "acme", "regex": "acme-[0-9]{10}" }] });
    let mut host = Host::start::<Redact>(config).expect("the configuration is right");
    let params = format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{SECRET}","text":"{SECRET}!!"}}}}}}"#
    );
    let params: acp_chain_proxy::Json = params.parse().expect("JSON");
    host.notify(Peer::Agent, "session/update", &params);
    let sent = host.sent().remove(0).body.expect("parameters").to_string();
    assert!(
        !sent.contains(SECRET) && sent.matches(HIDDEN).count() == 2,
        "{sent}"
    );
}

#[test]
fn what_is_wrong_with_the_configuration_is_named() {
    for (config, expected) in [
        (json!({ "pattern": [] }), "unknown field `pattern`"),
        (
            json!({ "without": ["github-token"] }),
            "`without` names the unknown rule `github-token`; did you mean `github-",
        ),
        (
            json!({ "patterns": [{ "name": "a", "regex": "(" }] }),
            "the regex of the pattern `a` is invalid: unclosed group",
        ),
        (
            json!({ "patterns": [{ "name": "a", "regex": "a*" }] }),
            "matches the empty text",
        ),
        (
            json!({ "patterns": [{ "name": "[", "regex": "x" }] }),
            "cannot have the name `[`",
        ),
    ] {
        let error = Host::start::<Redact>(config).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn default_patterns_can_be_disabled() {
    let key = format!("AKIA{}", "QWERT2YUIOPASD3F");
    let text = |mut host: Host| {
        let text = json!({ "type": "text", "text": key });
        host.request(
            Peer::Client,
            "session/prompt",
            json!({ "sessionId": "s", "prompt": [text] }),
        );
        host.sent()[0].at("/prompt/0/text")
    };
    assert_eq!(text(host()), "[redacted: aws-access-token]");
    assert_eq!(
        text(host_with(json!({ "without": ["aws-access-token"] }))),
        key
    );
}

/// The match depends on the character before it, and so on earlier chunks.
const REGEX: &str = r"(?-u:\b)a[cm]+e";

proptest! {
    #[test]
    fn a_turn_loses_no_text_and_no_secret_however_often_the_proxy_starts_again(
        chunks in proptest::collection::vec(
            ("[ace0m-]{0,3}", any::<bool>(), 0..4_u8, 0..8_u8), 1..60),
    ) {
        let mut host = host_with(json!({ "patterns": [{ "name": "acme", "regex": REGEX }] }));
        let id = prompt(&mut host);
        let mut texts: Vec<(String, String)> = Vec::new();
        for (text, thought, message, restart) in chunks {
            if restart == 0 {
                host.restart().expect("restores the saved state");
            }
            let kind = if thought { "agent_thought_chunk" } else { "agent_message_chunk" };
            let message = if message == 0 { "other" } else { "one" };
            chunk(&mut host, kind, message, &text);
            let key = format!("{kind}/{message}");
            match texts.last_mut() {
                Some((last, whole)) if *last == key => whole.push_str(&text),
                _ => texts.push((key, text)),
            }
        }
        host.answer(id, json!({ "stopReason": "end_turn" }));
        let detector = Detector::new([pattern("acme", REGEX).expect("right")]).expect("right");
        let whole = |text: &String| {
            let redacted = detector.marking(Marker::Hidden).redact(text, &mut Effort::default()).expect("in memory");
            redacted.map_or_else(|| text.clone(), |redacted| redacted.text)
        };
        let expected: String = texts.iter().map(|(_, text)| whole(text)).collect();
        let sent = host.sent();
        prop_assert_eq!(streamed(&sent), expected);
        prop_assert_eq!(sent.last().expect("the answer").what, SentKind::Response);
    }
}
