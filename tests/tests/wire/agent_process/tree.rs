//! No process of the agent is left, whatever ends the connection.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use acp_chain_tests::client::prompt;
use acp_chain_tests::process::gone;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::watched;
use acp_chain_tests::{envelope, host};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::agent_process::{AGENT, client, ended, named, number, words};
/// The end of a connection.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The client closes its side.
    Close,
    /// The program is sent a signal.
    Signal(Signal),
}

/// Starts an agent that lives on after the end of its input and that has a child, ends the connection in this
/// way, and waits for the end of both processes.
async fn leaves_nobody(end: End, stubborn: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (agent_file, child_file) = (folder.path().join("agent"), folder.path().join("child"));
    let mut agent = named(
        &agent_file,
        &["--survive-eof", "--child", child_file.to_str().unwrap()],
    );
    if stubborn {
        // Processes ignore the signals that the shell which started them ignores.
        let ignore = r#"trap "" TERM INT HUP; exec "$0" "$@""#;
        agent.splice(0..0, words(&["sh", "-c", ignore]));
    }
    let manifest = host::passes(folder.path(), 1).unwrap();
    let mut client = client(host::run(Some(&manifest), agent));
    client.initialize().await;
    let transcript = client.wire.transcript().clone();
    let (agent, child) = (number(&agent_file), number(&child_file));
    match end {
        End::Close => {
            let exit = client.finish().await.unwrap();
            assert!(exit.status.success(), "{exit:?}");
        }
        End::Signal(signal) => {
            client.signal(signal).unwrap();
            let status = client.exited().await.unwrap();
            if signal != Signal::KILL {
                assert!(status.success(), "{signal:?}: {status}");
            }
        }
    }
    gone(&transcript, agent).await.unwrap();
    gone(&transcript, child).await.unwrap();
}

#[tokio::test]
async fn the_agent_and_its_children_end_when_the_client_closes_its_side() {
    tokio::join!(
        leaves_nobody(End::Close, false),
        leaves_nobody(End::Close, true)
    );
}

#[tokio::test]
async fn the_agent_and_its_children_end_when_the_program_is_told_to_stop() {
    let told = async |signal| {
        let end = End::Signal(signal);
        tokio::join!(leaves_nobody(end, false), leaves_nobody(end, true));
    };
    tokio::join!(told(Signal::TERM), told(Signal::INT), told(Signal::HUP));
}

#[tokio::test]
async fn the_agent_and_its_children_end_when_the_program_is_killed() {
    let end = End::Signal(Signal::KILL);
    tokio::join!(leaves_nobody(end, false), leaves_nobody(end, true));
}

#[tokio::test]
async fn a_client_that_takes_nothing_any_more_ends_everything() {
    let folder = tempfile::tempdir().unwrap();
    let child = folder.path().join("child");
    let mut command = host::run(None, [AGENT, "--child", child.to_str().unwrap()]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut program = command.spawn().unwrap();
    let mut stdin = program.stdin.take().unwrap();
    let mut stdout = BufReader::new(program.stdout.take().unwrap());
    let say = |id, method, params| envelope::request(id, method, params) + "\n";
    stdin
        .write_all(say("1", "initialize", "{}").as_bytes())
        .await
        .unwrap();
    stdout.read_line(&mut String::new()).await.unwrap();
    drop(stdout);
    let stream = prompt("s", "stream 100000\nnever");
    stdin
        .write_all(say("2", "session/prompt", &stream).as_bytes())
        .await
        .unwrap();
    let transcript = Transcript::new();
    let exit = watched(&transcript, "the program's exit", program.wait());
    exit.await.unwrap();
    gone(&transcript, number(&child)).await.unwrap();
}

#[tokio::test]
async fn a_terminal_that_nobody_types_into_does_not_keep_the_program() {
    let typed = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&typed).unwrap();
    unlockpt(&typed).unwrap();
    let terminal = ptsname(&typed, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let terminal = rustix::fs::open(terminal, flags, Mode::empty()).unwrap();
    let mut command = host::run(None, [AGENT]);
    command
        .stdin(terminal)
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut program = command.spawn().unwrap();
    let mut stdout = program.stdout.take().unwrap();
    let mut typed = fs::File::from(typed);
    for (id, method, params) in [
        ("1", "initialize", "{}"),
        ("2", "session/prompt", &prompt("s", "exit 7")),
    ] {
        writeln!(typed, "{}", envelope::request(id, method, params)).unwrap();
    }
    let mut said = String::new();
    let transcript = Transcript::new();
    let end = watched(
        &transcript,
        "the end of its output",
        stdout.read_to_string(&mut said),
    );
    end.await.unwrap();
    assert!(
        said.ends_with(&(envelope::error("2", &ended("exited with code 7")) + "\n")),
        "{said}"
    );
    let exit = watched(&transcript, "the program's exit", program.wait());
    assert_eq!(exit.await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn an_agent_behind_a_launcher_has_the_time_to_end_what_has_left_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let away = folder.path().join("away");
    // The launcher ends at once when asked to, and the agent when its input ends.
    let agent = r#"setsid sleep 1000 > /dev/null 2>&1 & echo $! > "$0.new"; mv "$0.new" "$0"
        "$@"; kill "$(cat "$0")""#;
    let launcher = format!("exec 3<&0; (\n{agent}\n) <&3 & wait");
    let away_path = away.to_str().unwrap();
    let mut client = client(host::run(None, ["sh", "-c", &launcher, away_path, AGENT]));
    client.initialize().await;
    let transcript = client.wire.transcript().clone();
    client.signal(Signal::TERM).unwrap();
    client.exited().await.unwrap();
    gone(&transcript, number(&away)).await.unwrap();
}
