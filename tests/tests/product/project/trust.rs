//! `acp-chain trust`: its questions, and the content that an answer is bound to.

use std::fs;

use serde_json::Value;

use crate::project::world::{SHOUT, World, shown};

#[test]
fn the_first_time_everything_is_shown_and_only_yes_is_yes() {
    let world = World::shouting();
    for line in ["\n", "n\n", "yesterday\n", "\u{4}"] {
        let (is_success, text) = world.typed(line);
        assert!(
            !is_success && text.contains("Nothing was changed."),
            "{line:?}: {text}"
        );
        world.is_untouched();
    }
    let (is_success, text) = world.typed("y\n");
    assert!(is_success, "{text}");
    insta::assert_snapshot!(shown(&world, &text));
    // Compiled already, so that no session waits for that.
    let compiled = world.home().join(".cache/acp-chain/compiled");
    assert!(fs::read_dir(compiled).unwrap().count() > 1);
    assert_eq!(world.located_here()["projects"][0]["name"], "work");
}

#[test]
fn later_only_the_difference_is_shown() {
    let world = World::shouting();
    world.trust();
    let more = SHOUT.replace(
        "\"prompts.change\"]",
        "\"prompts.change\", \"answers.read\"]",
    );
    world.manifest(&more.replace("id = \"shout\"", "id = \"shout\"\nlimits.held = 7"));
    let (is_success, text) = world.typed("n\n");
    assert!(!is_success, "{text}");
    insta::assert_snapshot!(shown(&world, &text));
    // A change of the text alone is asked about, too.
    world.manifest(&format!("# Ours.\n{SHOUT}"));
    let (_, text) = world.typed("y\n");
    assert!(
        text.contains("Its files, or this program, changed, but the proxies, and what they may do, are the same."),
        "{text}"
    );
    let (is_success, text) = world.typed("");
    assert!(is_success && text.contains("is trusted since "), "{text}");
}

#[test]
fn what_a_proxy_may_newly_do_is_shown_before_how_it_is_configured() {
    let world = World::shouting();
    world.trust();
    fs::create_dir(world.path("notes")).unwrap();
    world.manifest(&format!(
        "{SHOUT}directories = [{{ path = \"notes\", name = \"/n\", write = true }}]\nconfig.text = \"x\"\n"
    ));
    let (_, text) = world.typed("n\n");
    let place = |told: &str| {
        let found = text.find(told);
        found.unwrap_or_else(|| panic!("{text}\nlacks\n{told}"))
    };
    let marked = place("! it can read and write in ");
    assert!(marked < place("config.text: nothing → \"x\""), "{text}");
}

#[test]
fn a_question_that_scrolls_ends_with_what_it_is_in_short() {
    let world = World::shouting();
    let named = |at| SHOUT.replace("id = \"shout\"", &format!("id = \"p{at}\""));
    world.manifest(&(0..8).map(named).collect::<String>());
    let (_, text) = world.typed("n\n");
    assert_eq!(text.matches("In short: ").count(), 2, "{text}");
    assert!(text.rfind("In short: ") > text.rfind("p7"), "{text}");
}

/// A manifest with rules of more than a thousand bytes, and with one more rule.
fn ruled(more: &str) -> String {
    let rules = "{ decision = \"ask\", path = \"./src/**\" }, ".repeat(40);
    format!("{SHOUT}config.rules = [{rules}{more}]\n")
}

#[test]
fn a_difference_is_shown_however_much_is_around_it() {
    let world = World::shouting();
    world.manifest(&ruled(""));
    world.trust();
    world.manifest(&ruled("{ decision = \"allow\", path = \"/**\" }"));
    let (_, text) = world.typed("n\n");
    for told in [
        "config.rules[40].decision: nothing → \"allow\"",
        "config.rules[40].path: nothing → \"/**\"",
    ] {
        assert!(text.contains(told), "{text}\nlacks\n{told}");
    }
    assert!(!text.contains("rules[39]"), "{text}");
}

#[test]
fn no_question_is_asked_about_what_is_too_long_to_be_shown() {
    let world = World::shouting();
    let key = world.trust();
    let text = "x".repeat(20_000);
    let long = format!("{SHOUT}config.text = \"{text}\"\n");
    for is_new in [false, true] {
        world.manifest(&long);
        if is_new {
            world.do_run(&["trust", "--revoke"]);
        }
        let (is_success, said) = world.typed("y\n");
        let told = "part of this is too long to be shown here, so you are not asked";
        assert!(!is_success && said.contains(told), "{said}");
        let located = &world.located_here()["projects"][0]["key"];
        // The previous agreement holds until it is revoked.
        let before = if is_new {
            Value::Null
        } else {
            key.as_str().into()
        };
        assert_eq!(*located, before);
    }
    let shown = world.do_run(&["trust", "--show", "--json"]);
    assert!(shown.contains(&text), "{shown}");
    world.trust();
    assert!(world.located_here().get("projects").is_some());
}

#[test]
fn what_a_trusted_project_locks_is_kept() {
    let world = World::new();
    world.locked();
    world.trust();
    let collected = world.do_run(&["gc"]);
    assert!(collected.starts_with("0 components"), "{collected}");
    world.do_run(&["check"]);
}

