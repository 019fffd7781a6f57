//! A user signs in: the agent has the terminal, and no chain is in between (RFD auth-methods).

use std::fs;
use std::path::Path;
use std::process::Output;

use acp_chain_tests::host;
use acp_chain_tests::terminal::Terminal;
use tokio::process::Command;

/// Greets whoever it has in front of it.
const AGENT: &str = r#"
[agent]
command = "sh"
args = ["-c", "read name; echo \"$GREETING, $name: $*\"; exit 7", "agent", "--acp"]
env = { GREETING = "welcome" }
"#;

fn with_manifest(folder: &Path, appended: &[&str]) -> Command {
    let manifest = folder.join("acp-chain.toml");
    fs::write(&manifest, AGENT).unwrap();
    let mut command = host::acp_chain("run");
    command.arg("--manifest").arg(manifest).args(appended);
    command
}

/// Runs a command in a terminal in which somebody types this. Gives what it shows then, and the exit
/// code.
async fn typed(mut command: Command, line: &str) -> (String, Option<i32>) {
    let mut terminal = Terminal::open().unwrap();
    terminal.attach(command.as_std_mut()).unwrap();
    let mut running = command.spawn().unwrap();
    drop(command);
    terminal.types(line).unwrap();
    let status = running.wait().await.unwrap();
    (terminal.shown(), status.code())
}

#[tokio::test]
async fn in_a_terminal_the_agent_speaks_to_the_user() {
    let agent = [
        "sh",
        "-c",
        "read name; echo \"welcome, $name: $*\"; exit 7",
        "agent",
        "--setup",
    ];
    let (shown, code) = typed(host::run(None, agent), "Ada\n").await;
    assert_eq!(
        (&*shown, code),
        ("Ada\r\nwelcome, Ada: --setup\r\n", Some(7))
    );
}

#[tokio::test]
async fn what_an_editor_appends_reaches_the_agent_of_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let appended = ["--setup", "--log", "x"];
    let (shown, code) = typed(with_manifest(folder.path(), &appended), "Ada\n").await;
    let expected = "Ada\r\nwelcome, Ada: --acp --setup --log x\r\n";
    assert_eq!((&*shown, code), (expected, Some(7)));
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_named_in_the_terminal() {
    let (shown, code) = typed(host::run(None, ["/no/such/agent", "--setup"]), "").await;
    let expected = "acp-chain: the agent command `/no/such/agent` was not found; give a full path, or add \
         its folder to PATH\r\n";
    assert_eq!((&*shown, code), (expected, Some(127)));
}

#[tokio::test]
async fn without_a_terminal_nothing_is_appended() {
    let folder = tempfile::tempdir().unwrap();
    let output: Output = with_manifest(folder.path(), &["--setup"])
        .output()
        .await
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "error: unexpected argument '--setup' found";
    assert!(stderr.starts_with(expected), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}
