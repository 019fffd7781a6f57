//! Processes that end, or should not: the chain, and the one that has its values.

use acp_chain_tests::process::gone;
use acp_chain_tests::transcript::Transcript;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::broken::notices;
use super::world::{World, entry};

fn send(id: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[tokio::test]
async fn what_was_stored_survives_a_kill_of_the_chain() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut killed = world.begin(&manifest).await;
    let version = killed.store(0, "v").await;
    let late = json!({ "key": "late", "value": "v" });
    killed.ask("test/store", &late);
    killed.0.kill().await.unwrap();
    for id in world.processes() {
        gone(&Transcript::new(), id).await.unwrap();
    }
    let mut next = world.begin(&manifest).await;
    assert_eq!(next.load().await, (Some("v".to_owned()), version));
    // The last one is there, or is not.
    let loaded = next.does("test/load", json!({ "key": "late" })).await;
    let stored = loaded["version"].as_u64().unwrap();
    assert_eq!(loaded["value"].is_string(), stored > version, "{loaded}");
    next.finish().await;
}

#[tokio::test]
async fn without_the_process_that_has_the_values_requests_fail_and_the_user_is_told_once() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut client = world.begin(&manifest).await;
    let version = client.store(0, "v").await;
    let processes = world.processes();
    let [process] = processes[..] else {
        panic!("one process: {processes:?}")
    };
    send(process, Signal::KILL);
    for _ in 0..2 {
        let loaded = client.does("test/load", json!({ "key": "k" })).await;
        let error = loaded["error"].as_str().unwrap();
        assert_eq!(error, "the process that has the stored values has ended");
        client.0.turn("echo hello").await;
    }
    let told = notices(&client);
    let expected = "the process that has the stored values has ended";
    assert!(told.len() == 1 && told[0].contains(expected), "{told:?}");
    client.finish().await;
    let mut next = world.begin(&manifest).await;
    assert_eq!(next.load().await, (Some("v".to_owned()), version));
    next.finish().await;
}

#[tokio::test]
async fn requests_to_stop_that_reach_all_processes_do_not_end_it() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut client = world.begin(&manifest).await;
    let version = client.store(0, "v").await;
    for id in world.processes() {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            send(id, signal);
        }
    }
    client.store(version, "w").await;
    client.finish().await;
}

#[tokio::test]
async fn a_process_has_the_values_only_where_a_proxy_stores_some_and_ends_with_its_chain() {
    let world = World::new();
    let component = world.component("one.wasm");
    let without = entry("one", &component).replace("powers = ['values.keep']", "powers = []");
    let mut client = world.begin(&world.manifest("without.toml", &without)).await;
    let loaded = client.does("test/load", json!({ "key": "k" })).await;
    assert!(loaded["error"].is_string(), "{loaded}");
    assert!(world.processes().is_empty());
    client.finish().await;

    let mut client = world.begin(&world.chain("with.toml", &component)).await;
    // Nothing is created before it is needed.
    assert!(!world.state().exists());
    client.store(0, "v").await;
    let processes = world.processes();
    assert_eq!(processes.len(), 1);
    client.finish().await;
    for id in processes {
        gone(&Transcript::new(), id).await.unwrap();
    }
}
