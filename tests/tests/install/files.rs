//! Extensions in files.

use std::fs;
use std::path::PathBuf;

use acp_chain::extension::Lock;
use serde_json::Value;

use super::world::{World, digest};
use acp_chain_tests::said::Said;

const USED: &str = "# Ours.\n[agent]\ncommand = \"agent\"\n\n[[proxy]]\nuse = \"it\"\n";

/// An extension that wants two powers.
fn it(world: &World) -> PathBuf {
    let powers = ["prompts.read", "prompts.change"];
    world.package("it.wasm", "it", "1.2.0", &powers)
}

#[test]
fn what_an_extension_is_and_wants_is_shown_and_nothing_happens_unasked() {
    let world = World::new();
    let file = it(&world);
    let said = world.run(&["add", "./it.wasm"]);
    assert!(!said.is_success);
    let digest = digest(&file);
    for expected in [
        "it 1.2.0\n  Passes everything on\n",
        &format!("  {digest}, "),
        "(prompts.change)",
        "    its author says: It cannot do without prompts.read.\n",
        "It cannot\n  reach files, the network, programs",
        &format!("It comes from {}\n", file.display()),
        "It is signed by nobody\n",
        "It imports acp-chain:proxy/",
    ] {
        assert!(
            said.out.contains(expected),
            "{}\nlacks\n{expected}",
            said.out
        );
    }
    let next = format!("say `--accept-powers {digest}`, or `--yes` for whatever comes");
    assert!(said.err.contains(&next), "{}", said.err);
    assert!(world.lock().is_empty() && world.components().is_empty());
    assert!(!world.manifest_text().contains("proxy"));
}

#[test]
fn an_extension_is_added_and_removed_and_the_rest_of_the_manifest_stays() {
    let world = World::new();
    let file = world.package("it.wasm", "it", "1.2.0", &["prompts.read"]);
    let before = world.manifest_text();
    world.do_run(&[
        "add",
        "it.wasm",
        "--accept-powers",
        &digest(&file).to_string(),
    ]);
    assert_eq!(world.manifest_text(), USED);
    let agreed = world.locked("it").agreed;
    assert_eq!(agreed.digest, digest(&file));
    assert_eq!(agreed.version.as_deref(), Some("1.2.0"));
    assert_eq!(agreed.powers, ["prompts.read"]);
    assert_eq!(agreed.wit, "0.1.0");
    assert_eq!(agreed.source.to_string(), file.display().to_string());
    assert_eq!(world.components().len(), 1);

    let listed: Value = serde_json::from_str(&world.do_run(&["list", "--json"])).unwrap();
    let it = &listed["extensions"][0];
    assert_eq!(
        (&it["name"], &it["used"], &it["installed"]),
        (&"it".into(), &true.into(), &true.into())
    );
    assert!(world.do_run(&["list"]).starts_with("it 1.2.0\n"));
    assert!(world.do_run(&["check"]).contains("(prompts.read)"));

    world.do_run(&["remove", "it"]);
    assert_eq!(world.manifest_text(), before);
    assert!(world.lock().is_empty());
    assert_eq!(world.components().len(), 1);
    assert!(world.do_run(&["gc"]).starts_with("1 components removed"));
    assert!(world.components().is_empty());
    assert!(
        world
            .fail(&["remove", "it"])
            .contains("uses no extension `it`")
    );
}

#[test]
fn what_comes_with_the_program_is_used_by_its_name() {
    let mut world = World::new();
    let file = world.package("it.wasm", "it", "1.2.0", &["prompts.read"]);
    let none = world.fail(&["add", "it", "--yes"]);
    assert!(
        none.contains("`acp-chain list --available` shows what comes with acp-chain"),
        "{none}"
    );
    let program = world.path("acp-chain");
    let mut bundle = world.command(&world.program);
    bundle
        .arg("bundle")
        .arg(&file)
        .arg("--output")
        .arg(&program);
    assert!(Said::from(bundle.output().unwrap()).is_success);
    world.program = program;

    assert_eq!(
        world.do_run(&["list", "--available"]),
        "it 1.2.0\n  Passes everything on\n"
    );
    let unasked = world.run(&["add", "it"]);
    assert!(
        unasked.out.contains("It comes with acp-chain\n"),
        "{unasked:?}"
    );
    let accept = format!("`--accept-powers {}`", digest(&file));
    assert!(unasked.err.contains(&accept), "{unasked:?}");
    world.do_run(&["add", "it", "--yes"]);
    assert_eq!(world.manifest_text(), USED);
    assert!(world.lock().is_empty() && world.components().is_empty());
    world.do_run(&["check"]);
    assert_eq!(world.do_run(&["list"]), "it\n  comes with acp-chain\n");
    world.do_run(&["remove", "it"]);
    assert!(!world.manifest_text().contains("proxy"));
}

