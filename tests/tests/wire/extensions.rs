//! Our extensions as the components that users get, in a chain, on exact lines. All their cases are tested
//! beside their code.

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{EXTENSIONS, InProcess};

/// A chain after an `initialize` in which the client advertises that it reads files.
async fn chain(proxies: &[(&str, &str)]) -> InProcess {
    let mut chain = InProcess::start(proxies).await;
    let params = r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}"#;
    let id = chain.client.ask("initialize", params);
    answer(&mut chain, r#"{"protocolVersion":1}"#).await;
    chain.client.response(&id).await;
    let id = chain
        .client
        .ask("session/new", r#"{"cwd":"/project","mcpServers":[]}"#);
    answer(&mut chain, r#"{"sessionId":"s"}"#).await;
    chain.client.response(&id).await;
    chain
}

/// The agent answers the next request.
async fn answer(chain: &mut InProcess, result: &str) -> Message {
    let request = chain.agent.receive().await.expect("a request");
    for line in request.result(result) {
        chain.agent.send(line);
    }
    request
}

fn prompt(text: &str) -> String {
    format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{text}"}}]}}"#)
}

fn chunk(text: &str) -> String {
    format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}"#
    )
}

fn text(message: &Message) -> String {
    let params: serde_json::Value =
        serde_json::from_str(message.params.as_ref().expect("params")).expect("JSON");
    let text = params
        .pointer("/update/content/text")
        .and_then(serde_json::Value::as_str);
    text.expect("a text").to_owned()
}

