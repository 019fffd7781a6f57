//! Projects that use built-in extensions, which no lock names.

use acp_chain_package::Asks;
use acp_chain_powers::FailurePolicy;

use crate::project::world::{World, shown};

/// A project that uses a built-in extension with this configuration.
fn world(config: &str) -> World {
    let mut world = World::new();
    world.carry("it", &["prompts.read"]);
    world.manifest(&format!("[[proxy]]\nuse = \"it\"\n{config}"));
    world
}

#[test]
fn how_it_is_configured_is_shown_beside_what_it_would_be() {
    let world = world("config.lenient = true\n");
    let (_, text) = world.typed("n\n");
    insta::assert_snapshot!(shown(&world, &text));
    world.is_untouched();
}

#[test]
fn a_newer_program_asks_again_only_if_it_asks_for_more() {
    let mut world = world("");
    let key = world.trust();
    assert_eq!(world.located_here()["projects"][0]["key"], *key);
    world.carry("it", &["prompts.read", "files.read"]);
    let said = world.located_here();
    assert!(said.get("projects").is_none(), "{said}");
    let (_, text) = world.typed("n\n");
    let text = shown(&world, &text);
    assert!(
        text.contains("powers: prompts.read → prompts.read, files.read\n"),
        "{text}"
    );
    assert!(text.contains("(files.read)"), "{text}");
    // Another component that asks for the same powers does not change the key.
    world.carry("it", &["prompts.read"]);
    assert_eq!(world.located_here()["projects"][0]["key"], *key);
}

#[test]
fn a_newer_program_asks_again_about_other_terms() {
    let limited = Asks {
        limits: [("memory".to_owned(), "128 MiB".into())].into(),
        ..Asks::default()
    };
    let lenient = Asks {
        on_failure: Some(FailurePolicy::Bypass),
        ..Asks::default()
    };
    for (asks, told) in [
        (limited, "limit memory: 64 MiB → 128 MiB\n"),
        (lenient, "on-failure: nothing → bypass\n"),
    ] {
        let mut world = World::new();
        world.carry_asking("it", Asks::default());
        world.manifest("[[proxy]]\nuse = \"it\"\n");
        world.trust();
        world.carry_asking("it", asks);
        let said = world.located_here();
        assert!(said.get("projects").is_none(), "{said}");
        let (_, text) = world.typed("n\n");
        let text = shown(&world, &text);
        assert!(text.contains(told), "{text}\nlacks\n{told}");
    }
}
