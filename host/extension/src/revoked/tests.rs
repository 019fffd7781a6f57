//! Lists that `minisign` 0.11 signed.

use super::*;
use crate::Store;
use acp_chain_disk::fault;

const KEY: &str = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl";

const REVOKED: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const THREE: &str = r#"{"number":3,"revoked":[{"digest":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","by":"Its authors","why":"It sends prompts\u001b away","when":"2026-11-20"}]}"#;

const THREE_SIGNED: &str = "untrusted comment: signature from minisign secret key
RURUwsTAnYnA+fmfrogyo0KzPp7lgQ/kvTS95wYk2o7DnVmV/1zLPCmcn+oLcIZA/3mqmnPwS+xEIQc/yjoTntlCk+nGScjUtAA=
trusted comment: l
EKeJEYLCXDUo99YxAKoq6TFzvNRkzD4SsLAs/Fhjpk573nYklWSXvc8BMjH74YOudmzP5047Y0RbTco+eYgdAA==
";

const TWO: &str = r#"{"number":2,"revoked":[]}"#;

const TWO_SIGNED: &str = "untrusted comment: signature from minisign secret key
RURUwsTAnYnA+c5zioNr/+h7jGmBJyS3qkuGIy7IC3YJjJ7bqtGyaqTEhka0i2eNOhSUzXbDRL9JFHxlQRhpyE8RIP5g9wG2SwI=
trusted comment: l
aSjkawEzMsDxkEpuxxsEgUOp8qEga06PleGbbw4P4bHf3p2ExUOeDzUSoAk2yY87gxzUlW6fHwWoj/8Pb1InCg==
";

/// Signed, but malformed.
const FOUR: &str = r#"{"number":4,"what":[]}"#;

const FOUR_SIGNED: &str = "untrusted comment: signature from minisign secret key
RURUwsTAnYnA+YSXM8rkCUAjdTt5Drd0EPVBBOCzl6PopWy9F6uKUCN67PyewlKsjjGkhvnwp1tToODscm42Jsp/Z1qhjy+wGws=
trusted comment: l
HcUFn10k+WmmjoCnhCRorUjAf/HeasPu698ptlo7lAE4gULe8QI9bpToJRcoUz74bkjlX5Fyi6Usn61pyIOpDg==
";

fn key() -> Signer {
    KEY.parse().unwrap()
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    (folder, store)
}

/// Replaces the list of a store.
fn show(store: &Store, text: &str, signature: &str) -> Result<Revoked, String> {
    let changing = store.change().map_err(|error| error.to_string())?;
    let kept = Revoked::read(store.folder(), &key()).map_err(|error| error.to_string())?;
    let replaced = kept.replace(text, signature, &key(), &changing);
    replaced.map_err(|error| error.to_string())
}

#[test]
fn a_revoked_extension_is_an_error_with_author_and_reason_even_offline() {
    let (_folder, store) = store();
    show(&store, THREE, THREE_SIGNED).unwrap();
    let kept = Revoked::read(store.folder(), &key()).unwrap();
    let told = kept
        .check(&REVOKED.parse().unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        told.starts_with(
            "it was revoked by Its authors (2026-11-20): It sends prompts\\u{1b} away; `acp-chain remove`"
        ),
        "{told}"
    );
    kept.check(&Digest::of(b"anything else")).unwrap();
}

#[test]
fn a_file_is_known_by_its_content() {
    let (folder, store) = store();
    show(&store, THREE, THREE_SIGNED).unwrap();
    let kept = Revoked::read(store.folder(), &key()).unwrap();
    let path = folder.path().join("it.wasm");
    kept.check_file(&path).unwrap();
    for (content, is_revoked) in [("abc", true), ("abcd", false)] {
        fs::write(&path, content).unwrap();
        assert_eq!(kept.check_file(&path).is_err(), is_revoked, "{content}");
    }
}

#[test]
fn without_a_list_nothing_is_revoked() {
    let (_folder, store) = store();
    let none = Revoked::read(store.folder(), &key()).unwrap();
    none.check(&REVOKED.parse().unwrap()).unwrap();
}

#[test]
fn an_older_list_is_rejected_and_the_newer_one_stays() {
    let (_folder, store) = store();
    show(&store, TWO, TWO_SIGNED).unwrap();
    show(&store, THREE, THREE_SIGNED).unwrap();
    let told = show(&store, TWO, TWO_SIGNED).unwrap_err();
    assert!(
        told.contains("has number 2, but number 3 was seen before"),
        "{told}"
    );
    let kept = Revoked::read(store.folder(), &key()).unwrap();
    assert!(kept.check(&REVOKED.parse().unwrap()).is_err());
}

#[test]
fn an_unsigned_or_malformed_list_is_rejected() {
    let (_folder, store) = store();
    let changed = show(&store, &THREE.replace("sends", "keeps"), THREE_SIGNED).unwrap_err();
    assert!(
        changed.contains("the signature does not match this"),
        "{changed}"
    );
    let malformed = show(&store, FOUR, FOUR_SIGNED).unwrap_err();
    assert!(
        malformed.contains("the list of revocations is malformed"),
        "{malformed}"
    );
    let none = Revoked::read(store.folder(), &key()).unwrap();
    assert_eq!(none, Revoked::default());
}

#[test]
fn a_list_that_was_changed_on_disk_is_rejected() {
    let (_folder, store) = store();
    // Text after a signature is not stored.
    show(&store, THREE, &format!("{THREE_SIGNED}{BETWEEN}more")).unwrap();
    let path = store.folder().join(KEPT);
    let text = fs::read_to_string(&path).unwrap();
    for damaged in [
        text.replace("Its", "The"),
        text[..40].to_owned(),
        String::new(),
    ] {
        fs::write(&path, damaged).unwrap();
        let told = Revoked::read(store.folder(), &key())
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("cannot be used") && told.contains("acp-chain install"),
            "{told}"
        );
    }
}

#[test]
fn a_kill_or_a_full_disk_at_any_step_leaves_the_old_list_or_the_new_one() {
    fault::at_each_step(
        || {
            let (folder, store) = store();
            show(&store, TWO, TWO_SIGNED).unwrap();
            (folder, store)
        },
        |(_, store)| drop(show(store, THREE, THREE_SIGNED)),
        |(_, store), fault| {
            let kept = Revoked::read(store.folder(), &key()).expect(fault);
            assert!([2, 3].contains(&kept.list.number), "{fault}");
            show(store, THREE, THREE_SIGNED).expect(fault);
        },
    );
}
