//! Whose values they are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::world::{Client, STEPS, World, entry, pair};

/// Loads the value of the project in which a session in this folder is.
async fn of_project(client: &mut Client, cwd: &Path) -> Option<String> {
    let session = client.session(cwd).await;
    let params = json!({ "sessionId": session, "key": "k" });
    let loaded = client.does("test/load", params).await;
    pair(&loaded).0
}

#[tokio::test]
async fn a_project_has_values_by_its_folder_and_the_user_has_others() {
    let world = World::new();
    let manifest = world.chain("chain.toml", &world.component("one.wasm"));
    let (work, link) = (world.path("work"), world.path("link"));
    symlink(&work, &link).unwrap();
    fs::create_dir(work.join("below")).unwrap();
    let mut first = world.begin(&manifest).await;
    let session = first.session(&work).await;
    let params = json!({ "sessionId": session, "key": "k", "value": "of the project" });
    first.does("test/store", params).await;
    assert_eq!(first.load().await, (None, 0));
    first.store(0, "of the user").await;
    first.finish().await;

    let mut second = world.begin(&manifest).await;
    let expected = Some("of the project".to_owned());
    assert_eq!(of_project(&mut second, &link).await, expected);
    for other in [world.path(""), work.join("below"), "/no/such/folder".into()] {
        assert_eq!(of_project(&mut second, &other).await, None, "{other:?}");
    }
    let (value, _) = second.load().await;
    assert_eq!(value.as_deref(), Some("of the user"));
    second.finish().await;
    let source = world.path("one.wasm").display().to_string();
    let project = Some(work.display().to_string());
    let expected = [(source.clone(), None, None), (source, None, project)];
    assert_eq!(world.listed().await, expected);
}

#[tokio::test]
async fn another_component_of_the_same_name_has_other_values() {
    let world = World::new();
    let one = world.chain("one.toml", &world.component("one.wasm"));
    let other = world.chain("other.toml", &world.component("other/one.wasm"));
    let mut first = world.begin(&one).await;
    first.store(0, "v").await;
    first.finish().await;
    let mut second = world.begin(&other).await;
    assert_eq!(second.load().await, (None, 0));
    second.store(0, "w").await;
    second.finish().await;
    let mut third = world.begin(&one).await;
    assert_eq!(third.load().await.0.as_deref(), Some("v"));
    third.finish().await;
}

#[tokio::test]
async fn two_proxies_of_one_chain_share_nothing() {
    let world = World::new();
    let one = entry("one", &world.component("one.wasm"));
    let other = entry("other", &world.component("other.wasm"));
    // Each is asked by methods of its own.
    let other = other.replace("test/", "_other/");
    let manifest = world.manifest("chain.toml", &(one + &other));
    let mut client = world.begin(&manifest).await;
    client.store(0, "v").await;
    let loaded = client.does("_other/load", json!({ "key": "k" })).await;
    assert_eq!(pair(&loaded), (None, 0));
    client.finish().await;
}

/// Installs the extension in this file for a chain. Returns its manifest.
async fn installed(world: &World, manifest: &str, file: &str) -> PathBuf {
    let manifest = world.manifest(manifest, "# A chain.\n");
    let path = manifest.display().to_string();
    world
        .does(&["add", file, "--yes", "--manifest", &path])
        .await;
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + STEPS).unwrap();
    manifest
}

#[tokio::test]
async fn an_update_of_an_extension_has_the_values_of_the_version_before() {
    let world = World::new();
    let file = world.extension("it.wasm", "it", "1.0.0");
    let manifest = installed(&world, "chain.toml", "it.wasm").await;
    let path = manifest.display().to_string();
    let (about, check) = (["info", "./it.wasm"], ["check", "--manifest", &path]);
    for shown in [world.does(&about).await, world.does(&check).await] {
        let words = "values that outlast the connection";
        assert!(
            shown.contains(words) && shown.contains("(values.keep)"),
            "{shown}"
        );
    }
    let mut before = world.begin(&manifest).await;
    let version = before.store(0, "v").await;
    before.finish().await;

    world.extension("it.wasm", "it", "1.1.0");
    world.does(&["update", "--yes", "--manifest", &path]).await;
    let listed = world.does(&["list", "--manifest", &path]).await;
    assert!(listed.starts_with("it 1.1.0\n"), "{listed}");
    let mut after = world.begin(&manifest).await;
    assert_eq!(after.load().await, (Some("v".to_owned()), version));
    after.finish().await;
    let source = file.display().to_string();
    assert_eq!(world.listed().await, [(source, None, None)]);

    // One of the same name from another file is another extension.
    world.extension("other/it.wasm", "it", "1.1.0");
    let manifest = installed(&world, "other.toml", "other/it.wasm").await;
    let mut other = world.begin(&manifest).await;
    assert_eq!(other.load().await, (None, 0));
    other.finish().await;
}
