//! What was stored is there in the next connection, and in others at the same time.

use serde_json::json;

use super::world::{AGENT, Client, World, pair};

/// How often each of two clients counts.
const COUNTS: u64 = 20;

#[tokio::test]
async fn a_value_outlasts_the_connection_with_its_version() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut first = world.begin(&manifest).await;
    let nothing = first.does("test/load", json!({ "key": "k" })).await;
    assert_eq!(
        nothing,
        json!({ "value": null, "version": 0, "since": null })
    );
    let version = first.store(0, "v").await;
    let since = first.does("test/load", json!({ "key": "k" })).await["since"].clone();
    assert!(since.is_string(), "{since}");
    first.finish().await;

    let mut second = world.begin(&manifest).await;
    let loaded = second.does("test/load", json!({ "key": "k" })).await;
    let expected = json!({ "value": "v", "version": version, "since": since });
    assert_eq!(loaded, expected);
    // It is removed over its version, too.
    let params = json!({ "key": "k", "version": version });
    second.does("test/store", params).await;
    assert_eq!(second.load().await, (None, 0));
    second.finish().await;
}

#[tokio::test]
async fn a_dry_run_leaves_all_values_as_they_are() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut first = world.begin(&manifest).await;
    let version = first.store(0, "v").await;
    first.finish().await;

    let mut command = world.command("run");
    command.arg("--dry-run").arg("--manifest").arg(&manifest);
    command.args(["--", AGENT]);
    let mut dry = Client::of(command).await;
    let params = json!({ "key": "k", "version": version, "value": "w" });
    let id = dry.ask("test/store", &params);
    // Of the agent, which knows no such request.
    assert!(dry.0.wire.response(&id).await.error.is_some());
    dry.finish().await;

    let mut second = world.begin(&manifest).await;
    assert_eq!(second.load().await, (Some("v".to_owned()), version));
    second.finish().await;
}

#[tokio::test]
async fn a_value_is_stored_only_over_the_version_that_another_chain_has_left() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let (mut one, mut other) = (world.begin(&manifest).await, world.begin(&manifest).await);
    let first = one.store(0, "first").await;
    let stale = json!({ "key": "k", "version": 0, "value": "stale" });
    let conflict = other.does("test/store", stale).await;
    let found = pair(&conflict["conflict"]);
    assert_eq!(found, (Some("first".to_owned()), first));
    let second = other.store(first, "second").await;
    assert!(second > first);
    assert_eq!(one.load().await, (Some("second".to_owned()), second));
    one.finish().await;
    other.finish().await;
}

/// Counts up under one key, as another client does at the same time.
async fn count(client: &mut Client) {
    let mut counted = 0;
    while counted < COUNTS {
        let counting = client.does("test/count", json!({ "key": "k" })).await;
        // The other one may have been faster each time.
        counted += u64::from(counting["value"].is_string());
    }
}

#[tokio::test]
async fn two_chains_at_once_lose_no_change() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let (mut one, mut other) = (world.begin(&manifest).await, world.begin(&manifest).await);
    tokio::join!(count(&mut one), count(&mut other));
    let (value, _) = one.load().await;
    assert_eq!(value, Some((2 * COUNTS).to_string()));
    one.finish().await;
    other.finish().await;
}
