//! The rules are not shown as the user's own words.

use std::time::Duration;

use proptest::prelude::*;

use super::super::mark::uri;
use super::*;

/// A host in which the agent replays the session `s`, and the number of the request.
fn loading() -> (Host, MessageId) {
    let mut host = host(json!({}));
    let params = json!({ "sessionId": "s", "cwd": "/proj" });
    let id = host.request(Peer::Client, "session/load", params);
    host.sent();
    (host, id)
}

fn user(host: &mut Host, content: &Value) {
    say(host, "user_message_chunk", content);
}

fn say(host: &mut Host, kind: &str, content: &Value) {
    let update = json!({ "sessionUpdate": kind, "content": content });
    let params = json!({ "sessionId": "s", "update": update });
    host.notify(Peer::Agent, "session/update", params);
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// What the user is shown, without white-space chunks.
fn shown(host: &mut Host) -> Vec<String> {
    let sent = host.sent();
    let texts = sent
        .iter()
        .filter_map(|sent| sent.get::<String>("/update/content/text"));
    texts.filter(|text| !text.trim().is_empty()).collect()
}

#[test]
fn a_replay_has_the_users_words_alone() {
    let resource = json!({ "uri": uri(), "text": tabs().trim_start() });
    let resource = json!({ "type": "resource", "resource": resource });
    let link = json!({ "type": "resource_link", "uri": uri(), "name": "rules" });
    let context = format!("\n<context ref=\"{}\">\n{}\n</context>", uri(), tabs());
    for blocks in [
        vec![text("hi"), text(&tabs())],
        vec![text(&format!("hi{}", tabs()))],
        vec![text("hi"), resource],
        vec![text("hi"), link],
        vec![text("hi"), text(&uri()), text(&context)],
    ] {
        let (mut host, id) = loading();
        for block in &blocks {
            user(&mut host, block);
        }
        say(&mut host, "agent_message_chunk", &text("hello"));
        host.answer(id, json!({}));
        let sent = host.sent();
        let kept: Vec<_> = sent
            .iter()
            .filter_map(|sent| sent.get::<String>("/update/content/text"))
            .collect();
        let kept: Vec<_> = kept.iter().map(|text| text.trim_end()).collect();
        assert_eq!(kept, ["hi", "hello"], "{blocks:?}");
        assert_eq!(sent.len(), 3, "no chunk without text: {sent:?}");
    }
}

/// The history of a fork is that of another session.
#[test]
fn a_fork_has_the_users_words_alone() {
    let mut host = host(json!({}));
    let params = json!({ "sessionId": "s", "cwd": "/proj" });
    let id = host.request(Peer::Client, "session/fork", params);
    host.sent();
    let update =
        json!({ "sessionUpdate": "user_message_chunk", "content": text(&format!("hi{}", tabs())) });
    let params = json!({ "sessionId": "fork", "update": update });
    host.notify(Peer::Agent, "session/update", params);
    host.answer(id, json!({ "sessionId": "fork" }));
    assert_eq!(shown(&mut host), ["hi"]);
}

#[test]
fn text_that_is_not_the_addition_goes_on_unchanged() {
    let (mut host, id) = loading();
    for content in [
        text("[project rules 0123456789abcdef: a b]"),
        text("the end [project ru"),
        json!({ "type": "image", "data": "", "mimeType": "image/png" }),
        json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "a" } }),
        json!({ "type": "resource_link", "uri": "file:///a", "name": "a" }),
    ] {
        user(&mut host, &content);
        say(&mut host, "agent_thought_chunk", &text("so"));
        let sent = host.sent();
        assert_eq!(sent[0].at("/update/content"), content);
        assert_eq!(sent.len(), 2);
    }
    user(&mut host, &text("[pro"));
    host.answer(id, json!({}));
    assert_eq!(shown(&mut host), ["[pro"], "before the replay ends");
}