#[test]
fn a_nested_project_that_is_gone_is_forgotten_and_the_one_around_it_is_not() {
    let mut world = World::shouting();
    let outer = world.trust();
    let root = world.root.clone();
    world.root = root.join("inner");
    fs::create_dir(&world.root).unwrap();
    world.component("tools/shout.wasm");
    world.manifest(SHOUT);
    world.trust();
    fs::remove_file(world.path("acp-chain.toml")).unwrap();
    // Trust can also be revoked from within the project.
    fs::create_dir(world.path("src")).unwrap();
    world.do_run(&["trust", "--revoke", "src"]);
    world.root = root;
    let listed = world.do_run(&["trust", "--list"]);
    assert!(!listed.contains("/inner\n"), "{listed}");
    assert_eq!(world.located_here()["projects"][0]["key"], *outer);
    // Without a decision of its own, a folder is part of the project around it.
    world.do_run(&["trust", "--revoke", "inner"]);
    assert!(world.located_here().get("projects").is_none());
}

#[test]
fn without_a_terminal_the_key_says_yes_to_just_that() {
    let world = World::shouting();
    let error = world.fail(&["trust"]);
    let key = world.key();
    let command = format!("`acp-chain trust --digest {key} {}`", world.root.display());
    assert!(error.contains(&command), "{error}\nlacks\n{command}");
    world.is_untouched();
    world.manifest(&format!("{SHOUT}on-failure = \"refuse\"\n"));
    let error = world.fail(&["trust", "--digest", &key]);
    assert!(error.contains("look at what is different"), "{error}");
    world.is_untouched();
    world.trust();
    assert!(world.do_run(&["trust"]).contains("is trusted since "));
}

#[test]
fn what_was_said_is_listed_and_can_be_taken_back() {
    let world = World::shouting();
    assert_eq!(
        world.do_run(&["trust", "--list"]),
        "There are no decisions about projects.\n"
    );
    let key = world.trust();
    let listed: Value =
        serde_json::from_str(&world.do_run(&["trust", "--list", "--json"])).unwrap();
    assert_eq!(listed["projects"][0]["root"], world.root.to_str().unwrap());
    assert_eq!(listed["projects"][0]["verdict"]["trusted"]["key"], *key);
    assert!(
        world
            .do_run(&["trust", "--list"])
            .contains("\n  trusted since ")
    );
    for args in [&["trust", "--json"][..], &["trust", "--deny", "--json"]] {
        let refused = world.fail(args);
        assert!(refused.contains("<--list|--show>"), "{refused}");
    }
    world.do_run(&["trust", "--revoke"]);
    let said = world.located_here();
    assert!(said.get("projects").is_none(), "{said}");
    assert!(
        said["notice"]
            .as_str()
            .unwrap()
            .contains("you have not agreed to them"),
        "{said}"
    );
    world.do_run(&["trust", "--deny"]);
    let said = world.located_here();
    assert!(
        said.get("projects").is_none() && said.get("notice").is_none(),
        "{said}"
    );
    assert!(
        world
            .do_run(&["trust", "--list"])
            .contains("\n  denied since ")
    );
    // A deleted project can be revoked, too.
    let root = world.root.to_str().unwrap();
    fs::remove_file(world.path("acp-chain.toml")).unwrap();
    world.do_run(&["trust", "--revoke", root]);
    assert_eq!(
        world.do_run(&["trust", "--list"]),
        "There are no decisions about projects.\n"
    );
}

#[test]
fn it_is_found_from_any_folder_in_it_and_from_no_other() {
    let world = World::shouting();
    let deep = world.path("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let shown = world.do_run(&["trust", "--show", "src/deep"]);
    assert!(
        shown.contains(&format!("The project {}\n", world.root.display())),
        "{shown}"
    );
    let error = world.fail(&["trust", "--show", ".."]);
    assert!(
        error.contains("neither your home nor a folder above it is a project"),
        "{error}"
    );
}

#[test]
fn what_is_locked_and_not_here_is_not_fetched() {
    let world = World::new();
    world.manifest("[[proxy]]\nuse = \"it\"\n");
    let lock = "version = 1\n[[extension]]\nname = \"it\"\n[extension.agreed]\n\
                source = \"ghcr.io/someone/it:1\"\ndigest = \"sha256:DIGEST\"\nsize = 3\nwit = \"0.1.0\"\n\
                imports = []\npowers = []\n";
    fs::write(
        world.path("acp-chain.lock"),
        lock.replace("DIGEST", &"a".repeat(64)),
    )
    .unwrap();
    let error = world.fail(&["trust"]);
    let command = format!(
        "`acp-chain install --manifest {}/acp-chain.toml`",
        world.root.display()
    );
    assert!(
        error.contains("`it` is locked, and not installed here") && error.contains(&command),
        "{error}"
    );
    world.is_untouched();
}

#[test]
fn two_who_say_yes_at_once_leave_one_whole_record() {
    let world = World::shouting();
    let key = world.key();
    let both = [(); 2].map(|()| {
        let mut command = world.command("trust");
        command
            .args(["--digest", &key])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    });
    for mut one in both {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(world.located_here()["projects"][0]["key"], *key);
}
