//! A remote agent over HTTP and WebSocket: with the npm SDK's server, and with a misbehaving server.

mod broken;
mod nginx;
mod npm;
mod refused;
mod server;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tokio::process::Command;

const INITIALIZE: &str = r#"{"protocolVersion":1,"clientCapabilities":{}}"#;

/// The program of a user without any configuration, and with no HTTP proxy.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(host::program());
    command.args(args).env("NO_PROXY", "*");
    for unset in ["ACP_CHAIN_CONNECT_TOKEN", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(unset);
    }
    command
}

/// A client whose agent is at this URL.
fn connect(url: &str) -> Process {
    start(program(&["connect", url]))
}

fn start(command: Command) -> Process {
    Process::start("client", &Transcript::new(), command).unwrap()
}
