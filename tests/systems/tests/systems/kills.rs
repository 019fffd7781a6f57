//! What is left of an agent, and of what it started: nothing, however the host ends.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::host::Host;
use crate::user::{User, agent, bare, component};
use crate::witness::{Witness, Witnessed, within};

/// A chain whose agent has started a child.
fn chain(user: &User) -> (Host, Witnessed) {
    let witness = Witness::new();
    let address = witness.address();
    let path = agent();
    let words = [path.to_str().unwrap(), "--child", &address];
    let mut host = Host::start(user, &mut user.run(&["--with", "redact"], words));
    host.open(&user.work());
    (host, witness.child())
}

#[test]
fn a_host_that_is_killed_leaves_no_process() {
    let user = User::new();
    let (host, child) = chain(&user);
    host.kill();
    child.ends();
}

#[test]
fn a_client_that_disconnects_leaves_no_process() {
    let user = User::new();
    let (host, child) = chain(&user);
    assert!(host.close().success(), "{}", user.log());
    child.ends();
}

#[test]
fn an_agent_that_exits_leaves_no_process_and_fails_its_turn() {
    let user = User::new();
    let (mut host, child) = chain(&user);
    let error = host.prompt("exit").unwrap_err().to_string();
    assert!(error.contains("exited with code 3"), "{error}");
    child.ends();
}

#[test]
fn compiling_ends_with_the_process_that_waits_for_the_code() {
    let component = fs::read(component("redact")).unwrap();
    let mut compile = Command::new(bare());
    compile
        .arg("compile")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut compiling = compile.spawn().unwrap();
    let mut input = compiling.stdin.take().unwrap();
    let length = u64::try_from(component.len()).unwrap();
    input.write_all(&length.to_le_bytes()).unwrap();
    input.write_all(&component).unwrap();
    // As the end of that process does.
    drop(input);
    let output = within("the end of compiling", move || {
        compiling.wait_with_output().unwrap()
    });
    assert!(
        !output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
}