#[test]
fn whatever_is_installed_is_compiled_already() {
    let mut world = World::new();
    let cache = world.path("cache");
    world.set("XDG_CACHE_HOME", cache.display().to_string());
    let compiled = || {
        let files = fs::read_dir(cache.join("acp-chain/compiled")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.ends_with(".compiled")).collect();
        names.sort();
        names
    };
    world.package("it.wasm", "it", "1.0.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    let first = compiled();
    assert_eq!(first.len(), 1);
    world.do_run(&["check"]);
    assert_eq!(compiled(), first);

    world.package("it.wasm", "it", "1.1.0", &[]);
    world.do_run(&["update", "--yes"]);
    assert_eq!(compiled().len(), 2);
    fs::remove_dir_all(&cache).unwrap();
    world.do_run(&["install"]);
    assert_eq!(compiled().len(), 1);
}

#[test]
fn without_a_manifest_it_is_the_users_own_chain() {
    let world = World::new();
    let file = world.package("it.wasm", "it", "1.2.0", &["prompts.read"]);
    // Many keep their settings elsewhere.
    let config = world.path(".config/acp-chain/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(world.path("settings.toml"), "").unwrap();
    std::os::unix::fs::symlink(world.path("settings.toml"), &config).unwrap();
    let added = world.run_own(&["add", "it.wasm", "--yes"]);
    assert!(added.is_success, "{added:?}");
    assert!(fs::symlink_metadata(&config).unwrap().is_symlink());
    assert_eq!(
        fs::read_to_string(&config).unwrap(),
        "[[proxy]]\nuse = \"it\"\n"
    );
    let lock = Lock::read(&config.with_extension("lock")).unwrap();
    assert_eq!(lock.get("it").unwrap().agreed.digest, digest(&file));
    assert!(world.run_own(&["info", "it"]).out.starts_with("it 1.2.0\n"));
    assert!(world.run_own(&["list"]).out.starts_with("it 1.2.0\n"));
    assert!(world.run_own(&["remove", "it"]).is_success);
    assert_eq!(fs::read_to_string(&config).unwrap(), "");
}

#[test]
fn the_lock_brings_everything_back_and_what_changed_meanwhile_is_told() {
    let world = World::new();
    world.package("project/it.wasm", "it", "1.2.0", &["prompts.read"]);
    world.do_run(&["add", "project/it.wasm", "--yes"]);
    assert_eq!(world.locked("it").agreed.source.to_string(), "./it.wasm");
    fs::remove_dir_all(world.path(".local")).unwrap();
    assert_eq!(
        world.do_run(&["install", "--locked", "--offline"]),
        "it 1.2.0: installed\n"
    );
    assert_eq!(
        world.do_run(&["install", "--locked", "--offline"]),
        "it 1.2.0: is there\n"
    );
    assert_eq!(world.components().len(), 1);
    // What a lock needs that was only installed is kept too.
    assert!(world.do_run(&["gc"]).starts_with("0 components"));

    fs::remove_dir_all(world.path(".local")).unwrap();
    world.package("project/it.wasm", "it", "1.3.0", &["prompts.read"]);
    let told = world.fail(&["install"]);
    assert!(
        told.contains("is locked: it was changed since. `acp-chain update`"),
        "{told}"
    );
    assert!(world.components().is_empty());
}

#[test]
fn an_update_that_wants_no_more_needs_a_word_and_one_that_does_stays_pending() {
    let world = World::new();
    let file = it(&world);
    world.do_run(&["add", "it.wasm", "--yes"]);
    assert_eq!(world.do_run(&["update"]), "`it` is up to date.\n");

    world.package("it.wasm", "it", "1.3.0", &["prompts.read"]);
    let told = world.fail(&["update"]);
    assert!(
        told.contains("`it`: there is no terminal to ask on; nothing was changed"),
        "{told}"
    );
    let told = world.do_run(&["update", "it", "--yes"]);
    assert!(
        told.contains("  no longer wants the power `prompts.change`\n"),
        "{told}"
    );
    let agreed = world.locked("it").agreed;
    assert_eq!((agreed.digest, agreed.powers.len()), (digest(&file), 1));

    for (version, powers, expected) in [
        (
            "1.4.0",
            &["prompts.read", "tools"][..],
            "! it also wants the power `tools`",
        ),
        (
            "1.1.0",
            &["prompts.read"],
            "! it goes back: version 1.1.0, was 1.3.0",
        ),
    ] {
        world.package("it.wasm", "it", version, powers);
        let told = world.do_run(&["update", "--yes"]);
        assert!(told.contains(expected), "{told}");
        let locked = world.locked("it");
        assert_eq!(locked.agreed, agreed);
        assert_eq!(locked.pending.unwrap().version.as_deref(), Some(version));
        assert!(world.do_run(&["list"]).contains(expected));
    }
    // Both are kept, the one that runs and the one that waits.
    world.do_run(&["gc"]);
    assert_eq!(world.components().len(), 2);
    let other = world.fail(&[
        "update",
        "it",
        "--accept-powers",
        &agreed.digest.to_string(),
    ]);
    assert!(other.contains("was given, and this is sha256:"), "{other}");
    world.do_run(&[
        "update",
        "it",
        "--accept-powers",
        &digest(&file).to_string(),
    ]);
    let locked = world.locked("it");
    assert_eq!(
        (locked.agreed.digest, locked.pending),
        (digest(&file), None)
    );
}

#[test]
fn another_source_is_new_trust() {
    let world = World::new();
    world.package("it.wasm", "it", "1.2.0", &[]);
    let other = world.package("other.wasm", "it", "1.3.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    let told = world.do_run(&["update", "it", "--from", "other.wasm", "--yes"]);
    assert!(
        told.contains("other.wasm, no longer from ") && told.contains("it is pending"),
        "{told}"
    );
    let accept = digest(&other).to_string();
    world.do_run(&[
        "update",
        "it",
        "--from",
        "other.wasm",
        "--accept-powers",
        &accept,
    ]);
    assert!(
        world
            .locked("it")
            .agreed
            .source
            .to_string()
            .ends_with("other.wasm")
    );
}

#[test]
fn two_of_one_name_and_one_that_claims_a_name_of_ours_get_another() {
    let world = World::new();
    world.package("it.wasm", "it", "1.2.0", &[]);
    world.package("other.wasm", "it", "9.0.0", &[]);
    world.package("redact.wasm", "redact", "1.0.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    for source in ["it.wasm", "other.wasm"] {
        let told = world.fail(&["add", source, "--yes"]);
        assert!(
            told.contains("`it` is installed already, from ") && told.contains("`--id NAME`"),
            "{told}"
        );
    }
    world.do_run(&["add", "other.wasm", "--yes", "--id", "other"]);
    let told = world.fail(&["add", "redact.wasm", "--yes"]);
    assert!(
        told.contains("it says `redact`, which is the name of an extension that comes with"),
        "{told}"
    );
    let told = world.fail(&["add", "redact.wasm", "--yes", "--id", "todo"]);
    assert!(told.contains("--id says `todo`"), "{told}");
    for id in ["agent", "", "a b", "\u{1b}[31m"] {
        let told = world.fail(&["add", "redact.wasm", "--yes", "--id", id]);
        assert!(
            told.contains("cannot be the name of a proxy") && !told.contains('\u{1b}'),
            "{told}"
        );
    }
    let names: Vec<_> = world
        .lock()
        .extensions()
        .map(|locked| locked.name.clone())
        .collect();
    assert_eq!(names, ["it", "other"]);
}

#[test]
fn what_is_no_extension_changes_nothing() {
    let world = World::new();
    fs::write(world.path("no.wasm"), "not wasm").unwrap();
    fs::write(world.path("module.wasm"), b"\0asm\x01\0\0\0").unwrap();
    fs::copy(
        acp_chain_tests::host::component("pass"),
        world.path("bare.wasm"),
    )
    .unwrap();
    fs::create_dir(world.path("folder.wasm")).unwrap();
    let before = world.manifest_text();
    for (source, expected) in [
        ("no.wasm", "the file is not a WebAssembly component"),
        ("module.wasm", "the file is not a WebAssembly component"),
        ("bare.wasm", "its author adds that with `acp-chain package`"),
        ("folder.wasm", "it is not a file"),
        ("missing.wasm", "the file cannot be read"),
    ] {
        let told = world.fail(&["add", source, "--yes"]);
        assert!(
            told.contains(expected) && told.contains(source),
            "{told}\nlacks\n{expected}"
        );
    }
    fs::write(world.path("project/acp-chain.lock"), "version = 2\n").unwrap();
    let told = world.fail(&["add", "bare.wasm", "--yes"]);
    assert!(
        told.contains("use the newer acp-chain that wrote it"),
        "{told}"
    );
    assert_eq!(world.manifest_text(), before);
    assert!(world.components().is_empty());
}
