//! A user signs in: the agent has the terminal, and no chain is in between (RFD auth-methods).

use std::fs;
use std::path::Path;
use std::process::Output;

use acp_chain::chain::sign_in::VARIABLE;
use acp_chain_tests::chain::entry;
use acp_chain_tests::host;
use acp_chain_tests::terminal::Terminal;
use tokio::process::Command;

/// The first line in the terminal.
const TOLD: &str = "acp-chain: this terminal is the agent's, and no proxies run\r\n";

/// Greets the user at the terminal.
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

/// Runs a command in a terminal in which this is typed. Returns what the terminal shows, and the exit code.
async fn typed(mut command: Command, line: &str) -> (String, Option<i32>) {
    let mut terminal = Terminal::open().unwrap();
    terminal.attach(command.as_std_mut()).unwrap();
    let mut running = command.spawn().unwrap();
    drop(command);
    terminal.types(line).unwrap();
    let status = running.wait().await.unwrap();
    (terminal.shown(), status.code())
}

/// Checks what is shown, with the typed text before the first line or after it.
fn is_shown(shown: &str, typed: &str, then: &str) {
    let orders = [[TOLD, typed], [typed, TOLD]].map(|order| order.concat() + then);
    assert!(
        orders.contains(&shown.to_owned()),
        "{shown}\nis not\n{orders:#?}"
    );
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
    is_shown(&shown, "Ada\r\n", "welcome, Ada: --setup\r\n");
    assert_eq!(code, Some(7));
}

#[tokio::test]
async fn what_an_editor_appends_reaches_the_agent_of_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let appended = ["--setup", "--log", "x"];
    let (shown, code) = typed(with_manifest(folder.path(), &appended), "Ada\n").await;
    is_shown(&shown, "Ada\r\n", "welcome, Ada: --acp --setup --log x\r\n");
    assert_eq!(code, Some(7));
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_named_in_the_terminal() {
    let (shown, code) = typed(host::run(None, ["/no/such/agent", "--setup"]), "").await;
    let expected = format!(
        "{TOLD}acp-chain: the agent command `/no/such/agent` was not found; give a full path, or add its folder to \
         PATH\r\n"
    );
    assert_eq!((shown, code), (expected, Some(127)));
}

/// A user who expects the chain never runs without it unnoticed, and one who signs in need not remove it.
#[tokio::test]
async fn proxies_are_left_out_for_signing_in_alone() {
    let folder = tempfile::tempdir().unwrap();
    let command = || {
        let mut command = with_manifest(folder.path(), &["--setup"]);
        let manifest = folder.path().join("acp-chain.toml");
        fs::write(manifest, AGENT.to_owned() + &entry("pass", "pass", "")).unwrap();
        command.env_remove(VARIABLE);
        command
    };
    let (shown, code) = typed(command(), "").await;
    assert_eq!(code, Some(2), "{shown}");
    for part in [
        "without the proxies of your chain",
        "`acp-chain try`",
        VARIABLE,
    ] {
        assert!(shown.contains(part), "{shown}\nlacks {part}");
    }
    let mut signs_in = command();
    signs_in.env(VARIABLE, "1");
    let (shown, code) = typed(signs_in, "Ada\n").await;
    is_shown(&shown, "Ada\r\n", "welcome, Ada: --acp --setup\r\n");
    assert_eq!(code, Some(7));
}

/// An agent on another machine says what editors append to sign in, and must not start a program here.
#[tokio::test]
async fn what_is_appended_for_a_remote_agent_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for appended in [
        &["--", "sh", "-c", "echo ran"][..],
        &["sh", "-c", "echo ran"],
    ] {
        let mut command = with_manifest(folder.path(), appended);
        let manifest = folder.path().join("acp-chain.toml");
        fs::write(manifest, "[agent]\nconnect = 'http://127.0.0.1:9/acp'\n").unwrap();
        command.env(VARIABLE, "1");
        let (shown, code) = typed(command, "").await;
        assert_eq!(code, Some(2), "{shown}");
        assert!(
            shown.contains("a remote agent cannot use this terminal"),
            "{shown}"
        );
    }
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
