//! The workflows of the forge: they are valid, and the commands in them exist.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_tests::host::{peer, program, xtask};

/// What starts a command of ours, and the program that has its help.
type Commands = (&'static str, fn() -> PathBuf);

const COMMANDS: [Commands; 2] = [("cargo xtask ", xtask), ("release/acp-chain ", program)];

fn workflows() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows");
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_workflow_is_what_the_forge_reads() {
    let output = Command::new(peer("bin/check-jsonschema"))
        .args(["--builtin-schema", "vendor.github-workflows"])
        .args(workflows())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
}

#[test]
fn the_commands_of_a_workflow_exist() {
    let mut count = 0;
    for file in workflows() {
        let text = fs::read_to_string(&file).unwrap();
        for (start, program) in COMMANDS {
            for rest in text.split(start).skip(1) {
                let name = rest.split_whitespace().next().unwrap();
                let output = Command::new(program())
                    .args([name, "--help"])
                    .output()
                    .unwrap();
                let told = String::from_utf8_lossy(&output.stderr);
                let file = file.display();
                assert!(output.status.success(), "{file}: {start}{name}: {told}");
                count += 1;
            }
        }
    }
    assert!(count > 0, "no command was checked");
}
