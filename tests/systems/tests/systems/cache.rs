//! Compiled code from an earlier start.

use std::fs;

use crate::user::{User, component, succeeds};

/// A component that nobody has compiled yet: with a section of its own, which means nothing.
fn unknown(user: &User) -> std::path::PathBuf {
    let mut bytes = fs::read(component("todo")).unwrap();
    let content = user.path("").to_string_lossy().into_owned();
    let section = [&[4], &b"test"[..], content.as_bytes()].concat();
    // Lengths of fewer than 128 bytes are one byte.
    let length = u8::try_from(section.len()).ok().filter(|it| *it < 128);
    bytes.extend([0, length.expect("a short path")]);
    bytes.extend(section);
    user.write("unknown.wasm", bytes)
}

#[test]
fn a_second_start_compiles_nothing() {
    let user = User::new();
    let path = unknown(&user);
    let text = format!(
        "[[proxy]]\nid = \"it\"\npath = '{}'\npowers = [\"tools\", \"plans.show\"]\n",
        path.display()
    );
    let manifest = user.write("chain.toml", text);
    let logged_by_check = || {
        let mut check = user.command("check");
        succeeds(check.arg("--start").arg("--manifest").arg(&manifest));
        let log = user.log();
        fs::remove_file(user.path("log")).unwrap();
        log
    };
    let [first, second] = [(); 2].map(|()| logged_by_check());
    assert!(first.contains("has no code of this component"), "{first}");
    for line in ["has no code of this component", "cannot be", "removed"] {
        assert!(!second.contains(line), "{second}");
    }
    assert!(!first.contains("cannot be"), "{first}");
}
