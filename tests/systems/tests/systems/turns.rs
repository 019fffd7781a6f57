//! Turns through components.

use crate::host::Host;
use crate::user::{User, agent};

const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

/// Sends a secret to an agent with these arguments, which sends back what it gets.
fn is_redacted(args: &[&str]) {
    let user = User::new();
    let path = agent();
    let words = [path.to_str().unwrap()].into_iter();
    let mut command = user.run(&["--with", "redact"], words.chain(args.iter().copied()));
    let mut host = Host::start(&user, &mut command);
    host.open(&user.work());
    let said = host.turn(&format!("echo my key is {SECRET}"));
    assert!(host.close().success(), "{}", user.log());
    assert!(
        said.contains("my key is [redacted: aws-access-token]"),
        "{said}"
    );
    assert!(!said.contains(SECRET), "{said}");
}

#[test]
fn a_turn_passes_a_component() {
    is_redacted(&[]);
}

#[test]
fn lines_of_an_agent_may_end_as_in_files_of_windows() {
    is_redacted(&["--crlf"]);
}
