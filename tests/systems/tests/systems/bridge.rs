//! Tools of a component, for an agent whose MCP client starts a server.

use std::io::{self, Read, Write};

use serde_json::Value;

use crate::host::Host;
use crate::user::{User, agent};
use crate::witness::within;

fn chain(user: &User) -> Host {
    let mut host = Host::start(user, &mut user.run(&["--with", "todo"], [agent()]));
    host.open(&user.work());
    host
}

#[test]
fn an_agent_calls_a_tool_of_a_component() {
    let user = User::new();
    let mut host = chain(&user);
    let result = host.turn(r#"call add {"tasks": [{"text": "buy milk"}]}"#);
    assert!(result.contains("buy milk"), "{result}: {host}");
    let listed = host.turn("call list {}");
    assert!(listed.contains("buy milk"), "{listed}: {host}");
    assert!(host.close().success(), "{}", user.log());
}

/// Connects to the socket or the pipe of the bridge.
#[cfg(unix)]
fn connect(path: &str) -> io::Result<std::os::unix::net::UnixStream> {
    std::os::unix::net::UnixStream::connect(path)
}

/// Connects to the socket or the pipe of the bridge.
#[cfg(windows)]
fn connect(path: &str) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
}

#[test]
fn who_does_not_know_the_secret_of_the_bridge_gets_nothing() {
    let user = User::new();
    let mut host = chain(&user);
    let servers: Value = serde_json::from_str(&host.turn("servers")).unwrap();
    let variables = servers[0]["env"].as_array().unwrap().iter();
    let mut named = variables.filter(|it| it["name"] == "ACP_CHAIN_MCP_SOCKET");
    let path = named.next().unwrap()["value"].as_str().unwrap().to_owned();
    if cfg!(windows) {
        assert!(path.starts_with(r"\\.\pipe\acp-chain-"), "{path}");
    }
    let received = within("the answer of the bridge", move || {
        let mut stream = connect(&path).unwrap();
        stream.write_all(b"a guess\n").unwrap();
        let mut received = Vec::new();
        // On Windows, the end of a pipe is an error.
        let _ = stream.read_to_end(&mut received);
        String::from_utf8(received).unwrap()
    });
    assert!(!received.contains("welcome"), "{received}");
    // Others are served as before.
    let listed = host.turn("call list {}");
    assert!(listed.contains("tasks"), "{listed}: {host}");
}