#[tokio::test]
async fn a_secret_that_is_split_over_chunks_never_reaches_the_client() {
    let mut chain = chain(&[("pass", "{}"), ("redact", "{}")]).await;
    let id = chain.client.ask("session/prompt", &prompt("tell me"));
    let request = chain.agent.receive().await.expect("the prompt");
    for part in [
        "your key is AKIA",
        "IOSFODNN",
        "7EXAMPLQ, and that is al",
        "l. AKI",
    ] {
        chain.agent.notify("session/update", &chunk(part));
    }
    for line in request.result(r#"{"stopReason":"end_turn"}"#) {
        chain.agent.send(line);
    }
    let mut told = String::new();
    let stop = loop {
        let message = chain.client.receive().await.expect("a message");
        if message.answers(&id) {
            break message;
        }
        told.push_str(&text(&message));
    };
    // All of the text arrives before the response, including the text that only began like a secret.
    assert_eq!(
        told,
        "your key is [hidden here, the agent has it: aws-access-token], and that is all. AKI"
    );
    assert_eq!(stop.result.as_deref(), Some(r#"{"stopReason":"end_turn"}"#));
}

#[tokio::test]
async fn a_secret_in_a_prompt_never_reaches_the_agent_and_the_rest_keeps_its_spelling() {
    let mut chain = chain(&[("redact", "{}")]).await;
    chain.client.ask(
        "session/prompt",
        r#"{"x":1e400,"sessionId":"s","prompt":[{"type":"text","text":"AKIAIOSFODNN7EXAMPLQ"}],"_meta":{"y":-0.0}}"#,
    );
    let came = chain.agent.receive().await.expect("the prompt");
    assert_eq!(
        came.params.as_deref(),
        Some(
            r#"{"x":1e400,"sessionId":"s","prompt":[{"type":"text","text":"[redacted: aws-access-token]"}],"_meta":{"y":-0.0}}"#
        )
    );
}

#[tokio::test]
async fn a_file_with_a_secret_is_edited_through_the_editor_and_keeps_it() {
    let mut chain = chain(&[("redact", "{}")]).await;
    let id = chain.agent.ask(
        "fs/read_text_file",
        r#"{"sessionId":"s","path":"/project/.env"}"#,
    );
    let read = chain.client.receive().await.expect("the request");
    for line in read.result(r#"{"content":"KEY=AKIAIOSFODNN7EXAMPLQ\nMODE=a\n"}"#) {
        chain.client.send(line);
    }
    let seen = chain.agent.response(&id).await.result.expect("a result");
    assert!(!seen.contains("AKIA"), "{seen}");
    let seen: serde_json::Value = serde_json::from_str(&seen).expect("JSON");
    let text = seen["content"].as_str().expect("a text");
    let content = text.replace("MODE=a", "MODE=b");
    let write = |path: &str| {
        serde_json::json!({ "sessionId": "s", "path": path, "content": content }).to_string()
    };
    let refused = chain
        .agent
        .ask("fs/write_text_file", &write("/project/.env.copy"));
    let refused = chain
        .agent
        .response(&refused)
        .await
        .error
        .expect("an error");
    assert!(refused.contains("stands for a secret"), "{refused}");
    let told = text_of(&mut chain).await;
    assert!(told.contains("/project/.env.copy"), "{told}");
    chain
        .agent
        .ask("fs/write_text_file", &write("/project/.env"));
    let written = chain.client.receive().await.expect("the request");
    assert!(
        written
            .params
            .expect("params")
            .contains(r#""KEY=AKIAIOSFODNN7EXAMPLQ\nMODE=b\n""#)
    );
}

#[tokio::test]
async fn a_prompt_over_the_limit_of_bodies_passes_all_of_them_and_is_looked_at() {
    // Nothing is stored here, and so `two-of-three` would let no prompt pass.
    let others = EXTENSIONS.iter().filter(|name| **name != "two-of-three");
    let proxies: Vec<_> = others.map(|name| (*name, "{}")).collect();
    let mut chain = chain(&proxies).await;
    // The text can be changed up to one size, and read up to another.
    for (size, secret, expected) in [
        (
            23 << 20,
            "AKIAIOSFODNN7EXAMPLQ",
            "[redacted: aws-access-token]",
        ),
        (39 << 20, "nothing", "nothing"),
    ] {
        let params = |text: &str| {
            let image = "A".repeat(size);
            format!(
                r#"{{"sessionId":"s","prompt":[{{"type":"image","mimeType":"image/png","data":"{image}"}},{{"type":"text","text":"{text}"}}]}}"#
            )
        };
        chain.client.ask("session/prompt", &params(secret));
        let came = tokio::select! {
            came = chain.agent.receive() => came.expect("the prompt"),
            told = chain.client.receive() => panic!("refused: {told:?}"),
        };
        let expected = params(expected);
        assert!(came.params.as_deref() == Some(&*expected), "not as it was");
    }
}

/// The text of the next message to the client.
async fn text_of(chain: &mut InProcess) -> String {
    text(&chain.client.receive().await.expect("a message"))
}

/// The texts that the client receives while the agent replays the user's words in these chunks.
async fn replayed(chain: &mut InProcess, chunks: &[&str]) -> Vec<String> {
    let load = r#"{"sessionId":"s","cwd":"/project","mcpServers":[]}"#;
    let id = chain.client.ask("session/load", load);
    let load = chain.agent.receive().await.expect("the request");
    for chunk in chunks {
        let content = serde_json::json!({ "type": "text", "text": chunk });
        let update = serde_json::json!({
            "sessionId": "s",
            "update": { "sessionUpdate": "user_message_chunk", "content": content },
        });
        chain.agent.notify("session/update", &update.to_string());
    }
    for line in load.result("{}") {
        chain.agent.send(line);
    }
    let mut told = Vec::new();
    loop {
        let message = chain.client.receive().await.expect("a message");
        if message.answers(&id) {
            return told;
        }
        if message.method.as_deref() == Some("session/update") {
            told.push(text(&message));
        }
    }
}

#[tokio::test]
async fn rules_come_behind_the_words_of_the_first_prompt_and_do_not_come_back_as_the_users() {
    let mut chain = chain(&[("rules", "{}"), ("pass", "{}")]).await;
    chain.client.ask("session/prompt", &prompt("one"));
    let read = chain.client.receive().await.expect("a request");
    assert_eq!(read.method.as_deref(), Some("fs/read_text_file"));
    let params = read.params.clone().expect("params");
    assert!(params.contains(r#""/project/AGENTS.md""#), "{params}");
    for line in read.result(r#"{"content":"Be kind."}"#) {
        chain.client.send(line);
    }
    let first = answer(&mut chain, r#"{"stopReason":"end_turn"}"#)
        .await
        .params
        .expect("params");
    let first: serde_json::Value = serde_json::from_str(&first).expect("JSON");
    let added = &first["prompt"][1];
    assert_eq!(first["prompt"][0]["text"], "one");
    assert_eq!(added["annotations"]["audience"][0], "assistant");
    let added = added["text"].as_str().expect("a text");
    assert!(added.contains("Be kind."), "{added}");
    chain.client.ask("session/prompt", &prompt("two"));
    let second = answer(&mut chain, r#"{"stopReason":"end_turn"}"#).await;
    assert_eq!(second.params.as_deref(), Some(&*prompt("two")));

    // The agent joins its blocks, and cuts them in other places.
    let whole = format!("one{added}");
    let told = replayed(&mut chain, &[&whole[..20], &whole[20..60], &whole[60..]]).await;
    let told = told.concat();
    assert_eq!(told.trim_end(), "one");
}

/// The guard is behind `rules`, and the parts into which it splits a chunk stay apart.
#[tokio::test]
async fn the_rules_are_found_in_a_replay_that_a_guard_has_looked_through() {
    let mut chain = chain(&[("rules", "{}"), ("redact", "{}")]).await;
    chain.client.ask("session/prompt", &prompt("one"));
    let read = chain.client.receive().await.expect("the question");
    for line in read.result(r#"{"content":"Be kind."}"#) {
        chain.client.send(line);
    }
    let first = answer(&mut chain, r#"{"stopReason":"end_turn"}"#).await;
    let first: serde_json::Value =
        serde_json::from_str(&first.params.expect("params")).expect("JSON");
    let added = first["prompt"][1]["text"]
        .as_str()
        .expect("the rules")
        .to_owned();
    let told = replayed(&mut chain, &["one", &added, &format!("two{added}")]).await;
    assert_eq!(told, ["one", "two"]);
}

#[tokio::test]
async fn a_permission_is_answered_by_rule_where_the_user_sees_it_or_by_the_user() {
    let config = r#"{"rules":[{"decision":"allow","kind":"read","path":"/project/**"}]}"#;
    let mut chain = chain(&[("permissions", config)]).await;
    let ask = |path: &str| {
        format!(
            r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c","kind":"read","title":"Read","locations":[{{"path":"{path}"}}]}},"options":[{{"optionId":"yes","name":"Yes","kind":"allow_once"}},{{"optionId":"no","name":"No","kind":"reject_once"}}]}}"#
        )
    };
    let id = chain
        .agent
        .ask("session/request_permission", &ask("/project/src/lib.rs"));
    let allowed = chain.agent.response(&id).await;
    let allowed: serde_json::Value =
        serde_json::from_str(&allowed.result.expect("a result")).expect("JSON");
    assert_eq!(allowed["outcome"]["optionId"], "yes");
    let mark = &allowed["_meta"]["acp-chain/permissions-0"];
    assert_eq!(mark["rule"], 1, "{allowed}");
    let shown = chain.client.receive().await.expect("the call is shown");
    let shown: serde_json::Value =
        serde_json::from_str(&shown.params.expect("params")).expect("JSON");
    let update = &shown["update"];
    assert_eq!(update["sessionUpdate"], "tool_call");
    assert_eq!(update["toolCallId"], "c");
    let words = update["content"][0]["content"]["text"].as_str();
    assert_eq!(
        words,
        Some("Allowed by rule 1 of the proxy `permissions-0`, without asking you.")
    );
    chain
        .agent
        .ask("session/request_permission", &ask("/project/../etc/passwd"));
    let asked = chain.client.receive().await.expect("the permission");
    assert_eq!(asked.method.as_deref(), Some("session/request_permission"));
}

/// After `session/cancel` the client owes `cancelled` to each permission request of the turn (protocol v1, Prompt
/// Turn).
#[tokio::test]
async fn a_permission_that_is_asked_for_after_the_stop_is_cancelled_whatever_the_rules_say() {
    let ask = r#"{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"read","title":"Read","locations":[{"path":"/project/a"}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}"#;
    let cancelled = r#"{"outcome":{"outcome":"cancelled"}}"#;
    for decision in ["allow", "deny", "ask", "none"] {
        let config = format!(
            r#"{{"rules":[{{"decision":"{decision}","kind":"read","path":"/project/**"}}]}}"#
        );
        let guard = [("permissions", config.as_str())];
        // Without a guard, the client answers itself.
        let is_guarded = decision != "none";
        let mut chain = chain(if is_guarded { &guard[..] } else { &[] }).await;
        let turn = chain.client.ask("session/prompt", &prompt("read it"));
        let asked = chain.agent.receive().await.expect("the prompt");
        chain
            .client
            .notify("session/cancel", r#"{"sessionId":"s"}"#);
        let stop = chain.agent.receive().await.expect("the cancellation");
        assert_eq!(stop.method.as_deref(), Some("session/cancel"));
        let id = chain.agent.ask("session/request_permission", ask);
        if !is_guarded {
            let came = chain.client.receive().await.expect("the request");
            assert_eq!(came.params.as_deref(), Some(ask));
            chain.client.send_all(came.result(cancelled));
        }
        let answer = chain.agent.response(&id).await;
        assert_eq!(answer.result.as_deref(), Some(cancelled), "{decision}");
        let end = r#"{"stopReason":"cancelled"}"#;
        chain.agent.send_all(asked.result(end));
        // The client sees no call, no question and no notice, only the end of the turn.
        let came = chain.client.receive().await.expect("the end of the turn");
        assert!(came.answers(&turn), "{decision}: {}", came.line);
        assert_eq!(came.result.as_deref(), Some(end));
    }
}
