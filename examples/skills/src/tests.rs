use acp_chain_proxy::testing::Host;
use acp_chain_proxy::{Error, Peer};
use serde_json::{Value, json};

use super::Skills;

fn host() -> Host {
    let skill = json!({ "name": "release", "description": "How to release.", "path": "/skills/release.md" });
    let mut host = Host::start_exported::<Skills>(json!({ "skill": [skill] })).expect("skills");
    host.powers(&["tools", "files.read"]);
    host
}

#[test]
fn the_model_is_told_what_each_skill_is_for() {
    let listed = host().list_resources(Some("s")).expect("a list");
    assert!(
        listed
            .instructions
            .expect("a text")
            .ends_with("\n- skill:/release: How to release.")
    );
    assert_eq!(listed.resources[0]["uri"], "skill:/release");
    assert_eq!(listed.resources[0]["description"], "How to release.");
}

#[test]
fn a_skill_is_read_through_the_client_when_the_agent_asks_for_it() {
    let mut host = host();
    let call = host.read_resource(Some("s"), "skill:/release");
    let sent = host.sent();
    assert_eq!(
        (sent[0].to, &*sent[0].method),
        (Peer::Client, "fs/read_text_file")
    );
    assert_eq!(sent[0].at("/path"), "/skills/release.md");
    assert_eq!(sent[0].at("/sessionId"), "s");
    host.answer(sent[0].id, json!({ "content": "Tag it." }));
    let read: Value = host.result(call).expect("it is read").expect("a result");
    assert_eq!(read["contents"][0]["text"], "Tag it.");
}

#[test]
fn what_cannot_be_read_is_an_error_that_says_why() {
    let mut host = host();
    let call = host.read_resource(Some("s"), "skill:/other");
    let gone = host
        .result(call)
        .expect("it is done")
        .expect_err("there is none");
    assert_eq!(gone.message, "there is no resource `skill:/other`");
    let call = host.read_resource(Some("s"), "skill:/release");
    let asked = host.sent()[0].id;
    host.fail(asked, Error::new(-32002, "no such file"));
    let failed = host
        .result(call)
        .expect("it is done")
        .expect_err("it is not read");
    assert!(
        failed.message.contains("no such file"),
        "{}",
        failed.message
    );
}
