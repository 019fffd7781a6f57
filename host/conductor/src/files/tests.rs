use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

/// A repository with a package, beside a file that is none of it.
fn world() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let package = top.join("repository/package");
    fs::create_dir_all(&package).unwrap();
    fs::create_dir(top.join("repository/.git")).unwrap();
    fs::write(top.join("secret"), "theirs").unwrap();
    fs::write(top.join("repository/AGENTS.md"), "ours").unwrap();
    (folder, package)
}

fn is_within(folder: Option<&Path>, file: &Path) -> bool {
    place(folder, file) == FilePlace::Within
}

#[test]
fn a_link_that_stays_in_the_project_is_followed_and_one_that_leaves_it_is_not() {
    let (_folder, package) = world();
    let file = package.join("AGENTS.md");
    for (target, stays) in [
        ("../AGENTS.md", true),
        ("../../secret", false),
        ("/etc/hosts", false),
    ] {
        symlink(target, &file).unwrap();
        for folder in [Some(&*package), None] {
            assert_eq!(is_within(folder, &file), stays, "{target}");
        }
        fs::remove_file(&file).unwrap();
    }
    // A folder on the way counts as well.
    symlink("../..", package.join("docs")).unwrap();
    let secret = package.join("docs/secret");
    let real = secret.canonicalize().unwrap();
    assert_eq!(place(Some(&package), &secret), FilePlace::Outside(real));
    assert!(is_within(Some(&package), &package.join("missing")));
    assert!(is_within(Some(&package), &package.join("../AGENTS.md")));
    let relative = Path::new("docs/secret");
    assert!(!is_within(Some(&package), relative));
    assert!(is_within(Some(&package), Path::new("../AGENTS.md")));
}

#[test]
fn outside_of_a_repository_the_folder_of_the_session_is_the_project() {
    let (_folder, package) = world();
    let top = package.ancestors().nth(2).unwrap();
    let docs = top.join("plain/docs");
    fs::create_dir_all(&docs).unwrap();
    fs::write(top.join("plain/RULES.md"), "ours").unwrap();
    symlink("../RULES.md", docs.join("RULES.md")).unwrap();
    assert!(is_within(Some(&top.join("plain")), &docs.join("RULES.md")));
    assert!(!is_within(Some(&docs), &docs.join("RULES.md")));
    // A session may be in a folder to which a link leads.
    let linked = package.join("linked");
    symlink(top.join("plain"), &linked).unwrap();
    assert!(is_within(Some(&linked), &linked.join("RULES.md")));
    assert!(!is_within(Some(&package), &linked.join("RULES.md")));
}
