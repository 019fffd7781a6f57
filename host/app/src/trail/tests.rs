use std::os::unix::fs::symlink;

use super::*;

#[test]
fn names_include_links_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(top.join("a/b")).unwrap();
    fs::create_dir(top.join("c")).unwrap();
    fs::write(top.join("a/b/file"), "").unwrap();
    symlink("../a/b", top.join("c/relative")).unwrap();
    symlink(top.join("c/relative/file"), top.join("absolute")).unwrap();
    let found = names(&top.join("a/../absolute"));
    let below: Vec<_> = found
        .iter()
        .filter_map(|name| name.strip_prefix(&top).ok()?.to_str())
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(
        below,
        ["a", "absolute", "c", "c/relative", "a", "a/b", "a/b/file"]
    );
}

#[test]
fn a_link_to_itself_ends() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink(&link, &link).unwrap();
    let found = names(&link.join("file"));
    assert_eq!(found.last().unwrap().file_name().unwrap(), "file");
}

#[test]
fn a_path_that_does_not_exist_has_names() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    let found = names(&top.join("none/such"));
    assert_eq!(found.last().unwrap(), &top.join("none/such"));
}
