//! A full disk, commands that are killed during a write, and a network that is reached through a proxy only.

use std::fs;
use std::process::{Command, Stdio};

use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;

use super::world::{World, digest};
use crate::http_proxy::HttpProxy;

/// Runs a command that may write no file longer than this, in blocks of 512 bytes. A longer write is an error, as on a
/// full disk, or kills the command.
fn run(world: &World, blocks: u32, kills: bool, args: &[&str]) -> bool {
    let ignore = if kills { "" } else { "trap '' XFSZ; " };
    let script = format!("{ignore}ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command: Command = world.command("/bin/dash".as_ref());
    command
        .args(["-c", &script])
        .arg(host::program())
        .args(args);
    command.arg("--manifest").arg(world.manifest());
    CommandOutput::from(command.output().unwrap()).is_success
}

#[test]
fn a_full_disk_or_a_kill_at_any_write_leaves_old_or_new() {
    let world = World::new();
    let old = world.package("it.wasm", "it", "1.0.0", &["prompts.read"]);
    // The extension is compiled before, so that only later writes fail.
    world.do_run(&["add", "it.wasm", "--yes"]);
    world.do_run(&["remove", "it"]);
    world.do_run(&["gc"]);
    let size = u32::try_from(fs::metadata(&old).unwrap().len()).unwrap();
    let before = world.manifest_text();
    for kills in [false, true] {
        // From no byte at all, through the lock and the manifest, to half of the component.
        for blocks in [0, 1, 2, size / 1024] {
            assert!(
                !run(&world, blocks, kills, &["add", "it.wasm", "--yes"]),
                "{blocks}"
            );
            assert_eq!(world.manifest_text(), before, "{blocks}");
            assert!(world.lock().is_empty(), "{blocks}");
            // Each component in the store is whole.
            for component in world.components() {
                let name = component
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                let is_unfinished = name.starts_with(".unfinished-");
                assert!(
                    is_unfinished || name.starts_with(&digest(&component).hex()),
                    "{name}"
                );
            }
        }
    }
    world.do_run(&["add", "it.wasm", "--yes"]);
    assert_eq!(world.components().len(), 1);

    let locked = world.locked("it");
    world.package("it.wasm", "it", "2.0.0", &["prompts.read"]);
    assert!(!run(&world, 1, true, &["update", "--yes"]));
    assert!(!run(&world, 1, false, &["update", "--yes"]));
    assert_eq!(world.locked("it"), locked);
    world.do_run(&["update", "--yes"]);
    world.do_run(&["gc"]);
    assert_eq!(world.components().len(), 1);
}

#[test]
fn what_was_stopped_before_the_manifest_was_changed_is_said_and_finished() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &[]);
    let before = world.manifest_text();
    world.do_run(&["add", "it.wasm", "--yes"]);
    let whole = world.manifest_text();
    fs::write(world.manifest(), before).unwrap();

    let listed = world.do_run(&["list"]);
    assert!(
        listed.contains("! the manifest does not use it: `acp-chain remove it --manifest "),
        "{listed}"
    );
    let strict = world.fail(&["install", "--locked"]);
    assert!(
        strict.contains("names `it`, which its manifest does not use"),
        "{strict}"
    );
    world.do_run(&["add", "it.wasm", "--yes"]);
    assert_eq!(world.manifest_text(), whole);
    let more = format!("{whole}\n[[proxy]]\nuse = \"other\"\n");
    fs::write(world.manifest(), more).unwrap();
    let strict = world.fail(&["install", "--locked"]);
    assert!(
        strict
            .contains("lacks `other`, which its manifest uses; `acp-chain add SOURCE --manifest "),
        "{strict}"
    );
    let installed = world.run(&["install"]);
    assert!(
        installed.is_success
            && installed
                .err
                .contains("lacks `other`, which its manifest uses"),
        "{installed:?}"
    );
}

#[test]
fn a_colleague_is_told_the_command_that_fetches_what_is_locked() {
    let world = World::new();
    world.package("project/it.wasm", "it", "1.0.0", &[]);
    world.do_run(&["add", "project/it.wasm", "--yes"]);
    fs::remove_dir_all(world.path(".local")).unwrap();
    let told = world.fail(&["check"]);
    let command = format!("install --manifest {}", world.manifest().display());
    assert!(
        told.contains(&format!("`acp-chain {command}` fetches it")),
        "{told}"
    );
    let words: Vec<_> = command.split(' ').collect();
    assert!(world.run_own(&words).is_success);
    world.do_run(&["check"]);
}

#[test]
fn a_lost_lock_is_told_and_what_an_entry_had_is_printed_when_it_is_removed() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &[]);
    let added = world.do_run(&["add", "it.wasm", "--yes"]);
    let trust = format!("`acp-chain trust {}`", world.path("project").display());
    assert!(added.contains(&trust), "{added}");
    let lock = world.path("project/acp-chain.lock");
    fs::rename(&lock, world.path("lock")).unwrap();
    let told = world.run(&["install"]).err;
    assert!(
        told.contains("get that file back from your version control, or `acp-chain add SOURCE"),
        "{told}"
    );
    fs::rename(world.path("lock"), &lock).unwrap();
    let entry = "[[proxy]]\nuse = \"it\"\n\n[proxy.config]\nwords = [\"a\"]\n";
    let manifest = world.manifest_text();
    let more = manifest.replace("[[proxy]]\nuse = \"it\"\n", entry);
    assert_ne!(more, manifest);
    fs::write(world.manifest(), more).unwrap();
    let removed = world.do_run(&["remove", "it"]);
    let printed =
        "Its entry was\n  [[proxy]]\n  use = \"it\"\n\n  [proxy.config]\n  words = [\"a\"]\n";
    assert!(removed.ends_with(printed), "{removed}");
}

#[test]
fn of_two_who_add_at_once_one_is_told() {
    let world = World::new();
    world.package("it.wasm", "it", "1.0.0", &[]);
    let add = || {
        let mut command = world.command(&world.program);
        command
            .args(["add", "it.wasm", "--yes", "--manifest"])
            .arg(world.manifest());
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both: Vec<_> = [add(), add()]
        .into_iter()
        .map(|add| add.wait_with_output().unwrap())
        .collect();
    let (done, told): (Vec<_>, Vec<_>) = both
        .into_iter()
        .map(CommandOutput::from)
        .partition(|said| said.is_success);
    assert_eq!(done.len(), 1, "{done:?} {told:?}");
    assert!(
        told[0].err.contains("`it` is installed already"),
        "{told:?}"
    );
    assert_eq!(world.manifest_text().matches("[[proxy]]").count(), 1);
    assert_eq!(world.lock().extensions().count(), 1);
}

#[test]
fn a_source_on_the_web_is_reached_through_the_proxy_that_the_environment_names() {
    let mut world = World::new();
    let proxy = HttpProxy::start();
    world.set("HTTPS_PROXY", proxy.url());
    let source = format!(
        "https://extensions.example/it.wasm#sha256={}",
        "0".repeat(64)
    );
    let told = world.fail(&["add", &source, "--yes"]);
    assert!(
        told.contains("https://extensions.example/it.wasm"),
        "{told}"
    );
    assert_eq!(proxy.asked(), "CONNECT extensions.example:443 HTTP/1.1\r\n");
}

#[test]
fn a_config_that_is_broken_fails_the_list_of_extensions() {
    let world = World::new();
    let config = world.path(".config/acp-chain/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "live = 7\n").unwrap();
    let error = world.run_own(&["list"]).of_failure(&["list"]);
    assert!(error.contains("config.toml:1:"), "{error}");
}