#[test]
fn chunks_of_two_messages_are_two_texts() {
    let (mut host, id) = loading();
    for (message, text) in [("1", "one [pro"), ("2", "ject two")] {
        let content = json!({ "type": "text", "text": text });
        let update = json!({
            "sessionUpdate": "user_message_chunk", "messageId": message, "content": content,
        });
        let params = json!({ "sessionId": "s", "update": update });
        host.notify(Peer::Agent, "session/update", params);
    }
    host.answer(id, json!({}));
    assert_eq!(shown(&mut host), ["one [pro", "ject two"]);
}

#[test]
fn messages_of_the_agent_are_not_examined() {
    let (mut host, _) = loading();
    say(&mut host, "agent_message_chunk", &text(&tabs()));
    assert_eq!(shown(&mut host), [tabs()]);
}

#[test]
fn a_message_of_version_2_has_the_users_words_alone() {
    let mut host = host(json!({}));
    let id = host.request(Peer::Client, "initialize", json!({}));
    host.answer(id, json!({ "protocolVersion": 2 }));
    host.sent();
    let resource = json!({ "uri": uri(), "text": tabs() });
    let content = [
        text("hi"),
        json!({ "type": "resource", "resource": resource }),
    ];
    for (content, expected) in [
        (&content[..], Some(["hi", ""])),
        (&content[1..], None),
        (&content[..1], Some(["hi", ""])),
    ] {
        let update =
            json!({ "sessionUpdate": "user_message", "messageId": "m", "content": content });
        let params = json!({ "sessionId": "s", "update": update });
        host.notify(Peer::Agent, "session/update", params);
        let sent = host.sent();
        let texts = sent.first().map(|sent| {
            let text = |place: &str| sent.get::<String>(place).unwrap_or_default();
            let added = text("/update/content/1/resource/text");
            [text("/update/content/0/text"), added.trim().to_owned()]
        });
        assert_eq!(texts, expected.map(|texts| texts.map(String::from)));
    }
}

#[test]
fn an_agent_that_shows_a_prompt_while_it_answers_shows_the_users_words_alone() {
    let mut host = host(json!({}));
    user(&mut host, &text(&format!("hi{}", tabs())));
    assert_eq!(shown(&mut host), ["hi"]);
}

proptest! {
    /// However the words and the rules are cut into chunks.
    #[test]
    fn no_word_is_lost_and_none_is_added(
        before in "[a-z \\[\n]{0,12}", behind in "[a-z \\[\n]{0,12}",
        typed in prop_oneof![
            Just(""), Just("[project rules 0123456789abcdef: x]"), Just("[project rules "),
        ],
        sizes in proptest::collection::vec(1..60_usize, 1..12),
    ) {
        let (mut host, id) = loading();
        let words = format!("{before}{typed}");
        let whole = format!("{words}{}{behind}", tabs().trim_start());
        let mut rest = &*whole;
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, more) = rest.split_at(rest.floor_char_boundary(*size).min(rest.len()));
            user(&mut host, &text(chunk));
            rest = more;
        }
        host.answer(id, json!({}));
        let notice: String = host
            .sent()
            .iter()
            .filter_map(|sent| sent.get::<String>("/update/content/text"))
            .collect();
        // White-space chunks around the rules are removed with them.
        let visible = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(visible(&notice), visible(&format!("{words}{behind}")));
    }
}

#[test]
fn a_chunk_that_may_begin_the_addition_waits_for_a_pause() {
    let (mut host, id) = loading();
    let begin = &tabs()[..12];
    user(&mut host, &text("hi"));
    user(&mut host, &text(begin));
    assert_eq!(shown(&mut host), ["hi"]);
    assert_eq!(host.held().len(), 1);
    host.elapse(Duration::from_secs(2));
    assert_eq!(shown(&mut host), [begin]);
    host.answer(id, json!({}));
    assert!(host.held().is_empty());
}
