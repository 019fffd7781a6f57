//! Projects with a signature that the user trusts.

use std::fs;
use std::path::PathBuf;

use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;

use crate::project::chain::begun;
use crate::project::world::{SHOUT, World};

/// A pair of keys of `minisign`.
struct Keys(PathBuf);

impl Keys {
    fn new(world: &World, name: &str) -> Self {
        let key = world.home().join(name);
        let mut minisign = std::process::Command::new(host::peer("bin/minisign"));
        minisign.args(["-G", "-W", "-s"]).arg(&key);
        minisign.arg("-p").arg(key.with_extension("pub"));
        let said = CommandOutput::from(minisign.output().unwrap());
        assert!(said.is_success, "{said:?}");
        Self(key)
    }

    fn public(&self) -> String {
        let file = fs::read_to_string(self.0.with_extension("pub")).unwrap();
        file.lines().nth(1).unwrap().to_owned()
    }

    /// Signs the project's current content.
    fn sign(&self, world: &World) {
        let statement = world.home().join("statement");
        fs::write(&statement, world.do_run(&["trust", "--statement"])).unwrap();
        let mut minisign = std::process::Command::new(host::peer("bin/minisign"));
        minisign
            .arg("-S")
            .arg("-s")
            .arg(&self.0)
            .arg("-m")
            .arg(statement);
        minisign.arg("-x").arg(world.path("acp-chain.toml.minisig"));
        let said = CommandOutput::from(minisign.output().unwrap());
        assert!(said.is_success, "{said:?}");
    }

    /// The user trusts this key, up to these powers.
    fn trusted(&self, world: &World, powers: &str) {
        let folder = world.home().join(".config/acp-chain");
        fs::create_dir_all(&folder).unwrap();
        let key = self.public();
        let text = format!("[trust]\nsigners = [{{ key = \"{key}\", powers = [{powers}] }}]\n");
        fs::write(folder.join("config.toml"), text).unwrap();
    }
}

const BOTH: &str = "\"prompts.read\", \"prompts.change\"";

#[tokio::test]
async fn what_a_trusted_signer_signed_runs_unasked() {
    let world = World::shouting();
    let keys = Keys::new(&world, "team");
    keys.trusted(&world, BOTH);
    keys.sign(&world);
    let located = world.located_here();
    let key = located["projects"][0]["key"]
        .as_str()
        .unwrap_or_else(|| panic!("{located}"));
    assert!(located.get("notice").is_none(), "{located}");
    let signed = format!("signed by {}, whom your config.toml trusts", keys.public());
    assert!(
        world
            .do_run(&["check"])
            .contains(&format!("trust        {signed}\n"))
    );
    let (chain, answer) = begun(&world, key).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    chain.finish().await.unwrap();
    // The user's own decision takes precedence.
    world.do_run(&["trust", "--deny"]);
    assert!(world.located_here().get("projects").is_none());
}

#[test]
fn a_signature_counts_for_what_was_signed_by_whom_the_user_trusts_and_up_to_its_powers() {
    type Change = fn(&World, &Keys);
    let changes: &[(&str, Change)] = &[
        ("no signature", |_, _| ()),
        ("of somebody else", |world, _| {
            Keys::new(world, "other").sign(world);
        }),
        ("more powers than the signer may give", |world, keys| {
            keys.trusted(world, "\"prompts.read\"");
            keys.sign(world);
        }),
        ("a manifest that was not signed", |world, keys| {
            keys.sign(world);
            world.manifest(&format!("# Ours.\n{SHOUT}"));
        }),
        ("a lock that was not signed", |world, keys| {
            keys.sign(world);
            fs::write(world.path("acp-chain.lock"), "version = 1\n").unwrap();
        }),
        ("a component that was not signed", |world, keys| {
            keys.sign(world);
            fs::copy(host::component("pass"), world.path("tools/shout.wasm")).unwrap();
        }),
        ("a directory", |world, keys| {
            fs::create_dir(world.path("notes")).unwrap();
            let directories = "directories = [{ path = \"notes\", name = \"/n\" }]\n";
            world.manifest(&format!("{SHOUT}{directories}"));
            keys.sign(world);
        }),
        ("nothing that is a signature", |world, _| {
            fs::write(world.path("acp-chain.toml.minisig"), "trust me").unwrap();
        }),
    ];
    for (what, change) in changes {
        let world = World::shouting();
        let keys = Keys::new(&world, "team");
        keys.trusted(&world, BOTH);
        change(&world, &keys);
        let located = world.located_here();
        assert!(located.get("projects").is_none(), "{what}: {located}");
        let notice = located["notice"].as_str().unwrap();
        assert!(
            notice.contains("you have not agreed to them"),
            "{what}: {notice}"
        );
    }
}
