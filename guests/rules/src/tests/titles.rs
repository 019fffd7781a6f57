//! The rules are not shown in titles.

use super::super::mark::uri;
use super::*;

/// The titles that agents have made of a prompt with the rules, and what is left of them.
fn titles() -> Vec<(String, Option<&'static str>)> {
    let rules = marked("Use tabs.");
    vec![
        (format!("Fix it {rules}"), Some("Fix it")),
        (format!("Fix it... {rules}"), Some("Fix it...")),
        (format!("Fix it\n\n{}", &rules[..70]), Some("Fix it")),
        (format!("Fix it {}…", &rules[..20]), Some("Fix it")),
        (format!("Fix it {}...", &rules[..31]), Some("Fix it")),
        (format!("Fix it [@rules]({})", uri()), Some("Fix it")),
        (format!("Fix it @{}", &uri()[..20]), Some("Fix it")),
        (rules, None),
        same("Explain [project rules in my README"),
        same("Explain [project rules bad"),
        same("acp-chain"),
        same("Install acp-chain: how?"),
        same("What is acp-chain:rules/x"),
        same("Fix the project rules…"),
    ]
}

fn same(title: &'static str) -> (String, Option<&'static str>) {
    (title.to_owned(), Some(title))
}

#[test]
fn titles_in_updates_lose_the_rules() {
    for (title, left) in titles() {
        let mut host = host(json!({}));
        let update = json!({ "sessionUpdate": "session_info_update", "title": title });
        let params = json!({ "sessionId": "s", "update": update });
        host.notify(Peer::Agent, "session/update", params);
        let sent = host.sent();
        assert_eq!(sent[0].at("/update/title"), json!(left), "{title}");
    }
}

#[test]
fn titles_in_lists_lose_the_rules() {
    let mut host = host(json!({}));
    let id = host.request(Peer::Client, "session/list", json!({}));
    host.sent();
    let sessions = titles().into_iter();
    let sessions = sessions.map(|(title, _)| json!({ "sessionId": "s", "title": title }));
    let mut sessions: Vec<_> = sessions.collect();
    sessions.push(json!({ "sessionId": "t" }));
    host.answer(id, json!({ "sessions": sessions }));
    let sent = host.sent();
    for (at, (title, left)) in titles().into_iter().enumerate() {
        let shown = sent[0].at(&format!("/sessions/{at}/title"));
        assert_eq!(shown, json!(left), "{title}");
    }
}
