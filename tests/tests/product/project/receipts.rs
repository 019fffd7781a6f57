//! What the proxies of a project decide, in a process of their own.

use acp_chain_tests::client::prompt;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::project::world::World;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

#[tokio::test]
async fn what_proxies_of_a_project_decide_is_in_the_log_of_the_chain() {
    let world = World::shouting();
    let key = world.trust();
    let log = world.home().join("receipts");
    let mut command = Command::from(world.command("run"));
    command.arg("--receipts").arg(&log).args(["--", AGENT]);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    let params = json!({ "cwd": world.root, "mcpServers": [] }).to_string();
    let begun = client.wire.request("session/new", &params).await;
    let begun: Value = serde_json::from_str(&begun.result.unwrap()).unwrap();
    let session = begun["sessionId"].as_str().unwrap();
    let answer = client
        .wire
        .request("session/prompt", &prompt(session, "hi"))
        .await;
    assert!(answer.result.is_some(), "{}", answer.line);
    client.finish().await.unwrap();
    let folder = log.to_str().unwrap();
    world.do_run(&["receipts", "verify", folder]);
    let exported = world.do_run(&["receipts", "export", folder, "--to", "json"]);
    let records: Vec<Value> = serde_json::from_str(&exported).unwrap();
    let find = |is: &dyn Fn(&&Value) -> bool| records.iter().find(is).cloned();
    let chain = find(&|one| one["what"] == "chain" && one["role"] == "proxy");
    let chain = chain.unwrap_or_else(|| panic!("{exported}"));
    let agreed = &chain["chain"]["agreed"];
    assert_eq!(agreed["by"], "user");
    assert_eq!(agreed["project"], key);
    let changed =
        find(&|one| one["decision"] == "change" && one["connection"] == chain["connection"]);
    let changed = changed.unwrap_or_else(|| panic!("{exported}"));
    assert_eq!(changed["session"], session);
    assert_ne!(changed["before"], changed["after"]);
}
