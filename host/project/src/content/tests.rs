use std::fs;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn the_folders_of_components_are_beneath_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let root = top.join("root");
    let deep = "d/".repeat(DEEPEST);
    for name in ["a/b", "built", "other", &deep] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("built/it.wasm"), "").unwrap();
    symlink("../built/it.wasm", root.join("a/it.wasm")).unwrap();
    symlink(&top, root.join("out")).unwrap();
    let paths = [
        "here.wasm",
        "./a/b/c/it.wasm",
        "a/it.wasm",
        "out/it.wasm",
        &format!("{deep}it.wasm"),
    ];
    let mut text = String::new();
    for (id, path) in paths.iter().enumerate() {
        let _ = writeln!(text, "[[proxy]]\nid = \"{id}\"\npath = \"{path}\"");
    }
    fs::write(root.join(MANIFEST), text).unwrap();
    let expected = ["a", "a/b", "built"].map(|name| root.join(name));
    assert_eq!(folders(&root), expected.into());
}
