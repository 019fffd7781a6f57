//! A killed command leaves the installed version, and its remains are deleted with the next change.

use super::world::World;

#[test]
fn an_update_that_is_killed_leaves_the_version_before() {
    let world = World::new();
    let registry = world.registry(&[world.script("1.0.0")]);
    world.does(&["agent", "add", "script", "--registry", &registry, "--yes"]);
    let (record, folder) = (world.record("script"), world.versions("script").remove(0));
    world.registry(&[world.script("1.1.0")]);
    let waits = world.server.stop_halfway("/script-1.1.0.tar.gz");
    let update = ["agent", "update", "script", "--yes"];
    let mut running = world.begins(&update);
    waits.recv().unwrap();
    // No other command can change anything meanwhile.
    let told = world.fails(&["agent", "remove", "script"]);
    assert!(
        told.contains("another `acp-chain agent` is at work"),
        "{told}"
    );
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(world.record("script"), record);
    assert!(folder.join("agent/run").exists());
    assert!(!world.does(&["agent", "list"]).contains('!'));
    assert_eq!(
        world.versions("script").len(),
        2,
        "the unfinished one is left"
    );
    world.server.go_on();
    world.does(&update);
    assert_eq!(world.versions("script").len(), 1);
    assert!(world.record("script").contains("1.1.0"));
}

#[test]
fn a_first_installation_that_is_killed_leaves_no_agent() {
    let world = World::new();
    let registry = world.registry(&[world.script("1.0.0")]);
    let updated = world.does(&["agent", "update"]);
    assert!(updated.starts_with("No agents are installed"), "{updated}");
    let waits = world.server.stop_halfway("/script-1.0.0.tar.gz");
    let add = ["agent", "add", "script", "--registry", &registry, "--yes"];
    let mut running = world.begins(&add);
    waits.recv().unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    let listed = world.does(&["agent", "list"]);
    assert!(listed.starts_with("No agents are installed"), "{listed}");
    world.server.go_on();
    world.does(&add);
    assert_eq!(world.versions("script").len(), 1);
}
