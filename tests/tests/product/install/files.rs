//! Extensions in files.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use acp_chain::extension::Lock;
use acp_chain::sandbox::{Component, ComponentError, Engine};
use acp_chain_package::Package;
use acp_chain_powers::FailurePolicy;
use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;
use serde_json::Value;

use super::world::{World, digest, guard};

const USED: &str = "# Ours.\n[agent]\ncommand = \"agent\"\n\n[[proxy]]\nuse = \"it\"\n";

/// An extension that asks for two powers.
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
    assert!(!said.err.contains("getting"), "{}", said.err);
    let digest = digest(&file);
    for expected in [
        "it 1.2.0\n  Passes everything on\n",
        &format!("  {digest}, "),
        "(prompts.change)",
        "    its author says: It cannot do without prompts.read.\n",
        "It cannot\n  reach files, the network, programs",
        &format!("It comes from {}\n", file.display()),
        "It is not signed\n",
        "It imports acp-chain:proxy/",
    ] {
        assert!(
            said.out.contains(expected),
            "{}\nlacks\n{expected}",
            said.out
        );
    }
    let next = format!("say `--accept-powers {digest}`, or `--yes` to agree to any component");
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
    assert_eq!(agreed.wit, "0.1.2");
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
    assert!(world.do_run(&["gc"]).starts_with("1 component removed"));
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
        none.contains("`it` is not installed, nor does any extension come with this program"),
        "{none}"
    );
    // The folder is made for it.
    let program = world.path("ours/acp-chain");
    let mut bundle = world.command(&world.program);
    bundle
        .arg("bundle")
        .arg(&file)
        .arg("--output")
        .arg(&program);
    assert!(CommandOutput::from(bundle.output().unwrap()).is_success);
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
    let listed: Value = serde_json::from_str(&world.do_run(&["list", "--json"])).unwrap();
    let it = &listed["extensions"][0];
    assert_eq!(
        (&it["name"], &it["used"], &it["built-in"]),
        (&"it".into(), &true.into(), &true.into())
    );
    assert_eq!(
        world.do_run(&["update", "it"]),
        "`it` comes with acp-chain, and is updated with it.\n"
    );
    // Another extension of this name cannot replace it.
    world.package("it.wasm", "it", "9.0.0", &[]);
    let told = world.fail(&["add", "it.wasm", "--yes"]);
    assert!(
        told.contains("it says `it`, which is the name of an extension that comes with")
            && told.contains("`--id NAME`"),
        "{told}"
    );
    assert!(world.lock().is_empty());
    let removed = world.do_run(&["remove", "it"]);
    assert!(!removed.contains("acp-chain gc"), "{removed}");
    let manifest = world.manifest_text();
    assert!(!manifest.contains("proxy"));
    // A misspelt one does not come with the program.
    fs::write(world.manifest(), manifest + "[[proxy]]\nuse = \"ti\"\n").unwrap();
    assert_eq!(
        world.do_run(&["list"]),
        format!(
            "ti\n  ! it is not installed: `acp-chain add SOURCE --manifest {}` installs it\n",
            world.manifest().display()
        )
    );
    let listed: Value = serde_json::from_str(&world.do_run(&["list", "--json"])).unwrap();
    assert_eq!(listed["extensions"][0]["installed"], false);
    fs::write(world.manifest(), "[[proxy]]\nuse = \"\"\n").unwrap();
    let listed = world.do_run(&["list"]);
    let told = "the name in a `use` is empty: name an extension there, or remove that `[[proxy]]`";
    assert!(listed.contains(told), "{listed}");
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

/// A compiler that compiles nothing.
fn refuses(_wasm: &[u8]) -> Result<Vec<u8>, ComponentError> {
    Err(ComponentError::Uncompiled("it was called".to_owned()))
}

#[test]
fn what_was_tried_from_its_file_is_not_compiled_again_when_it_is_installed() {
    let world = World::new();
    let cache = world.path("compiled");
    let engine = || Engine::new(Some(&cache)).unwrap();
    let file = it(&world);
    Component::load(&engine(), &file).unwrap();
    let installs = |file: &Path| {
        let name = digest(file).to_string();
        Component::compile_kept(
            &engine().compiling_by(refuses),
            &name,
            &fs::read(file).unwrap(),
        )
    };
    installs(&file).unwrap();
    let never_tried = world.package("other.wasm", "other", "1.0.0", &[]);
    installs(&never_tried).unwrap_err();
}

