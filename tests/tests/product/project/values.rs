//! Values of a project's proxies, which run in a process of their own.

use std::fs;
use std::path::Path;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::project::world::World;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// The entry of a proxy with the component in this file, which loads and stores at requests with this prefix.
fn entry(component: &Path, prefix: &str) -> String {
    let path = component.display();
    format!(
        "[[proxy]]\nid = '{prefix}'\npath = '{path}'\npowers = ['values.keep']\n\
         methods = {{ '_{prefix}/*' = ['read', 'answer'] }}\n[proxy.config.requests]\n\
         '_{prefix}/load' = ['load-value']\n'_{prefix}/store' = ['store-value']\n"
    )
}

/// A chain with a session in this folder, and the session's id.
async fn begin(world: &World, cwd: &Path) -> (Process, String) {
    let mut command = Command::from(world.command("run"));
    command.args(["--", AGENT]);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    let params = json!({ "cwd": cwd, "mcpServers": [] });
    let begun = answered(&mut client, "session/new", &params).await;
    let session = begun["sessionId"].as_str().unwrap().to_owned();
    (client, session)
}

async fn answered(client: &mut Process, method: &str, params: &Value) -> Value {
    let answer = client.wire.request(method, &params.to_string()).await;
    let result = answer.result.as_deref();
    let result = result.unwrap_or_else(|| panic!("{}", answer.line));
    serde_json::from_str(result).unwrap()
}

#[tokio::test]
async fn proxies_of_a_project_have_values_that_the_same_component_elsewhere_has_not() {
    let world = World::new();
    let (component, below) = (world.path("tools/does.wasm"), world.path("src"));
    fs::create_dir_all(component.parent().unwrap()).unwrap();
    fs::create_dir(&below).unwrap();
    fs::copy(host::component("does"), &component).unwrap();
    world.manifest(&entry(Path::new("tools/does.wasm"), "theirs"));
    world.trust();
    let (mut client, session) = begin(&world, &below).await;
    for of_user in [true, false] {
        let params = json!({ "key": "k", "value": "v", "sessionId": session, "ofUser": of_user });
        let stored = answered(&mut client, "_theirs/store", &params).await;
        assert!(stored["version"].is_u64(), "{stored}");
    }
    client.finish().await.unwrap();

    let config = world.home().join(".config/acp-chain/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, entry(&component, "mine")).unwrap();
    let (mut client, session) = begin(&world, &world.root).await;
    let params = json!({ "key": "k", "sessionId": session });
    let theirs = answered(&mut client, "_theirs/load", &params).await;
    assert_eq!(theirs["value"], "v");
    let mine = answered(&mut client, "_mine/load", &params).await;
    assert_eq!(mine["value"], Value::Null);
    client.finish().await.unwrap();

    let listed = world.do_run(&["state", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let root = world.root.display();
    let source = format!("{}, in the project {root}", component.display());
    let projects = listed["state"].as_array().unwrap().iter().map(|one| {
        assert_eq!(one["source"], source);
        one["project"].clone()
    });
    let expected = [Value::Null, root.to_string().into()];
    assert_eq!(projects.collect::<Vec<_>>(), expected);
}
