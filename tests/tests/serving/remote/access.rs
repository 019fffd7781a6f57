//! The access log.

use std::fs;

use acp_chain_tests::{host, web};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::served::{AGENT, ServerProcess, initialize, posted};

#[tokio::test]
async fn each_request_and_each_turn_leaves_a_line_without_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access");
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--access-log"]);
    let served = ServerProcess::by(command.arg(&log).args(["--", AGENT])).await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection
        .prompts(&session, 2, "permission edit look /tmp\necho secret")
        .await;
    let asked = stream.next().await.unwrap();
    connection
        .says(&json!({
            "jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}},
        }))
        .await;
    while stream.next().await.unwrap()["id"] != 2 {}
    let page = web::client().post(format!("{}?ticket=secret", served.url));
    let page = page.header("origin", "https://evil.example");
    assert_eq!(posted(page, &initialize()).await.status(), 403);
    assert_eq!(served.beside("/healthz").await, 200);
    let id = connection.id.clone();
    drop((all, stream, connection));
    served.signal(Signal::TERM);
    assert!(served.ended().await.success());

    let text = fs::read_to_string(&log).unwrap();
    assert!(
        !text.contains("secret") && !text.contains("healthz"),
        "{text}"
    );
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let find = |is_it: &dyn Fn(&Value) -> bool| {
        let found = lines.iter().find(|line| is_it(line));
        found.unwrap_or_else(|| panic!("no such line: {text}"))
    };
    for (method, status) in [
        ("initialize", 200),
        ("session/new", 202),
        ("session/prompt", 202),
    ] {
        let line = find(&|line| line["method"] == method);
        assert_eq!(
            (&line["status"], &line["connection"]),
            (&json!(status), &json!(id))
        );
        assert_eq!(
            (&line["event"], &line["transport"]),
            (&json!("request"), &json!("http"))
        );
        assert!(line["bytes"].as_u64() > Some(10) && line["ms"].is_u64());
        assert!(line["peer"].as_str().unwrap().starts_with("127.0.0.1:"));
    }
    let verdict = find(&|line| line["event"] == "permission");
    assert_eq!(
        (&verdict["session"], &verdict["verdict"]),
        (&json!(session), &json!("cancelled"))
    );
    let turn = find(&|line| line["event"] == "turn");
    assert_eq!(
        (&turn["session"], &turn["asked"]),
        (&json!(session), &json!(1))
    );
    assert!(turn["end"].is_string() && turn["connection"] == *id);
    let refused = find(&|line| line["status"] == 403);
    assert_eq!(
        (&refused["user"], &refused["http"]),
        (&json!(""), &json!("POST"))
    );
}