#[test]
fn without_a_manifest_it_is_the_users_own_chain() {
    let world = World::new();
    let file = world.package("it.wasm", "it", "1.2.0", &["prompts.read"]);
    // Many users have links to their settings.
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
    // Components that a lock needs are kept, even if they were only installed.
    assert!(world.do_run(&["gc"]).starts_with("0 components"));

    fs::remove_dir_all(world.path(".local")).unwrap();
    world.package("project/it.wasm", "it", "1.3.0", &["prompts.read"]);
    let told = world.fail(&["install"]);
    assert!(
        told.contains("is locked: it was changed since. `acp-chain update it --manifest "),
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
    // Both components are kept, the running one and the pending one.
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
fn a_pending_update_that_was_withdrawn_is_forgotten() {
    let world = World::new();
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    let first = fs::read(&file).unwrap();
    world.do_run(&["add", "it.wasm", "--yes"]);
    world.package("it.wasm", "it", "1.1.0", &["prompts.read"]);
    world.do_run(&["update", "--yes"]);
    assert!(world.locked("it").pending.is_some());
    fs::write(&file, first).unwrap();
    assert_eq!(
        world.do_run(&["update"]),
        "`it` is up to date; the update that was pending was withdrawn, and is forgotten.\n"
    );
    assert_eq!(world.locked("it").pending, None);
    assert_eq!(world.do_run(&["update"]), "`it` is up to date.\n");
}

#[test]
fn what_happens_when_an_extension_breaks_is_shown_and_locked_and_another_is_new_trust() {
    let world = World::new();
    let write = |version: &str, on_failure| {
        let file = world.package("it.wasm", "it", version, &[]);
        let mut package = Package::read(Cursor::new(fs::read(&file).unwrap())).unwrap();
        package.asks.on_failure = Some(on_failure);
        let component = fs::read(host::component("pass")).unwrap();
        fs::write(&file, package.write(&component).unwrap()).unwrap();
    };
    write("1.0.0", FailurePolicy::Refuse);
    let shown = world.do_run(&["add", "it.wasm", "--yes"]);
    assert!(
        shown.contains("  when it breaks: all its messages are refused (on-failure)\n"),
        "{shown}"
    );
    let agreed = world.locked("it").agreed;
    assert_eq!(agreed.on_failure, Some(FailurePolicy::Refuse));
    write("1.1.0", FailurePolicy::Bypass);
    let told = world.do_run(&["update", "--yes"]);
    assert!(
        told.contains("! it wants another `on-failure`: `bypass`, was `refuse`\n"),
        "{told}"
    );
    assert_eq!(world.locked("it").agreed, agreed);
}

#[test]
fn what_fails_or_is_missing_does_not_hold_up_the_others() {
    let world = World::new();
    let component = |name: &str| {
        let digest = world.locked(name).agreed.digest;
        let mut components = world.components().into_iter();
        components.find(|path| path.to_string_lossy().contains(&digest.hex()))
    };
    for name in ["a", "b", "c"] {
        let file = format!("{name}.wasm");
        world.package(&file, name, "1.0.0", &[]);
        world.do_run(&["add", &file, "--yes"]);
    }
    fs::remove_file(component("a").unwrap()).unwrap();
    fs::remove_file(world.path("a.wasm")).unwrap();

    let installed = world.run(&["install"]);
    assert!(!installed.is_success, "{installed:?}");
    assert_eq!(installed.out, "b 1.0.0: is there\nc 1.0.0: is there\n");
    assert!(installed.err.contains("acp-chain: `a`: "), "{installed:?}");
    world.package("b.wasm", "b", "1.1.0", &[]);
    world.do_run(&["update", "b", "--yes"]);
    assert_eq!(world.locked("b").agreed.version.as_deref(), Some("1.1.0"));
    world.do_run(&["remove", "c"]);

    // An update restores missing components, and continues after an unknown name.
    fs::remove_file(component("b").unwrap()).unwrap();
    let updated = world.run(&["update", "x", "b"]);
    assert!(!updated.is_success, "{updated:?}");
    let unknown = "`x` is not installed; `acp-chain list --manifest ";
    assert!(updated.err.contains(unknown), "{updated:?}");
    assert_eq!(
        updated.out,
        "`b` is up to date; its component was missing, and is installed.\n"
    );
    assert!(component("b").is_some());
    world.do_run(&["remove", "a"]);
    world.do_run(&["install"]);
}

#[test]
fn of_a_wrong_size_the_lock_is_blamed() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    let size = world.locked("it").agreed.size;
    let lock = world.path("project/acp-chain.lock");
    let text = fs::read_to_string(&lock).unwrap();
    let wrong = text.replace(&format!("size = {size}\n"), "size = 1\n");
    assert_ne!(wrong, text);
    fs::write(&lock, wrong).unwrap();
    let is_blamed = |args: &[&str]| {
        let told = world.fail(args);
        let expected =
            format!("acp-chain.lock: `it` has the wrong `size`: its component has {size} bytes");
        assert!(told.contains(&expected), "{args:?}: {told}");
    };
    is_blamed(&["check"]);
    is_blamed(&["install"]);
    fs::remove_dir_all(world.path(".local")).unwrap();
    is_blamed(&["install"]);
    assert!(world.components().is_empty());
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
fn an_update_is_of_the_same_extension_by_whatever_name_it_is_installed() {
    let world = World::new();
    world.package("it.wasm", "it", "1.2.0", &[]);
    world.package("newer.wasm", "it", "1.3.0", &[]);
    world.package("other.wasm", "other", "9.0.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    world.do_run(&["add", "it.wasm", "--id", "mine", "--yes"]);
    for (name, called) in [
        ("it", "`it`;"),
        ("mine", "`it`, which is installed as `mine`;"),
    ] {
        let before = world.locked(name);
        let told = world.fail(&["update", name, "--from", "other.wasm", "--yes"]);
        let expected = format!(
            "other.wasm is the extension `other`, and no version of {called} nothing was changed"
        );
        assert!(told.contains(&expected), "{told}\nlacks\n{expected}");
        assert!(
            told.contains(&format!("`acp-chain remove {name} --manifest ")),
            "{told}"
        );
        assert_eq!(world.locked(name), before);
        let told = world.do_run(&["update", name, "--from", "newer.wasm", "--yes"]);
        assert!(told.contains("it is pending"), "{told}");
    }
}

#[test]
fn a_lock_that_leads_to_another_one_is_not_changed() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &[]);
    let other = world.path("other.lock");
    fs::write(&other, "version = 1\n").unwrap();
    std::os::unix::fs::symlink(&other, world.path("project/acp-chain.lock")).unwrap();
    let told = world.fail(&["add", "it.wasm", "--yes"]);
    assert!(told.contains("acp-chain.lock: it is a link"), "{told}");
    assert_eq!(fs::read_to_string(other).unwrap(), "version = 1\n");
}

#[test]
fn a_folder_is_told_with_the_file_in_it_that_is_meant() {
    let world = World::new();
    let folder = world.path("shout");
    let says = |source: &str, expected: &str| {
        let told = world.fail(&["add", source, "--yes"]);
        assert!(
            told.contains("is a folder, and an extension is one file; ") && told.contains(expected),
            "{source}: {told}\nlacks\n{expected}"
        );
    };
    fs::create_dir_all(folder.join("build")).unwrap();
    says("./shout", "there is none in it");
    fs::write(folder.join("acp-chain.toml"), "").unwrap();
    says("./shout", "`acp-chain trust ");
    fs::write(folder.join("a.wasm"), "").unwrap();
    says("./shout", "; there is ");
    fs::write(folder.join("b.wasm"), "").unwrap();
    says("./shout", "/shout/b.wasm");
    // A project of an extension, by its path, by its name, and from within.
    let metadata = "name = \"shout\"\nversion = \"1.0.0\"\n";
    fs::write(folder.join("extension.toml"), metadata).unwrap();
    says("./shout", "`acp-chain build ");
    let told = world.fail(&["add", "./shout/build/shout.wasm", "--yes"]);
    assert!(
        told.contains("/shout/build/shout.wasm is not there yet: `acp-chain build "),
        "{told}"
    );
    fs::write(folder.join("build/shout.wasm"), "").unwrap();
    says("./shout", "/shout/build/shout.wasm");
    says("shout", "that of this project is ./shout/build/shout.wasm");
    let told = world.run_own(&["info", "./shout"]).of_failure(&["info"]);
    assert!(told.contains("./shout/build/shout.wasm"), "{told}");
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_anything_is_fetched_or_asked() {
    let mut world = World::new();
    world.package("it.wasm", "it", "1.2.0", &[]);
    let data = world.path("a file");
    fs::write(&data, "").unwrap();
    world.set("XDG_DATA_HOME", data.display().to_string());
    for (args, what) in [
        (&["add", "./it.wasm"][..], "installed extensions"),
        (&["remove", "it"][..], "installed extensions"),
        (&["update"][..], "installed extensions"),
        (&["install"][..], "installed extensions"),
        (
            &["agent", "add", "mine", "--", "sh"][..],
            "installed agents",
        ),
        (
            &["trust", "--deny", "project"][..],
            "your decisions about projects",
        ),
    ] {
        let told = world.run_own(args).of_failure(args);
        let expected = format!("{what} cannot be written to {}/acp-chain/", data.display());
        let next = "is not a folder; make it writable, or let XDG_DATA_HOME name a folder of yours. Nothing was changed";
        assert!(
            told.contains(&expected) && told.contains(next),
            "{args:?}: {told}\nlacks\n{expected}"
        );
    }
    world.set("XDG_DATA_HOME", world.path("data").display().to_string());
    world.set("XDG_CONFIG_HOME", data.display().to_string());
    let add = ["add", "./it.wasm"];
    let told = world.run_own(&add).of_failure(&add);
    assert!(
        told.contains("your config.toml cannot be written to ")
            && told.contains("let XDG_CONFIG_HOME name"),
        "{told}"
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
    fs::copy(host::component("pass"), world.path("bare.wasm")).unwrap();
    fs::create_dir(world.path("folder.wasm")).unwrap();
    let before = world.manifest_text();
    for (source, expected) in [
        ("no.wasm", "the file is not a WebAssembly component"),
        (
            "module.wasm",
            "the file is a core WebAssembly module, not a component",
        ),
        ("bare.wasm", "its author adds that with `acp-chain package`"),
        (
            "folder.wasm",
            "it is a folder, and an extension is one file; there is none in it",
        ),
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

#[test]
fn a_guard_in_the_lock_of_an_older_program_is_one_that_the_user_agreed_to() {
    let world = World::new();
    let file = world.path("it.wasm");
    fs::write(&file, guard("it", "1.0.0")).unwrap();
    world.do_run(&["add", "it.wasm", "--yes"]);
    let lock = world.path("project/acp-chain.lock");
    let text = fs::read_to_string(&lock).unwrap();
    let older = text.replace("guard = true\n", "");
    assert_ne!(older, text);
    fs::write(&lock, &older).unwrap();
    assert_eq!(world.do_run(&["update"]), "`it` is up to date.\n");
    assert_eq!(fs::read_to_string(&lock).unwrap(), text);
    fs::write(&lock, &older).unwrap();
    fs::write(&file, guard("it", "0.9.0")).unwrap();
    world.do_run(&["update"]);
    assert!(world.locked("it").pending.is_some());
    let listed = world.do_run(&["list"]);
    assert!(
        listed.contains("goes back") && !listed.contains("guard"),
        "{listed}"
    );
    fs::write(&lock, older).unwrap();
    fs::write(&file, guard("it", "1.1.0")).unwrap();
    let told = world.do_run(&["update", "--yes"]);
    assert!(
        !told.contains("guard") && told.contains("`it` is updated"),
        "{told}"
    );
    assert!(world.locked("it").agreed.guard);
}
