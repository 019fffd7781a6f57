//! Missing tools that the tests need are named before anything is compiled.

use std::path::Path;
use std::process::Command;

use acp_chain_tests::host::program;

#[test]
fn all_that_is_missing_is_named_at_once() {
    let xtask = program().with_file_name("xtask");
    let mut test = Command::new(xtask);
    // Only cargo is available.
    test.arg("test")
        .env("PATH", "/nonexistent")
        .env("CARGO", env!("CARGO"));
    test.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let output = test.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    let (first, rest) = told.split_once('\n').unwrap();
    assert_eq!(first, "Error: the tests need what is not installed here:");
    let named: Vec<_> = rest
        .lines()
        .map(|line| line.trim().split([':', ',', ' ']).next().unwrap())
        .collect();
    assert_eq!(
        named,
        ["Node", "npm", "Python", "pip", "apt-get", "dpkg-deb"]
    );
}
