//! Signatures of `minisign`, beside files, and lists of revocations.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;

use super::world::{World, digest};

/// A pair of keys, made by `minisign`.
pub struct Keys(PathBuf);

impl Keys {
    pub fn new(world: &World, name: &str) -> Self {
        let key = world.path(&format!("{name}.key"));
        let mut minisign = world.command(&host::peer("bin/minisign"));
        minisign
            .args(["-G", "-W", "-s"])
            .arg(&key)
            .arg("-p")
            .arg(key.with_extension("pub"));
        let said = CommandOutput::from(minisign.output().unwrap());
        assert!(said.is_success, "{said:?}");
        Self(key)
    }

    pub fn secret(&self) -> String {
        self.0.display().to_string()
    }

    pub fn public(&self) -> String {
        let file = fs::read_to_string(self.0.with_extension("pub")).unwrap();
        file.lines().nth(1).unwrap().to_owned()
    }

    /// Signs a file. The signature is beside it.
    pub fn sign(&self, world: &World, file: &Path) {
        let mut minisign = world.command(&host::peer("bin/minisign"));
        let comment = format!("key:{}", self.public());
        minisign
            .arg("-S")
            .arg("-s")
            .arg(&self.0)
            .arg("-m")
            .arg(file)
            .args(["-t", &comment]);
        let said = CommandOutput::from(minisign.output().unwrap());
        assert!(said.is_success, "{said:?}");
    }
}

#[test]
fn the_first_signer_is_kept_and_another_or_none_is_new_trust() {
    let world = World::new();
    let (one, two) = (Keys::new(&world, "one"), Keys::new(&world, "two"));
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    one.sign(&world, &file);
    let wrong = world.fail(&["add", "it.wasm", "--yes", "--signer", &two.public()]);
    assert!(
        wrong.contains(&format!(
            "signed by {}, but must be signed by",
            one.public()
        )),
        "{wrong}"
    );
    let shown = world.do_run(&["add", "it.wasm", "--yes", "--signer", &one.public()]);
    assert!(
        shown.contains(&format!("It is signed by {}\n", one.public())),
        "{shown}"
    );
    let agreed = world.locked("it").agreed;
    assert_eq!(agreed.signer.as_ref().unwrap().to_string(), one.public());

    world.package("it.wasm", "it", "1.1.0", &[]);
    let swapped = world.fail(&["update", "--yes"]);
    assert!(
        swapped.contains("the signature does not match this file"),
        "{swapped}"
    );
    assert_eq!(world.locked("it").agreed, agreed);

    two.sign(&world, &file);
    let other = world.do_run(&["update", "--yes"]);
    let from_to = format!(
        "! it is signed by {}, no longer by {}",
        two.public(),
        one.public()
    );
    assert!(
        other.contains(&from_to) && other.contains("it is pending"),
        "{other}"
    );
    fs::remove_file(world.path("it.wasm.minisig")).unwrap();
    let none = world.do_run(&["update", "--yes"]);
    assert!(
        none.contains("! it is no longer signed, was signed by "),
        "{none}"
    );
    assert_eq!(world.locked("it").agreed, agreed);

    one.sign(&world, &file);
    world.do_run(&["update", "--yes"]);
    assert_eq!(world.locked("it").agreed.digest, digest(&file));
    assert_eq!(world.locked("it").pending, None);
}

#[test]
fn a_user_may_want_signatures_of_everything() {
    let world = World::new();
    let keys = Keys::new(&world, "one");
    fs::create_dir_all(world.path(".config/acp-chain")).unwrap();
    fs::write(
        world.path(".config/acp-chain/config.toml"),
        "require-signature = true\n",
    )
    .unwrap();
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    let told = world.fail(&["add", "it.wasm", "--yes"]);
    assert!(
        told.contains("it has no signature, and your config.toml has `require-signature"),
        "{told}"
    );
    keys.sign(&world, &file);
    world.do_run(&["add", "it.wasm", "--yes"]);
}

#[test]
fn a_lock_is_not_believed_that_names_a_signer() {
    let world = World::new();
    let [one, other] = ["one", "other"].map(|name| Keys::new(&world, name));
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    one.sign(&world, &file);
    world.do_run(&["add", "it.wasm", "--yes"]);
    let lock = world.path("project/acp-chain.lock");
    let text = fs::read_to_string(&lock).unwrap();
    let forged = text.replace(&one.public(), &other.public());
    assert_ne!(forged, text);
    fs::write(&lock, forged).unwrap();
    fs::remove_dir_all(world.path(".local/share/acp-chain/extensions")).unwrap();
    let told = world.fail(&["install"]);
    assert!(told.contains("must be signed by"), "{told}");
    // Nor is a lock without a signer accepted, where a signature is required.
    let lines = text.lines().filter(|line| !line.starts_with("signer"));
    let unsigned: Vec<_> = lines.collect();
    fs::write(&lock, unsigned.join("\n")).unwrap();
    fs::create_dir_all(world.path(".config/acp-chain")).unwrap();
    let config = world.path(".config/acp-chain/config.toml");
    fs::write(config, "require-signature = true\n").unwrap();
    let told = world.fail(&["install"]);
    assert!(told.contains("names no signer"), "{told}");
}

#[test]
fn what_was_revoked_is_not_installed_also_without_the_list_at_hand() {
    let world = World::new();
    let keys = Keys::new(&world, "one");
    let file = world.package("it.wasm", "it", "1.0.0", &[]);
    world.do_run(&["add", "it.wasm", "--yes"]);
    let list = world.path("revoked.json");
    let write = |number: u32, digests: &[String]| {
        let entries = digests.iter().map(|digest| {
            format!(
                r#"{{"digest":"{digest}","by":"Its author","why":"It is bad","when":"2026-11-20"}}"#
            )
        });
        let entries: Vec<_> = entries.collect();
        let text = format!(r#"{{"number":{number},"revoked":[{}]}}"#, entries.join(","));
        fs::write(&list, text).unwrap();
        keys.sign(&world, &list);
    };
    write(2, &[digest(&file).to_string()]);
    fs::create_dir_all(world.path(".config/acp-chain")).unwrap();
    let (source, key) = (list.display(), keys.public());
    let config = format!("[revocations]\nsource = \"{source}\"\nkey = \"{key}\"\n");
    fs::write(world.path(".config/acp-chain/config.toml"), config).unwrap();

    let told = world.fail(&["install"]);
    let why = "`it`: it was revoked by Its author (2026-11-20): It is bad; `acp-chain remove`";
    assert!(told.contains(why), "{told}");
    fs::rename(&list, world.path("away")).unwrap();
    let told = world.fail(&["install", "--offline"]);
    assert!(told.contains(why), "{told}");

    let told = world.fail(&["check"]);
    assert!(told.contains(why), "{told}");
    // Nor does a file with this content start that a manifest names by its path.
    let manifest = world.manifest_text();
    let named = format!("[[proxy]]\nid = \"own\"\npath = \"{}\"\n", file.display());
    fs::write(world.manifest(), named).unwrap();
    let told = world.fail(&["check"]);
    assert!(
        told.contains("`own`: it was revoked by Its author"),
        "{told}"
    );
    fs::write(world.manifest(), manifest).unwrap();
    write(1, &[]);
    let told = world.fail(&["install"]);
    assert!(
        told.contains("has number 1, but number 2 was seen before"),
        "{told}"
    );
    write(3, &[]);
    world.do_run(&["install"]);
}
