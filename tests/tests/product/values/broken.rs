//! A database that cannot be used, and one that is emptied: proxies get errors, the user is told once, and the earlier
//! values stay.

use std::fs;

use serde_json::json;

use super::world::{Client, World};

/// Has the folder of the database on a read-only file system.
const READ_ONLY: &str = r#"
    folder="$HOME/.local/share/acp-chain/state"
    cp "$folder/state.db" "$HOME/saved.db" || exit 99
    mount -t tmpfs -o mode=700 none "$folder" || exit 99
    cp "$HOME/saved.db" "$folder/state.db" || exit 99
    mount -o remount,ro "$folder" || exit 99
    exec "$@"
"#;

/// The notices that the user has got about stored values.
pub fn notices(client: &Client) -> Vec<String> {
    let mut chunks = client.0.chunks();
    chunks.retain(|text| text.contains("Proxies cannot load and store their values"));
    chunks
}

/// The error of a request, for the proxy.
async fn refused(client: &mut Client, method: &str) -> String {
    let params = json!({ "key": "k", "value": "other" });
    let answer = client.does(method, params).await;
    let error = answer["error"].as_str();
    error.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn a_damaged_database_is_told_once_and_used_again_once_it_is_replaced() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    fs::create_dir_all(world.state()).unwrap();
    let database = world.state().join("state.db");
    fs::write(&database, "damaged").unwrap();
    let mut client = world.begin(&manifest).await;
    for method in ["test/load", "test/store"] {
        let error = refused(&mut client, method).await;
        let path = database.display().to_string();
        assert!(!error.contains(&path), "{error}");
        client.0.turn("echo hello").await;
    }
    let told = notices(&client);
    let expected = format!("{} is damaged", database.display());
    assert!(told.len() == 1 && told[0].contains(&expected), "{told:?}");
    assert!(told[0].contains("`acp-chain state wipe --all`"), "{told:?}");
    assert_eq!(fs::read(&database).unwrap(), b"damaged");
    world.does(&["state", "wipe", "--all", "--yes"]).await;
    client.store(0, "v").await;
    client.finish().await;
}

#[tokio::test]
async fn values_on_a_read_only_disk_are_loaded_and_not_changed() {
    let mut world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut client = world.begin(&manifest).await;
    let version = client.store(0, "v").await;
    client.finish().await;

    let unshared = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        READ_ONLY,
        "sh",
    ];
    world.launcher = unshared.map(str::to_owned).to_vec();
    let mut client = world.begin(&manifest).await;
    assert_eq!(client.load().await, (Some("v".to_owned()), version));
    let params = json!({ "key": "k", "version": version, "value": "w" });
    let stored = client.does("test/store", params).await;
    assert!(stored["error"].is_string(), "{stored}");
    client.0.turn("echo hello").await;
    let told = notices(&client);
    assert!(
        told.len() == 1 && told[0].contains("state.db is read-only"),
        "{told:?}"
    );
    assert_eq!(client.load().await, (Some("v".to_owned()), version));
    client.finish().await;
}

#[tokio::test]
async fn values_that_are_wiped_while_a_chain_runs_are_gone_for_its_proxies() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let mut client = world.begin(&manifest).await;
    let before = client.store(0, "v").await;
    world.does(&["state", "wipe", "one", "--yes"]).await;
    let loaded = client.does("test/load", json!({ "key": "k" })).await;
    assert_eq!(
        loaded,
        json!({ "value": null, "version": 0, "since": null })
    );
    assert!(client.store(0, "w").await > before);
    // Neither is a database needed that somebody has removed.
    fs::remove_dir_all(world.state()).unwrap();
    assert_eq!(client.load().await, (None, 0));
    client.store(0, "x").await;
    client.finish().await;
}
