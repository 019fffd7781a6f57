//! The agent's process and all processes that it started end with the connection, whatever ends that; and
//! when the agent ends on its own, no request stays open.

mod agent_ends;
mod client_ends;
mod terminal;
mod tree;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

fn client(command: Command) -> Process {
    Process::start("client", &Transcript::new(), command).unwrap()
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// A wild agent that writes its process id to a file before it begins.
fn named(file: &Path, flags: &[&str]) -> Vec<OsString> {
    let mut agent = words(&["sh", "-c", r#"echo $$ > "$0"; exec "$@""#]);
    agent.push(file.into());
    agent.extend(words(&[AGENT]));
    agent.extend(words(flags));
    agent
}

/// The error of every open request after the agent has ended in this way.
fn ended(how: &str) -> String {
    format!(r#"{{"code":-32603,"message":"acp-chain: the agent {how}"}}"#)
}

/// The number in a file.
fn number(file: &Path) -> u32 {
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn a_missing_agent_is_named_to_the_client_and_in_the_log_and_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (log, agent) = (folder.path().join("log"), folder.path().join("agent"));
    let start = || {
        client(host::run_with(
            ["--log-file".as_ref(), log.as_os_str()],
            [&agent],
        ))
    };
    let message = format!(
        "acp-chain: the agent command `{}` was not found; give a full path, or add its folder to PATH",
        agent.display()
    );
    let error = format!(r#"{{"code":-32603,"message":"{message}"}}"#);

    let mut program = start();
    let answer = program.wire.request("initialize", "{}").await;
    assert_eq!(answer.error, Some(error.clone()));
    let exit = program.finish().await.unwrap();
    assert_eq!((exit.status.code(), &*exit.stderr), (Some(127), ""));
    let logged = fs::read_to_string(&log).unwrap();
    assert!(
        logged.contains("ERROR") && logged.contains("was not found"),
        "{logged}"
    );

    let mut program = start();
    let answer = program.wire.request("initialize", "{}").await;
    assert_eq!(answer.error, Some(error));
    symlink(AGENT, &agent).unwrap();
    program.initialize().await;
    program.turn("echo here at last").await;
    assert_eq!(program.chunks(), ["here at last"]);
    let exit = program.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
}

#[tokio::test]
async fn an_agent_that_cannot_be_run_is_named_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent");
    fs::write(&file, "no program").unwrap();
    let not_for_running = file.clone();
    let bare = folder.path().join("bare");
    host::executable(&bare, "no program").unwrap();
    for agent in [not_for_running.as_path(), folder.path(), &bare] {
        let mut client = client(host::run(None, [agent]));
        let answer = client.wire.request("initialize", "{}").await;
        let start = format!(
            "acp-chain: the agent command `{}` cannot be run: ",
            agent.display()
        );
        let error = answer.error.unwrap();
        assert!(error.contains(&start), "{error}");
        let exit = client.finish().await.unwrap();
        assert_eq!((exit.status.code(), &*exit.stderr), (Some(126), ""));
    }
}

#[tokio::test]
async fn nothing_comes_out_on_standard_error_unless_a_log_is_asked_for() {
    let talk = async |options: &[&str]| {
        let agent = [AGENT, "--stderr", "1000", "--garbage"];
        let mut client = client(host::run_with(options, agent));
        let no = |message: &Message| message.error(r#"{"code":1,"message":"no"}"#);
        client.wire = client.wire.answering(no);
        client.initialize().await;
        client.wire.send("no message");
        client.turn("stderr 1000\nunknown\nread /x\ngarbage").await;
        client.finish().await.unwrap().stderr
    };
    assert_eq!(talk(&[]).await, "");
    let logged = talk(&["--log", "info"]).await;
    assert!(
        logged.contains("INFO") && logged.contains("the agent `"),
        "{logged}"
    );
    assert!(logged.contains("a line of the agent is lost"), "{logged}");
    assert!(
        !logged.contains("something that nobody asked for"),
        "{logged}"
    );
    let logged = talk(&["--log", "debug"]).await;
    assert!(
        logged.contains("something that nobody asked for"),
        "{logged}"
    );
}
