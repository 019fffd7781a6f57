//! The state of a new instance, after the old one failed.

use super::*;

#[test]
fn a_secret_is_found_although_its_two_chunks_meet_different_instances() {
    let mut host = host();
    prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "it is acme-01234");
    host.restart().expect("restores the saved state");
    chunk(&mut host, "agent_message_chunk", "1", "56789, they say!");
    assert_eq!(streamed(&host.sent()), format!("it is {HIDDEN}, they say!"));
}

#[test]
fn text_withheld_by_one_instance_is_sent_by_another() {
    let mut host = host();
    let id = prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "a word: acme");
    host.restart().expect("restores the saved state");
    host.answer(id, json!({ "stopReason": "end_turn" }));
    let sent = host.sent();
    assert_eq!(streamed(&sent), "a word: acme");
    assert_eq!(sent.last().expect("the answer").what, SentKind::Response);
}

#[test]
fn a_new_instance_knows_which_markers_were_sent() {
    let mut host = host();
    read(&mut host);
    host.restart().expect("restores the saved state");
    assert!(write(&mut host, MARKER).body.is_err());
}

#[test]
fn nothing_is_saved_where_nothing_changed() {
    let mut host = host();
    read(&mut host);
    assert!(host.saved().is_some());
    read(&mut host);
    write(&mut host, HIDDEN);
    let id = prompt(&mut host);
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t" }),
    );
    host.answer(id, json!({ "stopReason": "end_turn" }));
    assert_eq!(host.saved(), None);
}

#[test]
fn a_new_instance_knows_the_character_before_a_text() {
    let word = json!({ "name": "acme", "regex": r"(?-u:\b)acme-[0-9]{10}" });
    let mut host = host_with(json!({ "patterns": [word] }));
    prompt(&mut host);
    chunk(&mut host, "agent_message_chunk", "1", "not");
    host.restart().expect("restores the saved state");
    chunk(
        &mut host,
        "agent_message_chunk",
        "1",
        "acme-0123456789, is it.",
    );
    assert_eq!(streamed(&host.sent()), "notacme-0123456789, is it.");
}
